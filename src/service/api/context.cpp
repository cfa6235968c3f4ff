#include "service/api/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <ranges>

#include "job/ids.h"
#include "service/api/job_json.h"
#include "telemetry/log.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;
using http::Response;

constexpr int lists_max = 32;

std::optional<Problem> unknown_parameter(const http::Query& query, std::string_view known) {
  for (const auto& [name, value] : query.pairs) {
    bool found = false;
    for (const auto word : std::views::split(known, ' ')) found = found || std::string_view(word) == name;
    if (found && std::ranges::count(query.pairs, name, [](const auto& pair) { return pair.first; }) == 1) continue;
    const std::string_view wrong = found ? "is there more than once" : "there is no such parameter";
    return Problem{
        .code = ProblemCode::invalid_parameter,
        .detail = fmt::format("{}: {}; there are: {}", name.substr(0, 40), wrong, known.empty() ? "none" : known)};
  }
  return std::nullopt;
}

asio::awaitable<Response> handle(ApiContext* api, Scope scope, ApiHandler handler, std::string_view query,
                                 ExchangePtr exchange) {
  auto caller = co_await api->auth.caller(exchange, scope);
  Answer answer;
  if (!caller) {
    answer = std::unexpected(std::move(caller.error()));
  } else if (auto unknown = unknown_parameter(exchange->request().target.query, query)) {
    answer = std::unexpected(std::move(*unknown));
  } else {
    answer = co_await handler(api, std::move(*caller), exchange);
  }
  if (answer) co_return std::move(*answer);
  const ProblemKind& kind = about(answer.error().code);
  api->metrics.count("lectern_http_problems_total", "Requests that ended in a problem, by its code",
                     {{"code", kind.name}});
  co_return http::problem_response(answer.error(), exchange->request().id);
}

}  // namespace

ApiContext::ApiContext(ServiceOptions wanted, ServiceParts given)
    : options(std::move(wanted)),
      parts(std::move(given)),
      auth(parts.store, parts.timers.clock(), options.key_cache),
      gate({.uploads_max = options.uploads_max,
            .uploads_per_key_max = options.uploads_per_key_max,
            .per_second = options.submits_per_second,
            .burst = options.submits_burst}),
      waits(options.waits_max),
      streams(options.streams_max),
      lists(lists_max),
      readiness(parts.store, parts.blobs, parts.timers, options.health_cache),
      watch(parts.store, parts.timers.clock()) {}

asio::awaitable<std::int64_t> QueueLength::jobs_open(job::Store* store, const Clock* clock) {
  const TimePoint now = clock->now();
  if (!asked_ || now - *asked_ >= std::chrono::seconds(1)) {
    asked_ = now;  // others that come while we ask go by the old figure
    const std::int64_t before = since_;
    const auto open = co_await store->jobs_open();
    if (open) {
      known_ = *open;
      since_ -= before;
    } else {
      telemetry::log(telemetry::LogLevel::warning, "the queue's length is not known",
                     {{"error", open.error().for_log}});
    }
  }
  co_return known_ + since_;
}

http::Handler guarded(ApiContext* api, Scope scope, ApiHandler handler, std::string_view query) {
  return [api, scope, handler, query](ExchangePtr exchange) {
    return handle(api, scope, handler, query, std::move(exchange));
  };
}

asio::awaitable<std::expected<job::JobView, Problem>> job_of_path(ApiContext* api, Caller caller,
                                                                  ExchangePtr exchange) {
  const std::string id = exchange->request().path.at("id");
  const Problem missing{.code = ProblemCode::not_found, .detail = "there is no such job"};
  if (!job::is_job_id(id)) co_return std::unexpected(missing);
  auto view = co_await api->parts.store.job(id);
  if (!view) co_return std::unexpected(problem_of(view.error()));
  if (!*view || !caller.sees((*view)->job.request.tenant)) co_return std::unexpected(missing);
  co_return std::move(**view);
}

asio::awaitable<Response> job_response(ApiContext* api, int status, job::JobView view) {
  std::optional<job::Task> delivery;
  const std::string id = view.job.request.id;
  if (!view.job.request.webhook.empty()) {
    // Worth a look, but not worth failing for.
    const auto tasks = co_await api->parts.store.tasks(id, job::StepKind::deliver, 1, 1);
    if (tasks && !tasks->empty()) delivery = tasks->front();
  }
  Response response = http::text_response(status, "application/json", job_json(view, delivery));
  response.fields.add("Cache-Control", "no-store");
  if (status == 201 || status == 202) response.fields.add("Location", "/v1/jobs/" + id);
  co_return response;
}

std::expected<std::shared_ptr<void>, Problem> list_place(ApiContext& api) {
  if (auto place = api.lists.enter()) return place;
  return std::unexpected(
      Problem{.code = ProblemCode::rate_limited, .detail = "too many lists are asked for", .retry_after = 1});
}

std::expected<std::int64_t, Problem> number_parameter(const http::Request& request, std::string_view name,
                                                      std::int64_t least, std::int64_t most, std::int64_t otherwise) {
  const auto text = request.target.query.find(name);
  if (!text) return otherwise;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (text->empty() || error != std::errc{} || end != text->data() + text->size() || value < least || value > most) {
    return std::unexpected(
        Problem{.code = ProblemCode::invalid_parameter,
                .detail = fmt::format("{}: must be a whole number from {} to {}", name, least, most)});
  }
  return value;
}

std::expected<bool, Problem> flag_parameter(const http::Request& request, std::string_view name) {
  const auto text = request.target.query.find(name);
  if (!text || *text == "false") return false;
  if (text->empty() || *text == "true") return true;
  return std::unexpected(
      Problem{.code = ProblemCode::invalid_parameter, .detail = fmt::format("{}: must be true or false", name)});
}

}  // namespace lectern::service
