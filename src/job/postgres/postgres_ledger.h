// Ledger on a PostgreSQL connection that is inside a transaction. Rows as in postgres_schema.cpp. What changes rows is
// sent without waiting and answered with the next question or the commit: an error shows there.
#pragma once

#include "job/ledger.h"
#include "job/listener_slot.h"
#include "job/postgres/postgres_connection.h"

namespace lectern::job {

class PostgresLedger final : public Ledger {
 public:
  // Begins the transaction. The connection is borrowed.
  PostgresLedger(PostgresConnection& connection, Database::Access access);

  const Hints& hints() const { return hints_; }
  // The end of the transaction; one of the two. Errors of commit(): that of any statement before it, and then nothing
  // is committed unless the connection is broken().
  Status commit();
  void rollback();

  Millis now() override;
  Status insert_job(const JobView& job) override;
  Result<std::vector<JobView>> jobs_by_id(std::span<const std::string> ids) override;
  Result<std::vector<JobView>> lock_jobs(std::span<const std::string> ids) override;
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
  template <class... Values>
  void send(const char* sql, const Values&... values) {
    connection_.queue(sql, PostgresParameters(values...));
  }
  template <class... Values>
  Result<PostgresRows> ask(const char* sql, const Values&... values) {
    send(sql, values...);
    auto answers = flush();
    if (!answers) return std::unexpected(answers.error());
    return std::move(answers->back());
  }
  template <class... Values>
  Result<std::vector<Task>> ask_tasks(const char* sql, const Values&... values);
  Result<std::vector<PostgresRows>> flush();
  Result<std::vector<JobView>> with_steps(PostgresRows jobs);
  Result<std::vector<JobView>> jobs_and_steps(const char* sql, std::span<const std::string> ids);

  PostgresConnection& connection_;
  bool first_ = true;  // the transaction's beginning is not answered yet
  Millis now_ = 0;
  Hints hints_;
};

}  // namespace lectern::job
