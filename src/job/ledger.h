// What a database must do for jobs, inside one transaction: load rows, lock them, write them. No decisions here: those
// are in decide.h, and operations.h puts the two together. Implementations: memory (tests, simulation), SQLite,
// PostgreSQL.
//
// Locking: whoever changes a job, its steps or tasks that somebody may hold calls lock_job() first; whoever locks
// several jobs does so in the order of their ids. take_ready() alone locks tasks without their job, and skips those
// that others have locked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/decide.h"
#include "job/model.h"

namespace lectern::job {

using StepKinds = std::span<const StepKind>;

// Which jobs to list: newest first, `before` is the id of the last one of the page before.
struct JobFilter {
  std::string tenant;  // empty = all
  std::optional<Phase> phase;
  std::string before;
  int limit = 50;
};

struct QueueFigures {
  std::int64_t ready = 0;
  std::int64_t waiting = 0;
  std::int64_t leased = 0;
  std::array<std::int64_t, 5> jobs{};  // by Phase, those that are over too, until they are removed
  Millis oldest_ready = 0;             // when the job of the first ready task was created; 0 = none

  std::int64_t jobs_of(Phase phase) const { return jobs.at(static_cast<std::size_t>(phase)); }
  std::int64_t jobs_open() const { return jobs_of(Phase::queued) + jobs_of(Phase::running); }
  bool operator==(const QueueFigures&) const = default;
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  // The database's own clock, the same for the whole transaction.
  virtual Millis now() = 0;

  // Errors (conflict): the id is there already.
  virtual Status insert_job(const JobView& job) = 0;
  // Those that are there, in the order of `ids`.
  virtual Result<std::vector<JobView>> jobs_by_id(std::span<const std::string> ids) = 0;
  // The same, and nobody else changes them until the transaction ends. REQUIRES: `ids` ascend.
  virtual Result<std::vector<JobView>> lock_jobs(std::span<const std::string> ids) = 0;
  Result<std::optional<JobView>> job(std::string_view id);
  Result<std::optional<JobView>> lock_job(std::string_view id);
  virtual Status update_job(const JobView& job) = 0;  // the row and its steps; of the request only the secret changes
  virtual Result<std::vector<JobView>> jobs(const JobFilter& filter) = 0;
  virtual Result<std::optional<JobView>> job_by_idempotency_key(std::string_view tenant, std::string_view key) = 0;
  // Ids of jobs that are not over and whose deadline is not after `now`.
  virtual Result<std::vector<std::string>> jobs_past_deadline(Millis now, int limit) = 0;
  // Ids of jobs (their deliver step included) that were over before `before`, oldest first.
  virtual Result<std::vector<std::string>> jobs_finished_before(Millis before, int limit) = 0;
  // With steps, tasks and events.
  virtual Status remove_job(std::string_view id) = 0;

  // Tasks come back in the order of their ids unless said otherwise.
  virtual Status insert_tasks(std::span<const Task> tasks) = 0;  // ids are ignored: the database gives them
  virtual Status update_tasks(std::span<const Task> tasks) = 0;  // job, kind, number, tenant and priority never change
  virtual Status remove_tasks(std::span<const std::int64_t> ids) = 0;
  virtual Result<std::vector<Task>> tasks(std::span<const std::int64_t> ids) = 0;
  // Of one job: by number. `from_number` and `limit` page through long jobs.
  virtual Result<std::vector<Task>> job_tasks(std::string_view job, StepKind kind, int from_number, int limit) = 0;
  virtual Result<std::vector<Task>> open_tasks(std::string_view job) = 0;    // those that are not over
  virtual Result<std::vector<Task>> failed_tasks(std::string_view job) = 0;  // failed, quarantined, or outcome failed

  // Lanes with ready tasks of these kinds; of each tenant, for suspects and for others, the one with the highest
  // priority.
  virtual Result<std::vector<Lane>> lanes(StepKinds kinds) = 0;
  // The first ready tasks of the lanes, locked; those that others have locked are passed over.
  virtual Result<std::vector<Task>> take_ready(StepKinds kinds, std::span<const Take> takes) = 0;
  // Waiting tasks whose moment has come become ready. Returns how many.
  virtual Result<int> wake_waiting(Millis now, int limit) = 0;
  // When the first waiting task's moment comes.
  virtual Result<std::optional<Millis>> next_wake() = 0;
  // Leased tasks whose lease has ended by `now`, the longest ended first.
  virtual Result<std::vector<Task>> expired_tasks(Millis now, int limit) = 0;
  // Tasks that are leased to this worker. Looks through all that are leased.
  virtual Result<std::vector<Task>> leased_to(std::string_view worker) = 0;
  // Extends leases that still hold; returns the ids of those.
  virtual Result<std::vector<std::int64_t>> extend(std::span<const Held> held, Millis until) = 0;

  virtual Status insert_events(std::span<const Event> events) = 0;
  virtual Result<std::vector<Event>> events(std::string_view job, std::int64_t after, int limit) = 0;

  virtual Status insert_key(const ApiKey& key) = 0;
  virtual Result<std::vector<ApiKey>> keys() = 0;
  virtual Result<std::optional<ApiKey>> key_by_sha256(std::string_view sha256) = 0;
  virtual Result<bool> revoke_key(std::string_view id, Millis now) = 0;  // false: there is no such key

  // Counts by indexes, without a row: what it costs grows with the tasks that are not over and with the jobs, so ask
  // now and then (service/queue_watch.h).
  virtual Result<QueueFigures> figures() = 0;
  // Jobs that are not over; costs less.
  virtual Result<std::int64_t> jobs_open() = 0;

  // Sent when the transaction is committed: to waiting workers, and to those who watch a job.
  virtual void tell_workers() = 0;
  virtual void tell_watchers(std::string_view job) = 0;
};

}  // namespace lectern::job
