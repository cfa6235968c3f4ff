#include "service/api/figures.h"

#include <fmt/format.h>

namespace lectern::service {

namespace asio = boost::asio;

asio::awaitable<Answer> get_metrics(ApiContext* api, Caller, http::ExchangePtr) {
  telemetry::MetricsText text;
  api->metrics.write(text);
  co_await api->watch.look();
  api->watch.write(text);
  text.gauge("lectern_http_connections", "Clients that are connected", api->connections ? api->connections() : 0);
  text.gauge("lectern_uploads_under_way", "Submits under way", api->gate.under_way());
  text.gauge("lectern_event_streams", "Event streams that are open", api->streams.inside());
  if (api->parts.more_metrics) text.raw(api->parts.more_metrics());
  http::Response response = http::text_response(200, "text/plain; version=0.0.4; charset=utf-8", text.take());
  response.fields.add("Cache-Control", "no-store");
  co_return response;
}

void count_exchange(telemetry::Metrics& metrics, const http::ExchangeRecord& record) {
  const std::string status = fmt::to_string(record.status);
  // Only methods that routes have: anybody can make up others, and each would stay here for ever.
  const bool known = record.route != "none";
  metrics.count("lectern_http_requests_total", "Requests by route and status",
                {{"route", record.route}, {"method", known ? record.method : "other"}, {"status", status}});
  metrics.observe("lectern_http_request_seconds", "From the head of a request to the last byte of its response",
                  {{"route", record.route}}, record.time);
}

}  // namespace lectern::service
