#include "service/api/jobs.h"

#include "job/ids.h"
#include "job/request.h"
#include "service/api/job_json.h"
#include "telemetry/log.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using http::ExchangePtr;
using http::Response;

std::unexpected<Problem> wrong(std::string detail) {
  return std::unexpected(Problem{.code = ProblemCode::invalid_parameter, .detail = std::move(detail)});
}

std::expected<job::JobFilter, Problem> filter_of(const http::Request& request, const Caller& caller) {
  job::JobFilter filter;
  const auto limit = number_parameter(request, "limit", 1, 200, 50);
  if (!limit) return std::unexpected(limit.error());
  filter.limit = static_cast<int>(*limit);
  if (const auto status = request.target.query.find("status")) {
    filter.phase = job::phase_from(*status);
    if (!filter.phase) return wrong("status: must be queued, running, succeeded, failed or cancelled");
  }
  if (const auto cursor = request.target.query.find("cursor")) {
    if (!job::is_job_id(*cursor)) return wrong("cursor: must be what 'next' of the page before says");
    filter.before = *cursor;
  }
  if (!caller.scopes.admin) filter.tenant = caller.tenant;
  if (const auto tenant = request.target.query.find("tenant")) {
    if (!is_tenant_name(*tenant)) return wrong("tenant: must be 1 to 64 letters, digits, '-', '_' or '.'");
    if (!caller.sees(std::string(*tenant))) {
      return std::unexpected(
          Problem{.code = ProblemCode::forbidden, .detail = "tenant: the key belongs to another one"});
    }
    filter.tenant = *tenant;
  }
  return filter;
}

// Everything that was stored for it. What cannot be removed now is found by the sweep for blobs without a job.
asio::awaitable<void> remove_blobs(ApiContext* api, std::string id) {
  std::string from;
  do {
    auto page = co_await api->parts.blobs.list(job::job_prefix(id), from, 500);
    if (!page) {
      telemetry::log(telemetry::LogLevel::warning, "the blobs of a job could not be removed",
                     {{"job", id}, {"error", page.error().for_log}});
      co_return;
    }
    for (const job::BlobInfo& blob : page->blobs) co_await api->parts.blobs.remove(blob.key);
    from = page->next;
  } while (!from.empty());
}

}  // namespace

asio::awaitable<Answer> get_jobs(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto filter = filter_of(exchange->request(), caller);
  if (!filter) co_return std::unexpected(std::move(filter.error()));
  const auto place = list_place(*api);
  if (!place) co_return std::unexpected(place.error());
  const auto limit = static_cast<std::size_t>(filter->limit++);  // one more says whether there is another page
  auto jobs = co_await api->parts.store.jobs(std::move(*filter));
  if (!jobs) co_return std::unexpected(problem_of(jobs.error()));
  std::string next;
  if (jobs->size() > limit) {
    jobs->resize(limit);
    next = jobs->back().job.request.id;
  }
  std::string json = co_await api->parts.cpu.run([&jobs, &next] { return jobs_json(*jobs, next); });
  Response response = http::text_response(200, "application/json", std::move(json));
  response.fields.add("Cache-Control", "no-store");
  co_return response;
}

asio::awaitable<Answer> get_job(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  co_return co_await job_response(api, 200, std::move(*view));
}

asio::awaitable<Answer> delete_job(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  const std::string id = view->job.request.id;
  if (!job::over(view->job.phase)) {
    auto cancelled = co_await api->parts.store.cancel(id, "cancelled by request");
    if (cancelled) co_return co_await job_response(api, 200, std::move(*cancelled));
    // It ended in this very moment: its result may be wanted, so it is not removed by a request that saw it running.
    if (cancelled.error().kind != ErrorKind::conflict) co_return std::unexpected(problem_of(cancelled.error()));
    auto ended = co_await job_of_path(api, Caller{.scopes = {.admin = true}}, exchange);
    if (!ended) co_return std::unexpected(std::move(ended.error()));
    co_return co_await job_response(api, 200, std::move(*ended));
  }
  if (const Status removed = co_await api->parts.store.remove(id); !removed) {
    co_return std::unexpected(problem_of(removed.error()));
  }
  co_await remove_blobs(api, id);
  co_return Response{.status = 204};
}

asio::awaitable<Answer> retry_job(ApiContext* api, Caller caller, ExchangePtr exchange) {
  auto view = co_await job_of_path(api, std::move(caller), exchange);
  if (!view) co_return std::unexpected(std::move(view.error()));
  auto retried = co_await api->parts.store.retry(view->job.request.id);
  if (!retried) {
    Problem problem = problem_of(retried.error());
    if (retried.error().kind == ErrorKind::conflict) problem.code = ProblemCode::nothing_to_retry;
    co_return std::unexpected(std::move(problem));
  }
  co_return co_await job_response(api, 202, std::move(*retried));
}

}  // namespace lectern::service
