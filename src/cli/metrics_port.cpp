#include "cli/metrics_port.h"

#include <fmt/format.h>

#include <utility>

#include "service/api/health.h"
#include "service/http/server.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;
namespace http = service::http;

asio::awaitable<http::Response> answer(const MetricsPort::Figures* metrics, http::ExchangePtr) {
  co_return http::text_response(200, "text/plain; version=0.0.4; charset=utf-8", co_await (*metrics)());
}

}  // namespace

struct MetricsPort::Impl {
  Impl(http::ListenAddress where, Figures m, Timers& timers, Random& random)
      : metrics(std::move(m)), server({.listen = {std::move(where)}}, router, timers, random, {}) {
    router.add({.method = "GET", .pattern = "/metrics", .handler = [this](http::ExchangePtr exchange) {
                  return answer(&metrics, std::move(exchange));
                }});
    router.add({.method = "GET", .pattern = "/health/live", .handler = service::live});
  }

  const Figures metrics;
  http::Router router;
  http::HttpServer server;
};

Result<http::ListenAddress> metrics_address(const std::string& host, int port) {
  auto address = http::parse_listen_address(fmt::format("{}:{}", host, port));
  if (address && address->path.empty()) return address;
  return fail(ErrorKind::invalid_input,
              "work.metrics_address: '{}' is no address; write for instance 127.0.0.1, 0.0.0.0 or ::1", host);
}

MetricsPort::MetricsPort(http::ListenAddress where, Figures metrics, Timers& timers, Random& random)
    : impl_(std::make_unique<Impl>(std::move(where), std::move(metrics), timers, random)) {}
MetricsPort::~MetricsPort() = default;

Status MetricsPort::open() {
  return impl_->server.open();
}

std::string MetricsPort::url() const {
  return fmt::format("http://{}/metrics", to_string(impl_->server.addresses().front()));
}

asio::awaitable<void> MetricsPort::run(Cancellation stop) {
  return impl_->server.run(std::move(stop));
}

}  // namespace lectern::cli
