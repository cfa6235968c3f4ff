// A listening socket that can stop listening, as a dead server does, and later listen again at the same address.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern::sim {

class Listener {
 public:
  // "127.0.0.1:8000" (port 0 = a free one) or the path of a unix socket ("unix:/path" or anything with a slash).
  static Result<Listener> open(std::string_view address);
  Listener(Listener&&) = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  Status start();
  void stop();
  bool is_listening() const { return static_cast<bool>(fd_); }
  int fd() const { return fd_.get(); }
  // The next connection, not blocking; empty when there is none.
  UniqueFd accept();
  // For people and clients: "http://127.0.0.1:8000" or "unix:/path".
  std::string url() const;

 private:
  Listener() = default;
  std::string path_;  // unix socket; else host_ and port_
  std::string host_;
  int port_ = 0;
  UniqueFd reserved_;  // bound and never listening: keeps the port ours while we are dead
  UniqueFd fd_;
};

}  // namespace lectern::sim
