// The transaction itself; jobs, steps, events and keys.
#include <algorithm>
#include <map>
#include <utility>

#include "job/postgres/postgres_ledger.h"
#include "job/rows.h"

namespace lectern::job {
namespace {

constexpr const char* steps_of_jobs =
    "SELECT s.job, s.kind, s.phase, s.done, s.total, s.error, s.started_at, s.finished_at FROM unnest($1::text[]) AS "
    "wanted(job) JOIN steps AS s ON s.job = wanted.job";

std::vector<JobView> read_jobs(PostgresRows& rows) {
  std::vector<JobView> views;
  while (rows.next()) views.push_back({.job = read_job(rows)});
  return views;
}

void add_steps(std::vector<JobView>& views, PostgresRows& rows) {
  std::map<std::string, std::vector<Step>> by_job;
  while (rows.next()) {
    Step step = read_step(rows);
    by_job[step.job].push_back(std::move(step));
  }
  for (JobView& view : views) {
    view.steps = std::move(by_job[view.job.request.id]);
    std::ranges::sort(view.steps, {}, &Step::kind);
  }
}

// The columns of steps behind the job, as arrays.
struct StepArrays {
  std::vector<std::int64_t> kind, phase, done, total;
  std::vector<std::string> error;
  std::vector<std::optional<std::int64_t>> started_at, finished_at;

  explicit StepArrays(std::span<const Step> steps) {
    for (const Step& step : steps) {
      kind.push_back(code(step.kind));
      phase.push_back(code(step.phase));
      done.push_back(step.done);
      total.push_back(step.total);
      error.push_back(step.error);
      started_at.push_back(step.started_at);
      finished_at.push_back(step.finished_at);
    }
  }
};
#define STEP_ARRAYS                                                                                            \
  "unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bigint[]) AS " \
  "n(kind, phase, done, total, error, started_at, finished_at)"

Result<std::vector<std::string>> texts(Result<PostgresRows> rows) {
  if (!rows) return std::unexpected(rows.error());
  std::vector<std::string> all;
  while (rows->next()) all.push_back(rows->text());
  return all;
}

}  // namespace

PostgresLedger::PostgresLedger(PostgresConnection& connection, Database::Access access) : connection_(connection) {
  // Readers see one moment; writers see what others have committed by the time a lock is theirs.
  send(access == Database::Access::read ? "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
                                        : "BEGIN ISOLATION LEVEL READ COMMITTED");
  send("SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint");
}

Result<std::vector<PostgresRows>> PostgresLedger::flush() {
  auto answers = connection_.flush();
  if (std::exchange(first_, false) && answers) {
    PostgresRows& clock = answers->at(1);  // behind BEGIN
    clock.next();
    now_ = clock.number();
  }
  return answers;
}

Millis PostgresLedger::now() {
  // Where the server does not answer, neither will the commit.
  if (first_) std::ignore = flush();
  return now_;
}

Status PostgresLedger::commit() {
  auto ended = ask("COMMIT");
  if (!ended) return std::unexpected(ended.error());
  if (ended->command() != "COMMIT") return fail(ErrorKind::internal, "a failed transaction was to be committed");
  return {};
}

void PostgresLedger::rollback() {
  // What is still under way may fail, and then nothing behind it is run.
  if (!ask("ROLLBACK") && !connection_.broken()) std::ignore = ask("ROLLBACK");
}

Status PostgresLedger::insert_job(const JobView& view) {
  const Job& job = view.job;
  const NewJob& request = job.request;
  auto inserted =
      ask("INSERT INTO jobs (" LECTERN_JOB_COLUMNS
          ") VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,"
          "$27,$28) ON CONFLICT DO NOTHING",
          request.id, request.tenant, request.operation, request.priority, request.document, request.source,
          request.sha256, request.bytes, request.options, request.secret, request.webhook, request.deadline,
          request.idempotency_key, request.fingerprint, code(job.phase), job.pages.ok, job.pages.fallback,
          job.pages.failed, job.pages_total, job.info, job.result, job.error, job.created_at, job.started_at,
          job.finished_at, job.event_count, job.round, job.error_code);
  if (!inserted) return std::unexpected(inserted.error());
  if (inserted->affected() == 0) {
    return fail(ErrorKind::conflict, "job {} or its idempotency key '{}' is there already", request.id,
                request.idempotency_key);
  }
  const StepArrays steps(view.steps);
  send("INSERT INTO steps (" LECTERN_STEP_COLUMNS
       ") SELECT $1, kind, phase, done, total, error, started_at, finished_at FROM " STEP_ARRAYS,
       request.id, steps.kind, steps.phase, steps.done, steps.total, steps.error, steps.started_at, steps.finished_at);
  return {};
}

Result<std::vector<JobView>> PostgresLedger::jobs_and_steps(const char* sql, std::span<const std::string> ids) {
  if (ids.empty()) return std::vector<JobView>{};
  const std::vector<std::string> wanted(ids.begin(), ids.end());
  send(sql, wanted);
  // A statement of its own, after the locks are ours: within one statement the steps would be those of before the wait.
  send(steps_of_jobs, wanted);
  auto answers = flush();
  if (!answers) return std::unexpected(answers.error());
  std::vector<JobView> views = read_jobs(answers->at(answers->size() - 2));
  add_steps(views, answers->back());
  return views;
}

Result<std::vector<JobView>> PostgresLedger::jobs_by_id(std::span<const std::string> ids) {
  return jobs_and_steps(
      "SELECT " LECTERN_JOB_COLUMNS " FROM unnest($1::text[]) AS wanted(job) JOIN jobs ON id = wanted.job", ids);
}

Result<std::vector<JobView>> PostgresLedger::lock_jobs(std::span<const std::string> ids) {
  return jobs_and_steps("SELECT " LECTERN_JOB_COLUMNS
                        " FROM unnest($1::text[]) AS wanted(job) JOIN jobs ON id = wanted.job FOR UPDATE OF jobs",
                        ids);
}

Result<std::vector<JobView>> PostgresLedger::with_steps(PostgresRows jobs) {
  std::vector<JobView> views = read_jobs(jobs);
  std::vector<std::string> ids;
  for (const JobView& view : views) ids.push_back(view.job.request.id);
  if (views.empty()) return views;
  auto steps = ask(steps_of_jobs, ids);
  if (!steps) return std::unexpected(steps.error());
  add_steps(views, *steps);
  return views;
}

Status PostgresLedger::update_job(const JobView& view) {
  const Job& job = view.job;
  send(
      "UPDATE jobs SET secret = $2, phase = $3, pages_ok = $4, pages_fallback = $5, pages_failed = $6, pages_total = "
      "$7, info = $8, result = $9, error = $10, started_at = $11, finished_at = $12, event_count = $13, round = $14, "
      "error_code = $15 "
      "WHERE id = $1",
      job.request.id, job.request.secret, code(job.phase), job.pages.ok, job.pages.fallback, job.pages.failed,
      job.pages_total, job.info, job.result, job.error, job.started_at, job.finished_at, job.event_count, job.round,
      job.error_code);
  const StepArrays steps(view.steps);
  send(
      "UPDATE steps AS s SET phase = n.phase, done = n.done, total = n.total, error = n.error, started_at = "
      "n.started_at, finished_at = n.finished_at FROM " STEP_ARRAYS
      " WHERE s.job = $1 AND s.kind = n.kind AND (s.phase, s.done, s.total, s.error, s.started_at, s.finished_at) IS "
      "DISTINCT FROM (n.phase, n.done, n.total, n.error, n.started_at, n.finished_at)",
      job.request.id, steps.kind, steps.phase, steps.done, steps.total, steps.error, steps.started_at,
      steps.finished_at);
  return {};
}

Result<std::vector<JobView>> PostgresLedger::jobs(const JobFilter& filter) {
  const std::string_view before = filter.before.empty() ? after_all_ids : std::string_view(filter.before);
  const bool by_tenant = !filter.tenant.empty();
  const std::int64_t phase = filter.phase ? code(*filter.phase) : 0;
  auto found =
      by_tenant && filter.phase
          ? ask("SELECT " LECTERN_JOB_COLUMNS
                " FROM jobs WHERE tenant = $3 AND phase = $4 AND id < $1 ORDER BY id DESC LIMIT $2",
                before, filter.limit, filter.tenant, phase)
      : by_tenant
          ? ask("SELECT " LECTERN_JOB_COLUMNS " FROM jobs WHERE tenant = $3 AND id < $1 ORDER BY id DESC LIMIT $2",
                before, filter.limit, filter.tenant)
      : filter.phase
          ? ask("SELECT " LECTERN_JOB_COLUMNS " FROM jobs WHERE phase = $3 AND id < $1 ORDER BY id DESC LIMIT $2",
                before, filter.limit, phase)
          : ask("SELECT " LECTERN_JOB_COLUMNS " FROM jobs WHERE id < $1 ORDER BY id DESC LIMIT $2", before,
                filter.limit);
  if (!found) return std::unexpected(found.error());
  return with_steps(std::move(*found));
}

Result<std::optional<JobView>> PostgresLedger::job_by_idempotency_key(std::string_view tenant, std::string_view key) {
  auto found = ask("SELECT " LECTERN_JOB_COLUMNS
                   " FROM jobs WHERE tenant = $1 AND idempotency_key = $2 AND idempotency_key <> ''",
                   tenant, key);
  if (!found) return std::unexpected(found.error());
  auto views = with_steps(std::move(*found));
  if (!views) return std::unexpected(views.error());
  if (views->empty()) return std::nullopt;
  return std::move(views->front());
}

Result<std::vector<std::string>> PostgresLedger::jobs_past_deadline(Millis now, int limit) {
  return texts(
      ask("SELECT id FROM jobs WHERE deadline <= $1 AND deadline IS NOT NULL AND phase < 2 ORDER BY deadline LIMIT $2",
          now, limit));
}

Result<std::vector<std::string>> PostgresLedger::jobs_finished_before(Millis before, int limit) {
  return texts(ask(
      "SELECT id FROM jobs WHERE finished_at < $1 AND finished_at IS NOT NULL AND phase >= 2 AND NOT EXISTS (SELECT "
      "FROM steps WHERE steps.job = jobs.id AND steps.phase < 2) ORDER BY finished_at, id LIMIT $2",
      before, limit));
}

Status PostgresLedger::remove_job(std::string_view id) {
  for (const char* sql : {"DELETE FROM jobs WHERE id = $1", "DELETE FROM steps WHERE job = $1",
                          "DELETE FROM tasks WHERE job = $1", "DELETE FROM events WHERE job = $1"}) {
    send(sql, id);
  }
  return {};
}

Status PostgresLedger::insert_events(std::span<const Event> events) {
  std::vector<std::string> job, kind, data;
  std::vector<std::int64_t> number, at;
  for (const Event& event : events) {
    job.push_back(event.job);
    number.push_back(event.number);
    at.push_back(event.at);
    kind.push_back(event.kind);
    data.push_back(event.data);
  }
  send("INSERT INTO events (" LECTERN_EVENT_COLUMNS
       ") SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], "
       "$4::text[], $5::text[])",
       job, number, at, kind, data);
  return {};
}

Result<std::vector<Event>> PostgresLedger::events(std::string_view job, std::int64_t after, int limit) {
  auto found =
      ask("SELECT " LECTERN_EVENT_COLUMNS " FROM events WHERE job = $1 AND number > $2 ORDER BY number LIMIT $3", job,
          after, limit);
  if (!found) return std::unexpected(found.error());
  std::vector<Event> all;
  while (found->next()) all.push_back(read_event(*found));
  return all;
}

Status PostgresLedger::insert_key(const ApiKey& key) {
  auto inserted =
      ask("INSERT INTO api_keys (" LECTERN_KEY_COLUMNS ") VALUES ($1,$2,$3,$4,$5,$6,$7) ON CONFLICT DO NOTHING", key.id,
          key.name, key.tenant, key.sha256, key.scopes, key.created_at, key.revoked_at);
  if (!inserted) return std::unexpected(inserted.error());
  if (inserted->affected() == 0) return fail(ErrorKind::conflict, "key {} is there already", key.id);
  return {};
}

Result<std::vector<ApiKey>> PostgresLedger::keys() {
  auto found = ask("SELECT " LECTERN_KEY_COLUMNS " FROM api_keys ORDER BY created_at, id");
  if (!found) return std::unexpected(found.error());
  std::vector<ApiKey> all;
  while (found->next()) all.push_back(read_key(*found));
  return all;
}

Result<std::optional<ApiKey>> PostgresLedger::key_by_sha256(std::string_view sha256) {
  auto found = ask("SELECT " LECTERN_KEY_COLUMNS " FROM api_keys WHERE sha256 = $1", sha256);
  if (!found) return std::unexpected(found.error());
  if (!found->next()) return std::nullopt;
  return read_key(*found);
}

Result<bool> PostgresLedger::revoke_key(std::string_view id, Millis now) {
  auto updated = ask("UPDATE api_keys SET revoked_at = coalesce(revoked_at, $2) WHERE id = $1", id, now);
  if (!updated) return std::unexpected(updated.error());
  return updated->affected() > 0;
}

}  // namespace lectern::job
