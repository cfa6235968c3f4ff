#include "service/api/health.h"

#include <nlohmann/json.hpp>

#include <utility>

#include "telemetry/log.h"

namespace lectern::service {

namespace asio = boost::asio;

asio::awaitable<void> Readiness::ask() {
  const auto answers = co_await store_.now();
  const Status writes = co_await blobs_.check();
  if (!answers)
    telemetry::log(telemetry::LogLevel::warning, "the store does not answer", {{"error", answers.error().for_log}});
  if (!writes)
    telemetry::log(telemetry::LogLevel::warning, "the blobs do not answer", {{"error", writes.error().for_log}});
  found_ = {.store = answers.has_value(), .blobs = writes.has_value()};
  good_until_ = timers_.clock().now() + std::chrono::duration_cast<TimePoint::duration>(memory_);
}

asio::awaitable<Readiness::Found> Readiness::look() {
  if (timers_.clock().now() < good_until_) co_return found_;
  if (asking_) {
    co_await timers_.wait_until(TimePoint::max(), *asking_);
    co_return found_;
  }
  struct Asking {
    std::optional<Cancellation>& asking;
    ~Asking() { std::exchange(asking, std::nullopt)->request(); }
  };
  asking_.emplace();
  const Asking asking{asking_};
  co_await ask();
  co_return found_;
}

asio::awaitable<http::Response> live(http::ExchangePtr) {
  co_return http::text_response(200, "application/json", R"({"status":"live"})");
}

asio::awaitable<http::Response> ready(Readiness* readiness, http::ExchangePtr exchange) {
  const Readiness::Found found = co_await readiness->look();
  const bool stopping = exchange->stopping().requested();
  const bool good = found.store && found.blobs && !stopping;
  const auto word = [](bool fine) { return fine ? "ok" : "failing"; };
  const nlohmann::ordered_json json{{"status", good       ? "ready"
                                               : stopping ? "stopping"
                                                          : "failing"},
                                    {"store", word(found.store)},
                                    {"blobs", word(found.blobs)}};
  http::Response response = http::text_response(good ? 200 : 503, "application/json", json.dump());
  response.fields.add("Cache-Control", "no-store");
  co_return response;
}

}  // namespace lectern::service
