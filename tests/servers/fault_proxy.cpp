#include "servers/fault_proxy.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <atomic>
#include <future>
#include <set>
#include <thread>

namespace lectern::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t slow_bytes = 64;
constexpr std::chrono::milliseconds slow_pause{5};

}  // namespace

struct FaultProxy::Impl {
  struct Link {
    explicit Link(tcp::socket c) : client(std::move(c)), server(client.get_executor()) {}
    tcp::socket client;
    tcp::socket server;
    void reset() {
      boost::system::error_code ignored;
      for (tcp::socket* socket : {&client, &server}) {
        if (!socket->is_open()) continue;
        socket->set_option(asio::socket_base::linger(true, 0), ignored);  // close() then sends RST
        socket->close(ignored);
      }
    }
  };

  explicit Impl(std::uint16_t target)
      : target_port(target), acceptor(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), wake(loop) {
    wake.expires_at(asio::steady_timer::time_point::max());
  }

  asio::awaitable<void> accept_all();
  asio::awaitable<void> serve(std::shared_ptr<Link> link);
  asio::awaitable<void> pump(std::shared_ptr<Link> link, bool from_server);
  // Returns when bytes may pass.
  asio::awaitable<void> may_pass();
  template <class Call>
  auto on_loop(Call call) {
    std::packaged_task<decltype(call())()> task(std::move(call));
    auto result = task.get_future();
    asio::post(loop, [&task] { task(); });
    return result.get();
  }

  const std::uint16_t target_port;
  asio::io_context loop;
  tcp::acceptor acceptor;
  asio::steady_timer wake;  // cancelled when the mode changes
  std::set<std::shared_ptr<Link>> links;
  Mode mode = Mode::pass;
  std::int64_t reply_bytes_left = 0;
  std::atomic<int> count{0};
  std::atomic<std::int64_t> accepted{0};
  std::thread thread;  // last: it uses all above
};

asio::awaitable<void> FaultProxy::Impl::accept_all() {
  for (;;) {
    boost::system::error_code error;
    tcp::socket socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) continue;
    ++accepted;
    accepted.notify_all();
    auto link = std::make_shared<Link>(std::move(socket));
    if (mode == Mode::refuse) {
      link->reset();
      continue;
    }
    asio::co_spawn(loop, serve(link), asio::detached);
  }
}

asio::awaitable<void> FaultProxy::Impl::serve(std::shared_ptr<Link> link) {
  links.insert(link);
  ++count;
  co_await may_pass();
  boost::system::error_code error;
  const tcp::endpoint target(asio::ip::address_v4::loopback(), target_port);
  co_await link->server.async_connect(target, asio::redirect_error(asio::use_awaitable, error));
  if (error) {
    link->reset();
  } else {
    link->client.set_option(tcp::no_delay(true), error);
    link->server.set_option(tcp::no_delay(true), error);
    asio::co_spawn(loop, pump(link, true), asio::detached);
    co_await pump(link, false);
  }
  links.erase(link);
  --count;
}

asio::awaitable<void> FaultProxy::Impl::may_pass() {
  while (mode == Mode::half_open) {
    boost::system::error_code ignored;
    co_await wake.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<void> FaultProxy::Impl::pump(std::shared_ptr<Link> link, bool from_server) {
  tcp::socket& from = from_server ? link->server : link->client;
  tcp::socket& to = from_server ? link->client : link->server;
  std::array<char, 64 * 1024> buffer{};
  boost::system::error_code error;
  while (!error) {
    const std::size_t most = mode == Mode::slow ? slow_bytes : buffer.size();
    const std::size_t got = co_await from.async_read_some(asio::buffer(buffer.data(), most),
                                                          asio::redirect_error(asio::use_awaitable, error));
    if (error) break;
    co_await may_pass();
    if (mode == Mode::slow) {
      asio::steady_timer pause(loop, slow_pause);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
    }
    if (from_server && reply_bytes_left > 0 && (reply_bytes_left -= static_cast<std::int64_t>(got)) <= 0) {
      reply_bytes_left = 0;
      link->reset();
      co_return;
    }
    co_await asio::async_write(to, asio::buffer(buffer.data(), got), asio::redirect_error(asio::use_awaitable, error));
  }
  // One side ended: an orderly end is passed on, anything else takes both with it.
  boost::system::error_code ignored;
  if (error == asio::error::eof) {
    to.shutdown(tcp::socket::shutdown_send, ignored);
  } else {
    link->reset();
  }
}

FaultProxy::FaultProxy(std::uint16_t target_port) : impl_(std::make_unique<Impl>(target_port)) {
  asio::co_spawn(impl_->loop, impl_->accept_all(), asio::detached);
  impl_->thread = std::thread([impl = impl_.get()] { impl->loop.run(); });
}

FaultProxy::~FaultProxy() {
  impl_->on_loop([this] {
    impl_->acceptor.close();
    impl_->mode = Mode::pass;
    impl_->wake.cancel();
    for (const auto& link : impl_->links) link->reset();
    return 0;
  });
  impl_->thread.join();
}

std::uint16_t FaultProxy::port() const {
  return impl_->acceptor.local_endpoint().port();
}

void FaultProxy::set(Mode mode) {
  impl_->on_loop([this, mode] {
    impl_->mode = mode;
    impl_->wake.cancel();
    return 0;
  });
}

int FaultProxy::cut() {
  return impl_->on_loop([this] {
    const int cut = static_cast<int>(impl_->links.size());
    for (const auto& link : impl_->links) link->reset();
    return cut;
  });
}

void FaultProxy::cut_after_reply_bytes(std::int64_t bytes) {
  impl_->on_loop([this, bytes] {
    impl_->reply_bytes_left = bytes;
    return 0;
  });
}

int FaultProxy::connections() const {
  return impl_->count;
}

std::int64_t FaultProxy::accepted() const {
  return impl_->accepted;
}

void FaultProxy::wait_accepted_beyond(std::int64_t count) const {
  for (std::int64_t now = accepted(); now <= count; now = accepted()) impl_->accepted.wait(now);
}

}  // namespace lectern::test
