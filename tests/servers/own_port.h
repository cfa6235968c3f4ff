// A port of 127.0.0.1 that is ours as long as this lives: for servers that come back on the same one, or that shall not
// be there. Nobody is given it meanwhile; who asks for it with SO_REUSEADDR, as servers do, can listen on it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <stdexcept>

#include "base/unique_fd.h"

namespace lectern::test {

class OwnPort {
 public:
  OwnPort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* plain = reinterpret_cast<sockaddr*>(&address);
    const int on = 1;  // after bind(): a port that somebody else has reserved is not for us
    if (::bind(socket_.get(), plain, size) != 0 || ::getsockname(socket_.get(), plain, &size) != 0 ||
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0) {
      throw std::runtime_error("no free port");
    }
    number_ = ntohs(address.sin_port);
  }
  std::uint16_t number() const { return number_; }

 private:
  UniqueFd socket_;
  std::uint16_t number_ = 0;
};

}  // namespace lectern::test
