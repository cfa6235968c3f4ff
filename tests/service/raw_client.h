// A client that sends exactly the bytes it is told to, good HTTP or not, and reads what comes back. Blocking; every
// wait fails after a while instead of hanging the tests.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace lectern::service {

struct RawResponse {
  int status = 0;
  std::map<std::string, std::string> fields;  // names in lower case
  std::string body;                           // without chunk framing
};

class RawClient {
 public:
  // "http://127.0.0.1:8080" or "unix:/path".
  explicit RawClient(const std::string& address);

  void send(std::string_view bytes) const;  // throws when the other side is gone
  // Sends as much as is taken without waiting; returns how much that was.
  std::size_t send_some(std::string_view bytes) const;
  void end() const;       // no more from us
  RawResponse receive();  // one whole response; status 0 = the connection was closed instead
  // The same for the answer to HEAD, which has no body whatever its fields say.
  RawResponse receive_head();
  std::string receive_some();  // whatever comes next; empty = closed
  int fd() const { return fd_.get(); }
  bool closed_by_server();  // reads until the end; false if it does not come

  // One request on it, and its response.
  RawResponse ask(std::string_view method, std::string_view target, std::string_view fields = "",
                  std::string_view body = "");

 private:
  bool fill();
  std::string take(std::size_t bytes);
  std::string take_line();
  RawResponse read_head();

  UniqueFd fd_;
  std::string in_;
};

}  // namespace lectern::service
