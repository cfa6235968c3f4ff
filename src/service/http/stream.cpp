#include "service/http/stream.h"

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <sys/epoll.h>

#include <array>
#include <optional>

#include "base/unique_fd.h"

namespace lectern::service::http {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

using Buffers = std::array<asio::const_buffer, 2>;

Buffers both(std::string_view first, std::string_view second) {
  return {asio::const_buffer(first.data(), first.size()), asio::const_buffer(second.data(), second.size())};
}

// Watches for the other side's hang-up, and for that alone: whatever it sends meanwhile (a further request, the goodbye
// of TLS) is left where it is, and does not end the watch. An epoll of its own, because asio's does not ask for
// EPOLLRDHUP.
class HangUp {
 public:
  asio::awaitable<bool> happens(Socket* socket) {
    if (!epoll_ && !open(*socket)) co_return false;
    error_code error;
    co_await epoll_->async_wait(asio::posix::stream_descriptor::wait_read,
                                asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
  }
  void cancel() {
    error_code ignored;
    if (epoll_) epoll_->cancel(ignored);
  }

 private:
  bool open(Socket& socket) {
    UniqueFd made(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{.events = EPOLLRDHUP, .data = {}};
    if (!made || ::epoll_ctl(made.get(), EPOLL_CTL_ADD, socket.native_handle(), &wanted) != 0) return false;
    epoll_.emplace(socket.get_executor(), made.release());
    return true;
  }

  std::optional<asio::posix::stream_descriptor> epoll_;
};

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
  asio::awaitable<bool> left() override { return hang_up_.happens(&socket_); }
  asio::awaitable<void> end() override {
    error_code ignored;  // it may be broken already
    socket_.shutdown(Socket::shutdown_send, ignored);
    co_return;
  }
  void cancel() override {
    error_code ignored;
    hang_up_.cancel();
    socket_.cancel(ignored);
  }
  void close() override {
    error_code ignored;
    hang_up_.cancel();
    socket_.close(ignored);
  }

 private:
  Socket socket_;
  HangUp hang_up_;
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
  asio::awaitable<bool> left() override { return hang_up_.happens(&stream_.next_layer()); }
  asio::awaitable<void> end() override {
    error_code ignored;  // clients that close without a word are common
    co_await stream_.async_shutdown(asio::redirect_error(asio::use_awaitable, ignored));
    stream_.next_layer().shutdown(Socket::shutdown_send, ignored);
  }
  void cancel() override {
    error_code ignored;
    hang_up_.cancel();
    stream_.next_layer().cancel(ignored);
  }
  void close() override {
    error_code ignored;
    hang_up_.cancel();
    stream_.next_layer().close(ignored);
  }

 private:
  asio::ssl::stream<Socket> stream_;
  HangUp hang_up_;
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
