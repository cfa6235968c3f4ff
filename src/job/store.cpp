#include "job/store.h"

#include <array>
#include <functional>

#include "base/async.h"
#include "job/bell.h"

namespace lectern::job {
namespace {

constexpr int tries = 2;  // of a submit that lost a race for its idempotency key

}  // namespace

struct Store::Impl {
  Impl(std::unique_ptr<Database> d, Timers& t) : timers(t), database(std::move(d)) {}

  Timers& timers;
  Bell work;
  // By hash of the job: a few watchers are woken in vain, none is forgotten.
  std::array<Bell, 256> jobs;
  std::unique_ptr<Database> database;  // last: its threads ring the bells

  Bell& bell(const std::string& job) { return jobs.at(std::hash<std::string>{}(job) % jobs.size()); }

  template <class T>
  boost::asio::awaitable<Result<T>> run(Database::Access access, std::function<Result<T>(Ledger&)> work_in_it);
};

template <class T>
boost::asio::awaitable<Result<T>> Store::Impl::run(Database::Access access,
                                                   std::function<Result<T>(Ledger&)> work_in_it) {
  auto start = [this, access, inner = std::move(work_in_it)](auto done) {
    auto value = std::make_shared<std::optional<Result<T>>>();  // shared by the work, which may run again, and its end
    database->run(
        access,
        [value, inner](Ledger& ledger) -> Status {
          *value = inner(ledger);
          if (!**value) return std::unexpected((*value)->error());
          return {};
        },
        [value, done](Status status) {
          // The commit itself may have failed after the work went well.
          done(status ? std::move(**value) : Result<T>(std::unexpected(status.error())));
        });
  };
  return await_elsewhere<Result<T>>(std::move(start));
}

Store::Store(std::unique_ptr<Database> database, Policy policy, Timers& timers)
    : policy_(policy), impl_(std::make_unique<Impl>(std::move(database), timers)) {
  Impl* impl = impl_.get();
  impl->database->listen({.work = [impl] { impl->work.ring(); },
                          .job =
                              [impl](const std::string& job) {
                                if (!job.empty()) return impl->bell(job).ring();
                                for (Bell& bell : impl->jobs) bell.ring();
                              }});
}

Store::~Store() {
  impl_->database->listen({});
  impl_->database.reset();  // waits for what is under way
}

std::string Store::description() const {
  return impl_->database->description();
}

boost::asio::awaitable<Result<Submitted>> Store::submit(NewJob request) {
  for (int i = 1;; ++i) {
    auto done = co_await impl_->run<Submitted>(
        Database::Access::write, [this, request](Ledger& ledger) { return job::submit(ledger, policy_, request); });
    const bool raced = !done && done.error().kind == ErrorKind::conflict && !request.idempotency_key.empty();
    if (!raced || i == tries) co_return done;
  }
}

boost::asio::awaitable<Result<std::optional<JobView>>> Store::job(std::string id) {
  return impl_->run<std::optional<JobView>>(Database::Access::read,
                                            [id = std::move(id)](Ledger& ledger) { return ledger.job(id); });
}

boost::asio::awaitable<Result<std::vector<JobView>>> Store::jobs(JobFilter filter) {
  return impl_->run<std::vector<JobView>>(Database::Access::read,
                                          [filter = std::move(filter)](Ledger& ledger) { return ledger.jobs(filter); });
}

boost::asio::awaitable<Result<std::vector<Task>>> Store::tasks(std::string job, StepKind kind, int from_number,
                                                               int limit) {
  return impl_->run<std::vector<Task>>(Database::Access::read,
                                       [job = std::move(job), kind, from_number, limit](Ledger& ledger) {
                                         return ledger.job_tasks(job, kind, from_number, limit);
                                       });
}

boost::asio::awaitable<Result<std::vector<Event>>> Store::events(std::string job, std::int64_t after, int limit) {
  return impl_->run<std::vector<Event>>(Database::Access::read, [job = std::move(job), after, limit](Ledger& ledger) {
    return ledger.events(job, after, limit);
  });
}

boost::asio::awaitable<Result<JobView>> Store::cancel(std::string id, std::string why) {
  return impl_->run<JobView>(Database::Access::write, [this, id = std::move(id), why = std::move(why)](Ledger& ledger) {
    return cancel_job(ledger, policy_, id, why);
  });
}

boost::asio::awaitable<Result<JobView>> Store::retry(std::string id) {
  return impl_->run<JobView>(Database::Access::write,
                             [this, id = std::move(id)](Ledger& ledger) { return retry_job(ledger, policy_, id); });
}

boost::asio::awaitable<Result<std::vector<Task>>> Store::claim(ClaimRequest request) {
  auto leased = co_await impl_->run<std::vector<Leased>>(
      Database::Access::write,
      [this, request = std::move(request)](Ledger& ledger) { return job::claim(ledger, policy_, request); });
  if (!leased) co_return std::unexpected(leased.error());
  std::vector<Task> tasks;
  bool first = false;
  for (const Leased& one : *leased) {
    tasks.push_back(one.task);
    first = first || one.first;
  }
  if (first) {
    // Only for those who look: the commit would mark the step as well, so an error here does not matter. Nobody waits
    // for it, since it may have to wait for a job's lock, and the tasks would be in nobody's hand meanwhile.
    impl_->database->run(
        Database::Access::write,
        [this, leased = std::move(*leased)](Ledger& ledger) { return begin_steps(ledger, policy_, leased); },
        [](const Status&) {});
  }
  co_return tasks;
}

boost::asio::awaitable<Result<std::vector<std::int64_t>>> Store::renew(std::vector<Held> held) {
  return impl_->run<std::vector<std::int64_t>>(Database::Access::write, [this, held = std::move(held)](Ledger& ledger) {
    return job::renew(ledger, policy_, held);
  });
}

boost::asio::awaitable<Result<std::vector<Verdict>>> Store::commit(std::vector<Outcome> outcomes) {
  return impl_->run<std::vector<Verdict>>(
      Database::Access::write,
      [this, outcomes = std::move(outcomes)](Ledger& ledger) { return commit_tasks(ledger, policy_, outcomes); });
}

boost::asio::awaitable<Result<Swept>> Store::sweep() {
  return impl_->run<Swept>(Database::Access::write, [this](Ledger& ledger) { return job::sweep(ledger, policy_); });
}

boost::asio::awaitable<Result<std::vector<std::string>>> Store::jobs_finished_before(Millis before, int limit) {
  return impl_->run<std::vector<std::string>>(
      Database::Access::read, [before, limit](Ledger& ledger) { return ledger.jobs_finished_before(before, limit); });
}

boost::asio::awaitable<Status> Store::remove(std::string id) {
  const auto removed =
      co_await impl_->run<bool>(Database::Access::write, [id = std::move(id)](Ledger& ledger) -> Result<bool> {
        const auto view = ledger.lock_job(id);
        if (!view) return std::unexpected(view.error());
        if (*view && !over((*view)->job.phase)) return fail(ErrorKind::conflict, "the job {} is not over", id);
        if (auto gone = ledger.remove_job(id); !gone) return std::unexpected(gone.error());
        return true;
      });
  if (!removed) co_return std::unexpected(removed.error());
  co_return Status{};
}

boost::asio::awaitable<Result<ApiKey>> Store::add_key(ApiKey key) {
  return impl_->run<ApiKey>(Database::Access::write, [key = std::move(key)](Ledger& ledger) -> Result<ApiKey> {
    ApiKey stamped = key;
    stamped.created_at = ledger.now();
    if (auto there = ledger.insert_key(stamped); !there) return std::unexpected(there.error());
    return stamped;
  });
}

boost::asio::awaitable<Result<std::vector<ApiKey>>> Store::keys() {
  return impl_->run<std::vector<ApiKey>>(Database::Access::read, [](Ledger& ledger) { return ledger.keys(); });
}

boost::asio::awaitable<Result<std::optional<ApiKey>>> Store::key_by_sha256(std::string sha256) {
  return impl_->run<std::optional<ApiKey>>(
      Database::Access::read, [sha256 = std::move(sha256)](Ledger& ledger) { return ledger.key_by_sha256(sha256); });
}

boost::asio::awaitable<Result<bool>> Store::revoke_key(std::string id) {
  return impl_->run<bool>(Database::Access::write,
                          [id = std::move(id)](Ledger& ledger) { return ledger.revoke_key(id, ledger.now()); });
}

boost::asio::awaitable<Result<QueueFigures>> Store::figures() {
  return impl_->run<QueueFigures>(Database::Access::read, [](Ledger& ledger) { return ledger.figures(); });
}

boost::asio::awaitable<Result<std::int64_t>> Store::jobs_open() {
  return impl_->run<std::int64_t>(Database::Access::read, [](Ledger& ledger) { return ledger.jobs_open(); });
}

boost::asio::awaitable<Result<Millis>> Store::now() {
  return impl_->run<Millis>(Database::Access::read, [](Ledger& ledger) -> Result<Millis> { return ledger.now(); });
}

std::uint64_t Store::work_mark() const {
  return impl_->work.mark();
}

boost::asio::awaitable<void> Store::wait_for_work(std::uint64_t mark, TimePoint until, Cancellation cancellation) {
  return impl_->work.wait(mark, until, impl_->timers, std::move(cancellation));
}

std::uint64_t Store::job_mark(const std::string& job) const {
  return impl_->bell(job).mark();
}

boost::asio::awaitable<void> Store::wait_for_job(std::string job, std::uint64_t mark, TimePoint until,
                                                 Cancellation cancellation) {
  return impl_->bell(job).wait(mark, until, impl_->timers, std::move(cancellation));
}

}  // namespace lectern::job
