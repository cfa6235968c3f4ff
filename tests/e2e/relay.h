// Stands between the program and an engine, as a TLS terminator or a proxy would, and passes bytes on both ways.
#pragma once

#include <atomic>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "self_signed.h"

namespace lectern::e2e {

struct RelayOptions {
  int to = 0;  // port on this machine
  // Speaks TLS to whoever comes, plainly to `to`; null = plain on both sides. Must outlive the relay.
  const testing_tls::SelfSigned* certificate = nullptr;
};

// CONNECT is answered as a proxy does; whatever host it names, the way leads to `to`.
class Relay {
 public:
  explicit Relay(RelayOptions options);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  int port() const { return port_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }  // from which something came
  int tunnels() const { return tunnels_; }          // of those, opened by CONNECT

 private:
  void accept_all();
  void pass_on(int client);

  const RelayOptions options_;
  const testing_tls::Context context_;
  const UniqueFd listener_;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::atomic<int> tunnels_ = 0;
  std::mutex mutex_;
  std::list<UniqueFd> clients_;         // guarded by mutex_
  std::list<std::jthread> passers_on_;  // of the acceptor alone, until it has ended
  std::jthread acceptor_;
};

}  // namespace lectern::e2e
