#include "service/server.h"

#include <fmt/format.h>

#include <optional>

#include "service/api/api.h"
#include "service/api/figures.h"
#include "service/http/server.h"
#include "telemetry/log.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;

void log_exchange(const http::ExchangeRecord& record) {
  using telemetry::LogLevel;
  const std::chrono::duration<double, std::milli> ms = record.time;
  telemetry::log(record.status >= 500 ? LogLevel::warning : LogLevel::info, "request",
                 {{"method", std::string(record.method)},
                  {"path", std::string(record.path)},
                  {"status", fmt::to_string(record.status)},
                  {"ms", fmt::format("{:.1f}", ms.count())},
                  {"in", fmt::to_string(record.bytes_in)},
                  {"out", fmt::to_string(record.bytes_out)},
                  {"id", std::string(record.request_id)},
                  {"peer", std::string(record.peer)},
                  {"user", std::string(record.user)},
                  {"complete", record.complete ? "yes" : "no"}});
}

}  // namespace

struct Server::Impl {
  Impl(ServiceOptions options, ServiceParts parts) : api(std::move(options), std::move(parts)) {
    add_routes(router, api);
    api.connections = [this] { return http ? http->connections() : 0; };
  }

  ApiContext api;
  http::Router router;
  std::optional<http::HttpServer> http;

  Result<http::HttpOptions> http_options() const;
};

Result<http::HttpOptions> Server::Impl::http_options() const {
  const ServiceOptions& options = api.options;
  http::HttpOptions made{.tls_certificate = options.tls_certificate,
                         .tls_key = options.tls_key,
                         .connections_max = options.connections_max,
                         .limits = {.header_timeout = options.header_timeout,
                                    .idle_timeout = options.idle_timeout,
                                    .write_timeout = options.write_timeout,
                                    .body_bytes_per_second_min = options.body_bytes_per_second_min},
                         .stop_grace = options.stop_grace};
  for (const std::string& text : {options.listen, options.unix_socket.empty() ? "" : "unix:" + options.unix_socket}) {
    if (text.empty()) continue;
    auto address = http::parse_listen_address(text);
    if (!address) return std::unexpected(address.error());
    made.listen.push_back(std::move(*address));
  }
  if (made.listen.empty())
    return fail(ErrorKind::invalid_input, "there is no address to listen on; give one with --listen");
  return made;
}

Server::Server(ServiceOptions options, ServiceParts parts)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(parts))) {}

Server::~Server() = default;

asio::awaitable<Status> Server::open() {
  auto options = impl_->http_options();
  if (!options) co_return std::unexpected(options.error());
  for (const http::ListenAddress& address : options->listen) {
    if (address.loopback()) continue;
    const auto guarded = co_await impl_->api.auth.has_working_key();
    if (!guarded) co_return std::unexpected(guarded.error());
    if (*guarded) continue;
    co_return fail(
        ErrorKind::invalid_input,
        "{} can be reached from other machines, and there is no key yet: make one with 'lectern keys create', "
        "or listen on 127.0.0.1",
        address.host);
  }
  ApiContext* const api = &impl_->api;
  const auto observer = [api](const http::ExchangeRecord& record) {
    count_exchange(api->metrics, record);
    if (api->options.access_log) log_exchange(record);
  };
  impl_->http.emplace(std::move(*options), impl_->router, api->parts.timers, api->parts.random, observer);
  if (auto opened = impl_->http->open(); !opened) {
    impl_->http.reset();
    co_return std::unexpected(opened.error());
  }
  co_return Status{};
}

std::string Server::address() const {
  const http::ListenAddress& first = impl_->http->addresses().front();
  if (!first.path.empty()) return to_string(first);
  return fmt::format("{}://{}", impl_->api.options.tls_key.empty() ? "http" : "https", to_string(first));
}

asio::awaitable<Status> Server::run(Cancellation stop) {
  if (!impl_->http) {
    if (auto opened = co_await open(); !opened) co_return opened;
  }
  co_await impl_->http->run(std::move(stop));
  co_return Status{};
}

}  // namespace lectern::service
