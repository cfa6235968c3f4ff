#include "service/api/health.h"

#include <nlohmann/json.hpp>

#include "telemetry/log.h"

namespace lectern::service {

namespace asio = boost::asio;

asio::awaitable<http::Response> live(http::ExchangePtr) {
  co_return http::text_response(200, "application/json", R"({"status":"live"})");
}

asio::awaitable<http::Response> ready(job::Store* store, job::Blobs* blobs, http::ExchangePtr exchange) {
  const auto answers = co_await store->now();
  const Status writes = co_await blobs->check();
  const bool stopping = exchange->stopping().requested();
  const bool good = answers && writes && !stopping;
  const auto word = [](bool fine) { return fine ? "ok" : "failing"; };
  nlohmann::ordered_json json{{"status", good       ? "ready"
                                         : stopping ? "stopping"
                                                    : "failing"},
                              {"store", word(answers.has_value())},
                              {"blobs", word(writes.has_value())}};
  if (!answers)
    telemetry::log(telemetry::LogLevel::warning, "the store does not answer", {{"error", answers.error().for_log}});
  if (!writes)
    telemetry::log(telemetry::LogLevel::warning, "the blobs do not answer", {{"error", writes.error().for_log}});
  http::Response response = http::text_response(good ? 200 : 503, "application/json", json.dump());
  response.fields.add("Cache-Control", "no-store");
  co_return response;
}

}  // namespace lectern::service
