#include "cli/metrics_port.h"

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
  Impl(int port, Figures m, Timers& timers, Random& random)
      : metrics(std::move(m)), server({.listen = {{.host = "0.0.0.0", .port = port}}}, router, timers, random, {}) {
    router.add({.method = "GET", .pattern = "/metrics", .handler = [this](http::ExchangePtr exchange) {
                  return answer(&metrics, std::move(exchange));
                }});
    router.add({.method = "GET", .pattern = "/health/live", .handler = service::live});
  }

  const Figures metrics;
  http::Router router;
  http::HttpServer server;
};

MetricsPort::MetricsPort(int port, Figures metrics, Timers& timers, Random& random)
    : impl_(std::make_unique<Impl>(port, std::move(metrics), timers, random)) {}
MetricsPort::~MetricsPort() = default;

Status MetricsPort::open() {
  return impl_->server.open();
}

int MetricsPort::port() const {
  return impl_->server.addresses().front().port;
}

asio::awaitable<void> MetricsPort::run(Cancellation stop) {
  return impl_->server.run(std::move(stop));
}

}  // namespace lectern::cli
