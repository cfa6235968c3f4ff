// A port of 127.0.0.1 that nobody listens on now: for servers that must come back on the same one.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstdint>

namespace lectern::test {

inline std::uint16_t free_port() {
  boost::asio::io_context loop;
  const boost::asio::ip::tcp::acceptor acceptor(loop, {boost::asio::ip::address_v4::loopback(), 0});
  return acceptor.local_endpoint().port();
}

}  // namespace lectern::test
