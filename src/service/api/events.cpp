#include "service/api/events.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "service/api/job_json.h"
#include "service/api/stop_signs.h"
#include "service/http/parameters.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;
using http::Response;

constexpr int batch = 50;  // events that are made into text in one go, on the loop

// Sends what has happened, then what happens, until the job is over, the client leaves or the server stops. A client
// that comes back with Last-Event-ID misses nothing and sees nothing twice.
class EventStream final : public http::BodySource {
 public:
  EventStream(ApiContext& api, ExchangePtr exchange, std::string job, std::int64_t after, std::shared_ptr<void> place)
      : api_(api),
        signs_({exchange->stopping(), exchange->gone()}),
        job_(std::move(job)),
        after_(after),
        place_(std::move(place)) {}

  asio::awaitable<Result<std::string>> next() override {
    if (!begun_) {
      begun_ = true;
      co_return "retry: 2000\n\n";
    }
    while (!ended_ && !signs_.requested()) {
      const std::uint64_t mark = api_.parts.store.job_mark(job_);
      const auto view = co_await api_.parts.store.job(job_);
      if (!view) co_return std::unexpected(view.error());
      const auto events = co_await api_.parts.store.events(job_, after_, batch);
      if (!events) co_return std::unexpected(events.error());
      std::string text;
      for (const job::Event& event : *events) {
        text += fmt::format("id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event_json(event));
        after_ = event.number;
      }
      const bool gone = !*view;
      if (gone || (job::over((*view)->job.phase) && after_ >= (*view)->job.event_count)) {
        text += fmt::format("event: end\ndata: {{\"status\":\"{}\"}}\n\n",
                            gone ? "removed" : job::to_string((*view)->job.phase));
        ended_ = true;
      }
      if (!text.empty()) co_return text;
      const TimePoint until = api_.now() + std::chrono::duration_cast<TimePoint::duration>(api_.options.heartbeat);
      co_await api_.parts.store.wait_for_job(job_, mark, until, signs_.any());
      if (api_.now() >= until) co_return ": still here\n\n";
    }
    co_return std::string();
  }

 private:
  ApiContext& api_;
  const StopSigns signs_;
  const std::string job_;
  std::int64_t after_;
  const std::shared_ptr<void> place_;  // among ServiceOptions::streams_max
  bool begun_ = false;
  bool ended_ = false;
};

// ?after= goes before the header, which browsers send by themselves.
std::expected<std::int64_t, Problem> last_seen(const http::Request& request) {
  std::int64_t number = 0;
  if (const auto header = request.fields.find("last-event-id")) {
    const auto [end, error] = std::from_chars(header->data(), header->data() + header->size(), number);
    if (header->empty() || error != std::errc{} || end != header->data() + header->size() || number < 0) {
      return std::unexpected(
          Problem{.code = ProblemCode::invalid_parameter, .detail = "Last-Event-ID: must be the number of an event"});
    }
  }
  return number_parameter(request, "after", 0, INT64_MAX, number);
}

}  // namespace

asio::awaitable<Answer> get_events(ApiContext* api, Caller caller, ExchangePtr exchange) {
  const http::Request& request = exchange->request();
  static constexpr std::array<std::string_view, 2> types = {"text/event-stream", "application/json"};
  const auto type = http::preferred_type(request.fields.find("accept").value_or(""), types);
  if (!type) {
    co_return std::unexpected(
        Problem{.code = ProblemCode::not_acceptable, .detail = "events come as text/event-stream or application/json"});
  }
  const auto after = last_seen(request);
  if (!after) co_return std::unexpected(after.error());
  const auto limit = number_parameter(request, "limit", 1, 1000, 100);
  if (!limit) co_return std::unexpected(limit.error());
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  const std::string id = view->job.request.id;

  Response response;
  if (*type == 1) {
    const auto place = list_place(*api);
    if (!place) co_return std::unexpected(place.error());
    const auto events = co_await api->parts.store.events(id, *after, static_cast<int>(*limit));
    if (!events) co_return std::unexpected(problem_of(events.error()));
    const bool more = !events->empty() && events->back().number < view->job.event_count;
    std::string json = co_await api->parts.cpu.run([&events, more] { return events_json(*events, more); });
    response = http::text_response(200, "application/json", std::move(json));
  } else {
    auto place = api->streams.enter();
    if (!place) {
      co_return std::unexpected(Problem{
          .code = ProblemCode::rate_limited, .detail = "too many event streams are open here", .retry_after = 5});
    }
    response.fields.add("Content-Type", "text/event-stream");
    response.fields.add("X-Accel-Buffering", "no");  // proxies that wait for more would hold events back
    if (request.method != "HEAD") {
      response.source = std::make_unique<EventStream>(*api, exchange, id, *after, std::move(place));
    }
  }
  response.fields.add("Cache-Control", "no-store");
  co_return response;
}

}  // namespace lectern::service
