// Jobs for those who live on an event loop: workers, the service, the commands. Each call is one transaction (or two)
// of operations.h, run on the database's threads. Safe from any thread; coroutines resume on their own executor.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/timers.h"
#include "job/database.h"
#include "job/operations.h"

namespace lectern::job {

class Store {
 public:
  // The timers are borrowed and must outlive the store.
  Store(std::unique_ptr<Database> database, Policy policy, Timers& timers);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  const Policy& policy() const { return policy_; }
  std::string description() const;

  boost::asio::awaitable<Result<Submitted>> submit(NewJob request);
  boost::asio::awaitable<Result<std::optional<JobView>>> job(std::string id);
  boost::asio::awaitable<Result<std::vector<JobView>>> jobs(JobFilter filter);
  boost::asio::awaitable<Result<std::vector<Task>>> tasks(std::string job, StepKind kind, int from_number, int limit);
  boost::asio::awaitable<Result<std::vector<Event>>> events(std::string job, std::int64_t after, int limit);
  boost::asio::awaitable<Result<JobView>> cancel(std::string id, std::string why);
  boost::asio::awaitable<Result<JobView>> retry(std::string id);

  boost::asio::awaitable<Result<std::vector<Task>>> claim(ClaimRequest request);
  boost::asio::awaitable<Result<std::vector<std::int64_t>>> renew(std::vector<Held> held);
  boost::asio::awaitable<Result<std::vector<Verdict>>> commit(std::vector<Outcome> outcomes);
  boost::asio::awaitable<Result<Swept>> sweep();

  boost::asio::awaitable<Result<std::vector<std::string>>> jobs_finished_before(Millis before, int limit);
  // Errors: conflict (it is not over). Absent is fine.
  boost::asio::awaitable<Status> remove(std::string id);

  // The key as it is stored: with its time.
  boost::asio::awaitable<Result<ApiKey>> add_key(ApiKey key);
  boost::asio::awaitable<Result<std::vector<ApiKey>>> keys();
  boost::asio::awaitable<Result<std::optional<ApiKey>>> key_by_sha256(std::string sha256);
  boost::asio::awaitable<Result<bool>> revoke_key(std::string id);

  boost::asio::awaitable<Result<QueueFigures>> figures();
  boost::asio::awaitable<Result<std::int64_t>> jobs_open();
  boost::asio::awaitable<Result<Millis>> now();  // the database's clock; also: does it answer?

  // Return when there may be something new since the mark was taken, at `until`, or when cancelled. Take the mark,
  // look, and wait only if there was nothing: then nothing is missed.
  std::uint64_t work_mark() const;
  boost::asio::awaitable<void> wait_for_work(std::uint64_t mark, TimePoint until, Cancellation cancellation);
  std::uint64_t job_mark(const std::string& job) const;
  boost::asio::awaitable<void> wait_for_job(std::string job, std::uint64_t mark, TimePoint until,
                                            Cancellation cancellation);

 private:
  struct Impl;
  const Policy policy_;
  const std::unique_ptr<Impl> impl_;
};

enum class IfAbsent : std::uint8_t {
  make,
  fail,  // not_found: whoever only looks must not take a misspelt place for an empty store
};
// By URL: empty or a folder = SQLite in it; "sqlite:PATH"; "postgresql://…" or "postgres://…". Runs the migrations.
// Errors: invalid_input (what is wrong with the URL), unavailable, conflict (the schema is newer than this program),
// not_found.
Result<std::unique_ptr<Database>> open_database(const std::string& url, const std::string& data_folder,
                                                IfAbsent if_absent = IfAbsent::make);

}  // namespace lectern::job
