#include "service/http/stream.h"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <sys/socket.h>

#include <array>

namespace lectern::service::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

using Buffers = std::array<asio::const_buffer, 2>;

Buffers both(std::string_view first, std::string_view second) {
  return {asio::const_buffer(first.data(), first.size()), asio::const_buffer(second.data(), second.size())};
}

asio::awaitable<bool> other_side_left(Socket* socket) {
  error_code error;
  co_await socket->async_wait(Socket::wait_read, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return false;
  char byte = 0;
  const ssize_t count = ::recv(socket->native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  co_return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

class PlainStream final : public Stream {
 public:
  explicit PlainStream(Socket socket) : socket_(std::move(socket)) {}

  asio::awaitable<bool> handshake() override { co_return true; }
  asio::awaitable<std::size_t> read_some(std::span<char> into) override {
    error_code error;
    const std::size_t count = co_await socket_.async_read_some(asio::buffer(into.data(), into.size()),
                                                               asio::redirect_error(asio::use_awaitable, error));
    co_return error ? 0 : count;
  }
  asio::awaitable<bool> write(std::string_view first, std::string_view second) override {
    error_code error;
    co_await asio::async_write(socket_, both(first, second), asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  asio::awaitable<bool> left() override { return other_side_left(&socket_); }
  asio::awaitable<void> end() override {
    error_code ignored;  // it may be broken already
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }
  void cancel() override {
    error_code ignored;
    socket_.cancel(ignored);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
};

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  asio::awaitable<bool> handshake() override {
    error_code error;
    co_await stream_.async_handshake(asio::ssl::stream_base::server, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  asio::awaitable<std::size_t> read_some(std::span<char> into) override {
    error_code error;
    const std::size_t count = co_await stream_.async_read_some(asio::buffer(into.data(), into.size()),
                                                               asio::redirect_error(asio::use_awaitable, error));
    co_return error ? 0 : count;
  }
  asio::awaitable<bool> write(std::string_view first, std::string_view second) override {
    error_code error;
    co_await asio::async_write(stream_, both(first, second), asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  asio::awaitable<bool> left() override { return other_side_left(&stream_.next_layer()); }
  asio::awaitable<void> end() override {
    error_code ignored;  // clients that close without a word are common
    co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
  }
  void cancel() override {
    error_code ignored;
    stream_.next_layer().cancel(ignored);
  }
  void close() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  asio::ssl::stream<Socket> stream_;
};

}  // namespace

std::unique_ptr<Stream> plain_stream(Socket socket) {
  return std::make_unique<PlainStream>(std::move(socket));
}

std::unique_ptr<Stream> tls_stream(Socket socket, asio::ssl::context& context) {
  return std::make_unique<TlsStream>(std::move(socket), context);
}

Result<std::shared_ptr<asio::ssl::context>> tls_context(const std::string& certificate, const std::string& key) {
  auto context = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  error_code error;
  context->set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1, error);
  if (!error) context->use_certificate_chain_file(certificate, error);
  if (error)
    return fail(ErrorKind::invalid_input, "cannot use the TLS certificate {}: {}", certificate, error.message());
  context->use_private_key_file(key, asio::ssl::context::pem, error);
  if (error) return fail(ErrorKind::invalid_input, "cannot use the TLS key {}: {}", key, error.message());
  return context;
}

}  // namespace lectern::service::http
