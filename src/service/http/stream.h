// One connection as bytes: TCP, a unix socket, or TLS over TCP. All calls from the loop's thread; one read and one
// write at a time.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace boost::asio::ssl {
class context;
}

namespace lectern::service::http {

using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol>;

class Stream {
 public:
  virtual ~Stream() = default;
  // False: it failed, nothing can be said to the other side.
  virtual boost::asio::awaitable<bool> handshake() = 0;
  // 0 = the other side has ended, the connection broke, or cancel() was called.
  virtual boost::asio::awaitable<std::size_t> read_some(std::span<char> into) = 0;
  // All of both, which must stay where they are until it returns. False: the connection broke or was closed.
  virtual boost::asio::awaitable<bool> write(std::string_view first, std::string_view second) = 0;
  // True when the other side has closed, whatever it sent before; false when cancel() was called, or the system has no
  // descriptor left to watch it with.
  virtual boost::asio::awaitable<bool> left() = 0;
  // No more from us; what the other side still sends can be read.
  virtual boost::asio::awaitable<void> end() = 0;
  virtual void cancel() = 0;  // a pending read or left() returns
  virtual void close() = 0;   // everything pending returns
};

std::unique_ptr<Stream> plain_stream(Socket socket);
std::unique_ptr<Stream> tls_stream(Socket socket, boost::asio::ssl::context& context);

// The files are PEM. Errors (invalid_input) name the file.
Result<std::shared_ptr<boost::asio::ssl::context>> tls_context(const std::string& certificate, const std::string& key);

}  // namespace lectern::service::http
