// Jobs in memory: for tests and the seeded simulation, and the plainest statement of what a Ledger does. Not durable.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "job/ledger.h"

namespace lectern::job {

// The tables. A transaction is rolled back by putting a copy back.
struct MemoryTables {
  std::map<std::string, JobView> jobs;
  std::map<std::int64_t, Task> tasks;
  std::map<std::string, std::vector<Event>> events;
  std::map<std::string, ApiKey> keys;
  std::int64_t last_task = 0;
};

// One transaction. The tables are borrowed.
class MemoryLedger final : public Ledger {
 public:
  MemoryLedger(MemoryTables& tables, Millis now) : tables_(tables), now_(now) {}

  bool workers_told() const { return workers_told_; }
  const std::vector<std::string>& watched_jobs() const { return watched_jobs_; }

  Millis now() override { return now_; }
  Status insert_job(const JobView& job) override;
  Result<std::vector<JobView>> jobs_by_id(std::span<const std::string> ids) override;
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
  void tell_workers() override { workers_told_ = true; }
  void tell_watchers(std::string_view job) override { watched_jobs_.emplace_back(job); }

 private:
  template <class Wanted>
  std::vector<Task> tasks_where(Wanted wanted, std::size_t limit) const;

  MemoryTables& tables_;
  const Millis now_;
  bool workers_told_ = false;
  std::vector<std::string> watched_jobs_;
};

}  // namespace lectern::job
