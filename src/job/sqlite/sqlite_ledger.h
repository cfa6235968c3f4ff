// Ledger on an SQLite connection that is inside a transaction. Rows as in sqlite_schema.cpp.
#pragma once

#include "job/ledger.h"
#include "job/listener_slot.h"
#include "job/sqlite/sqlite_connection.h"

namespace lectern::job {

class SqliteLedger final : public Ledger {
 public:
  // The connection is borrowed.
  SqliteLedger(SqliteConnection& connection, Millis now) : connection_(connection), now_(now) {}

  const Hints& hints() const { return hints_; }

  Millis now() override { return now_; }
  Status insert_job(const JobView& job) override;
  Result<std::vector<JobView>> jobs_by_id(std::span<const std::string> ids) override;
  // Whoever writes is alone.
  Result<std::vector<JobView>> lock_jobs(std::span<const std::string> ids) override { return jobs_by_id(ids); }
  Status update_job(const JobView& job) override;
  Result<std::vector<JobView>> jobs(const JobFilter& filter) override;
  Result<std::optional<JobView>> job_by_idempotency_key(std::string_view tenant, std::string_view key) override;
  Result<std::vector<std::string>> jobs_past_deadline(Millis now, int limit) override;
  Result<std::vector<std::string>> jobs_finished_before(Millis before, int limit) override;
  Status remove_job(std::string_view id) override;

  Status insert_tasks(std::span<const Task> tasks) override;
  Status update_tasks(std::span<const Task> tasks) override;
  Status remove_tasks(std::span<const std::int64_t> ids) override;
  Result<std::vector<Task>> tasks(std::span<const std::int64_t> ids) override;
  Result<std::vector<Task>> job_tasks(std::string_view job, StepKind kind, int from_number, int limit) override;
  Result<std::vector<Task>> open_tasks(std::string_view job) override;
  Result<std::vector<Task>> failed_tasks(std::string_view job) override;
  Result<std::vector<Lane>> lanes(StepKinds kinds) override;
  Result<std::vector<Task>> take_ready(StepKinds kinds, std::span<const Take> takes) override;
  Result<int> wake_waiting(Millis now, int limit) override;
  Result<std::optional<Millis>> next_wake() override;
  Result<std::vector<Task>> expired_tasks(Millis now, int limit) override;
  Result<std::vector<Task>> leased_to(std::string_view worker) override;
  Result<std::vector<std::int64_t>> extend(std::span<const Held> held, Millis until) override;

  Status insert_events(std::span<const Event> events) override;
  Result<std::vector<Event>> events(std::string_view job, std::int64_t after, int limit) override;
  Status insert_key(const ApiKey& key) override;
  Result<std::vector<ApiKey>> keys() override;
  Result<std::optional<ApiKey>> key_by_sha256(std::string_view sha256) override;
  Result<bool> revoke_key(std::string_view id, Millis now) override;
  Result<QueueFigures> figures() override;
  Result<std::int64_t> jobs_open() override;
  void tell_workers() override { hints_.work = true; }
  void tell_watchers(std::string_view job) override { hints_.jobs.emplace(job); }

 private:
  Status read_jobs(SqliteStatement& jobs, std::vector<JobView>& into);
  Result<std::optional<std::int64_t>> first_ready();

  SqliteConnection& connection_;
  const Millis now_;
  Hints hints_;
};

}  // namespace lectern::job
