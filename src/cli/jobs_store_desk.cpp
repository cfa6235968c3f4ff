#include <algorithm>
#include <utility>

#include "cli/jobs_desk.h"
#include "service/api/job_json.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr int events_at_a_time = 200;

class StoreDesk final : public JobsDesk {
 public:
  explicit StoreDesk(job::Store& store) : store_(store) {}

  asio::awaitable<Result<std::string>> list(JobsWanted wanted) override {
    job::JobFilter filter{.tenant = wanted.tenant, .before = wanted.after, .limit = wanted.limit + 1};
    if (!wanted.status.empty()) filter.phase = job::phase_from(wanted.status);
    auto jobs = co_await store_.jobs(std::move(filter));
    if (!jobs) co_return std::unexpected(jobs.error());
    const bool more = std::cmp_greater(jobs->size(), wanted.limit);
    if (more) jobs->pop_back();
    co_return service::jobs_json(*jobs, more ? jobs->back().job.request.id : "");
  }

  asio::awaitable<Result<std::string>> job(std::string id) override {
    auto view = co_await store_.job(id);
    if (!view) co_return std::unexpected(view.error());
    if (!*view) co_return fail(ErrorKind::not_found, "there is no job {}", id);
    co_return co_await shown(std::move(**view));
  }

  asio::awaitable<Result<std::string>> events(std::string id, std::int64_t after) override {
    auto events = co_await store_.events(id, after, events_at_a_time + 1);
    if (!events) co_return std::unexpected(events.error());
    const bool more = events->size() > events_at_a_time;
    if (more) events->pop_back();
    co_return service::events_json(*events, more);
  }

  asio::awaitable<Result<std::string>> cancel(std::string id) override {
    auto view = co_await store_.cancel(std::move(id), "cancelled by lectern jobs");
    if (!view) co_return std::unexpected(view.error());
    co_return service::job_json(*view, std::nullopt);
  }

  asio::awaitable<Result<std::string>> retry(std::string id) override {
    auto view = co_await store_.retry(std::move(id));
    if (!view) co_return std::unexpected(view.error());
    co_return service::job_json(*view, std::nullopt);
  }

 private:
  asio::awaitable<Result<std::string>> shown(job::JobView view) {
    std::optional<job::Task> delivery;
    if (!view.job.request.webhook.empty()) {
      auto tasks = co_await store_.tasks(view.job.request.id, job::StepKind::deliver, 0, 1);
      if (!tasks) co_return std::unexpected(tasks.error());
      if (!tasks->empty()) delivery = std::move(tasks->front());
    }
    co_return service::job_json(view, delivery);
  }

  job::Store& store_;
};

}  // namespace

std::unique_ptr<JobsDesk> make_store_desk(job::Store& store) {
  return std::make_unique<StoreDesk>(store);
}

}  // namespace lectern::cli
