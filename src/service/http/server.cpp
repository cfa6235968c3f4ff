#include "service/http/server.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <exception>
#include <list>
#include <optional>
#include <unordered_set>

#include "telemetry/log.h"

namespace lectern::service::http {
namespace {

namespace asio = boost::asio;
using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using std::chrono::milliseconds;

constexpr milliseconds tick{500};            // how exactly time limits are kept
constexpr milliseconds no_descriptors{100};  // until accepting is tried again

// What is written is sent at once; and the kernel, too, holds little for clients that do not take it.
void set_up(int fd) {
  const int on = 1;
  const int unsent_bytes = 128 * 1024;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_bytes, sizeof unsent_bytes);
}

}  // namespace

struct HttpServer::Impl {
  Impl(HttpOptions o, const Router& router, Timers& t, Random& random,
       std::function<void(const ExchangeRecord&)> observer)
      : options(std::move(o)),
        timers(t),
        context{.limits = options.limits,
                .router = router,
                .timers = t,
                .random = random,
                .observer = std::move(observer),
                .stopping = {}} {
    context.relieve = [this] { let_go(&Connection::sends_since); };
  }

  const HttpOptions options;
  Timers& timers;
  ConnectionContext context;
  std::shared_ptr<asio::ssl::context> tls;
  std::vector<Listening> listening;
  std::vector<ListenAddress> addresses;

  std::unordered_set<std::shared_ptr<Connection>> connections;
  int running = 0;  // coroutines that this has spawned
  // After a stop: the last connection is gone; the last coroutine is over.
  Cancellation quiet;
  Cancellation ended;

  void spawn(const asio::any_io_executor& executor, asio::awaitable<void> work);
  asio::awaitable<void> accept(Acceptor* acceptor, bool unix_socket);
  asio::awaitable<void> keep_time();
  asio::awaitable<void> serve(std::shared_ptr<Connection> connection);
  void let_go(std::optional<TimePoint> (Connection::*since)() const);
  void make_room() { let_go(&Connection::waits_since); }
};

void HttpServer::Impl::spawn(const asio::any_io_executor& executor, asio::awaitable<void> work) {
  ++running;
  asio::co_spawn(executor, std::move(work), [this](const std::exception_ptr& failure) {
    --running;
    if (context.stopping.requested() && connections.empty()) quiet.request();
    if (context.stopping.requested() && running == 0) ended.request();
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {  // costs that client its connection, and nobody else anything
      telemetry::log(telemetry::LogLevel::error, "a connection failed", {{"error", error.what()}});
    }
  });
}

// The one that has waited longest goes.
void HttpServer::Impl::let_go(std::optional<TimePoint> (Connection::*since)() const) {
  std::shared_ptr<Connection> longest;
  TimePoint first = TimePoint::max();
  for (const auto& connection : connections) {
    const auto waits = (*connection.*since)();
    if (waits && *waits < first) {
      first = *waits;
      longest = connection;
    }
  }
  if (!longest) return;
  connections.erase(longest);
  longest->cut();
}

asio::awaitable<void> HttpServer::Impl::serve(std::shared_ptr<Connection> connection) {
  struct Membership {
    Impl* server;
    std::shared_ptr<Connection> connection;
    ~Membership() { server->connections.erase(connection); }
  };
  const Membership membership{this, connection};
  connections.insert(connection);
  co_await Connection::serve(connection);
}

asio::awaitable<void> HttpServer::Impl::accept(Acceptor* acceptor, bool unix_socket) {
  const auto executor = co_await asio::this_coro::executor;
  while (!context.stopping.requested()) {
    Socket socket(executor);
    boost::system::error_code error;
    co_await acceptor->async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (context.stopping.requested()) break;
    if (error == boost::system::errc::too_many_files_open ||
        error == boost::system::errc::too_many_files_open_in_system ||
        error == boost::system::errc::not_enough_memory || error == boost::system::errc::no_buffer_space) {
      telemetry::log(telemetry::LogLevel::warning, "cannot accept connections", {{"error", error.message()}});
      make_room();
      co_await timers.wait_for(no_descriptors, context.stopping);
    }
    if (error) continue;  // the client left before it was accepted
    if (static_cast<int>(connections.size()) >= options.connections_max) make_room();
    if (static_cast<int>(connections.size()) >= options.connections_max)
      continue;  // all are at work: this one must wait
    Peer peer = peer_of(socket.native_handle());
    if (!unix_socket) set_up(socket.native_handle());
    const bool secure = tls && !unix_socket;
    auto stream = secure ? tls_stream(std::move(socket), *tls) : plain_stream(std::move(socket));
    spawn(executor, serve(std::make_shared<Connection>(context, std::move(stream), std::move(peer), secure)));
  }
}

asio::awaitable<void> HttpServer::Impl::keep_time() {
  // Also after a stop: until the connections are gone.
  while (!context.stopping.requested() || !connections.empty()) {
    co_await timers.wait_for(tick, quiet);
    const TimePoint now = timers.clock().now();
    const std::vector<std::shared_ptr<Connection>> all(connections.begin(), connections.end());
    for (const auto& connection : all) connection->check_time(now);
  }
}

HttpServer::HttpServer(HttpOptions options, const Router& router, Timers& timers, Random& random,
                       std::function<void(const ExchangeRecord&)> observer)
    : impl_(std::make_unique<Impl>(std::move(options), router, timers, random, std::move(observer))) {}

HttpServer::~HttpServer() {
  for (Listening& one : impl_->listening) stop_listening(one);  // where run() was not called
}

Status HttpServer::open() {
  const HttpOptions& options = impl_->options;
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return fail(ErrorKind::invalid_input, "TLS needs both a certificate and a key; only one of them is given");
  }
  if (!options.tls_certificate.empty()) {
    auto context = tls_context(options.tls_certificate, options.tls_key);
    if (!context) return std::unexpected(context.error());
    impl_->tls = std::move(*context);
  }
  for (const ListenAddress& address : options.listen) {
    auto listening = listen_on(address);
    if (!listening) return std::unexpected(listening.error());
    impl_->addresses.push_back(listening->address);
    impl_->listening.push_back(std::move(*listening));
  }
  return {};
}

const std::vector<ListenAddress>& HttpServer::addresses() const {
  return impl_->addresses;
}

int HttpServer::connections() const {
  return static_cast<int>(impl_->connections.size());
}

asio::awaitable<void> HttpServer::run(Cancellation stop) {
  Impl& impl = *impl_;
  const auto executor = co_await asio::this_coro::executor;
  std::list<Acceptor> acceptors;
  for (Listening& one : impl.listening) {
    const bool unix_socket = !one.address.path.empty();
    const int family = unix_socket ? AF_UNIX : one.address.host.contains(':') ? AF_INET6 : AF_INET;
    Acceptor& acceptor = acceptors.emplace_back(executor);
    acceptor.assign(asio::generic::stream_protocol(family, 0), ::dup(one.fd.get()));
    impl.spawn(executor, impl.accept(&acceptor, unix_socket));
  }
  impl.spawn(executor, impl.keep_time());
  co_await impl.timers.wait_until(TimePoint::max(), stop);

  impl.context.stopping.request();
  boost::system::error_code ignored;
  for (Listening& one : impl.listening) stop_listening(one);  // new clients go elsewhere from now on
  for (Acceptor& acceptor : acceptors) acceptor.close(ignored);
  for (const auto& connection : impl.connections) connection->stop_soon();
  co_await impl.timers.wait_for(impl.options.stop_grace, impl.ended);
  const std::vector<std::shared_ptr<Connection>> left(impl.connections.begin(), impl.connections.end());
  for (const auto& connection : left) connection->cut();
  co_await impl.timers.wait_until(TimePoint::max(), impl.ended);
}

}  // namespace lectern::service::http
