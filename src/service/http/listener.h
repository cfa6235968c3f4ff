// Addresses to listen on, and the sockets that do.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern::service::http {

struct ListenAddress {
  std::string host;  // an address of IPv4 or IPv6 (without brackets); empty when it is a socket file
  int port = 0;
  std::string path;  // of a unix socket

  bool loopback() const;  // only this machine reaches it
};

// "127.0.0.1:8080", "[::1]:8080", "localhost:8080", "0.0.0.0:0", "unix:/run/lectern.sock".
// Errors (invalid_input) show how it is written.
Result<ListenAddress> parse_listen_address(std::string_view text);
// The same back: "127.0.0.1:8080", "[::1]:8080", "unix:/run/lectern.sock".
std::string to_string(const ListenAddress& address);

struct Listening {
  UniqueFd fd;            // non-blocking
  ListenAddress address;  // with the port that was chosen
  dev_t device = 0;       // of a socket file: which one is ours
  ino_t inode = 0;
};
// A socket file that nobody listens on any more is replaced. Errors: unavailable (taken, not allowed).
Result<Listening> listen_on(ListenAddress address);
// Removes the socket file, where it still is ours, and then closes: from the first on, a program that takes our place
// can listen there. Twice is fine.
void stop_listening(Listening& listening);

// Who is at the other end of a socket: "10.1.2.3", "::1", "unix".
struct Peer {
  std::string name;
  bool local = false;
};
Peer peer_of(int fd);

}  // namespace lectern::service::http
