// Jobs, steps, events and keys.
#include "job/rows.h"
#include "job/sqlite/sqlite_ledger.h"

namespace lectern::job {
namespace {

Result<std::vector<std::string>> texts(SqliteStatement& rows) {
  std::vector<std::string> all;
  for (;;) {
    const auto row = rows.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return all;
    all.push_back(rows.text());
  }
}

}  // namespace

Status SqliteLedger::insert_job(const JobView& view) {
  const Job& job = view.job;
  const NewJob& request = job.request;
  auto insert = connection_.statement("INSERT OR IGNORE INTO jobs (" LECTERN_JOB_COLUMNS
                                      ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  insert.bind(request.id, request.tenant, request.operation, request.priority, request.document, request.source,
              request.sha256, request.bytes, request.options, request.secret, request.webhook, request.deadline,
              request.idempotency_key, request.fingerprint, code(job.phase), job.pages.ok, job.pages.fallback,
              job.pages.failed, job.pages_total, job.info, job.result, job.error, job.created_at, job.started_at,
              job.finished_at, job.event_count, job.round, job.error_code);
  if (auto done = insert.run(); !done) return done;
  if (connection_.changes() == 0) {
    return fail(ErrorKind::conflict, "job {} or its idempotency key '{}' is there already", request.id,
                request.idempotency_key);
  }
  auto step = connection_.statement("INSERT INTO steps VALUES (?,?,?,?,?,?,?,?)");
  for (const Step& one : view.steps) {
    step.again();
    step.bind(request.id, code(one.kind), code(one.phase), one.done, one.total, one.error, one.started_at,
              one.finished_at);
    if (auto done = step.run(); !done) return done;
  }
  return {};
}

// Adds the jobs with their steps.
Status SqliteLedger::read_jobs(SqliteStatement& jobs, std::vector<JobView>& into) {
  const std::size_t before = into.size();
  for (;;) {
    const auto row = jobs.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) break;
    into.push_back({.job = read_job(jobs)});
  }
  auto steps = connection_.statement(
      "SELECT job, kind, phase, done, total, error, started_at, finished_at FROM steps WHERE job = ? ORDER BY kind");
  for (JobView& view : std::span(into).subspan(before)) {
    steps.again();
    steps.bind(view.job.request.id);
    for (;;) {
      const auto row = steps.step();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      view.steps.push_back(read_step(steps));
    }
  }
  return {};
}

Result<std::vector<JobView>> SqliteLedger::jobs_by_id(std::span<const std::string> ids) {
  auto find = connection_.statement("SELECT " LECTERN_JOB_COLUMNS " FROM jobs WHERE id = ?");
  std::vector<JobView> found;
  for (const std::string& id : ids) {
    find.again();
    if (auto done = read_jobs(find.bind(id), found); !done) return std::unexpected(done.error());
  }
  return found;
}

Status SqliteLedger::update_job(const JobView& view) {
  const Job& job = view.job;
  auto update = connection_.statement(
      "UPDATE jobs SET secret = ?, phase = ?, pages_ok = ?, pages_fallback = ?, pages_failed = ?, pages_total = ?, "
      "info = ?, result = ?, error = ?, started_at = ?, finished_at = ?, event_count = ?, round = ?, error_code = ? "
      "WHERE id = ?");
  update.bind(job.request.secret, code(job.phase), job.pages.ok, job.pages.fallback, job.pages.failed, job.pages_total,
              job.info, job.result, job.error, job.started_at, job.finished_at, job.event_count, job.round,
              job.error_code, job.request.id);
  if (auto done = update.run(); !done) return done;
  auto step = connection_.statement(
      "UPDATE steps SET phase = ?, done = ?, total = ?, error = ?, started_at = ?, finished_at = ? "
      "WHERE job = ? AND kind = ?");
  for (const Step& one : view.steps) {
    step.again();
    step.bind(code(one.phase), one.done, one.total, one.error, one.started_at, one.finished_at, job.request.id,
              code(one.kind));
    if (auto done = step.run(); !done) return done;
  }
  return {};
}

Result<std::vector<JobView>> SqliteLedger::jobs(const JobFilter& filter) {
  // One statement for each index.
  const bool by_tenant = !filter.tenant.empty();
  const char* sql = by_tenant && filter.phase ? "SELECT " LECTERN_JOB_COLUMNS
                                                " FROM jobs INDEXED BY jobs_by_tenant_and_phase WHERE id < ?1 AND "
                                                "tenant = ?3 AND phase = ?4 ORDER BY id DESC LIMIT ?2"
                    : by_tenant ? "SELECT " LECTERN_JOB_COLUMNS
                                  " FROM jobs INDEXED BY jobs_by_tenant WHERE id < ?1 AND tenant = ?3 "
                                  "ORDER BY id DESC LIMIT ?2"
                    : filter.phase ? "SELECT " LECTERN_JOB_COLUMNS
                                     " FROM jobs INDEXED BY jobs_by_phase WHERE id < ?1 AND phase = ?3 "
                                     "ORDER BY id DESC LIMIT ?2"
                                   : "SELECT " LECTERN_JOB_COLUMNS " FROM jobs WHERE id < ?1 ORDER BY id DESC LIMIT ?2";
  auto found = connection_.statement(sql);
  found.bind(filter.before.empty() ? after_all_ids : std::string_view(filter.before), filter.limit);
  if (by_tenant) found.bind(filter.tenant);
  if (filter.phase) found.bind(code(*filter.phase));
  std::vector<JobView> views;
  if (auto done = read_jobs(found, views); !done) return std::unexpected(done.error());
  return views;
}

Result<std::optional<JobView>> SqliteLedger::job_by_idempotency_key(std::string_view tenant, std::string_view key) {
  auto found = connection_.statement("SELECT " LECTERN_JOB_COLUMNS
                                     " FROM jobs INDEXED BY jobs_by_key WHERE tenant = ? AND idempotency_key = ? AND "
                                     "idempotency_key <> ''");
  std::vector<JobView> views;
  if (auto done = read_jobs(found.bind(tenant, key), views); !done) return std::unexpected(done.error());
  if (views.empty()) return std::nullopt;
  return std::move(views.front());
}

Result<std::vector<std::string>> SqliteLedger::jobs_past_deadline(Millis now, int limit) {
  auto found = connection_.statement(
      "SELECT id FROM jobs INDEXED BY jobs_by_deadline WHERE deadline <= ? AND deadline IS NOT NULL AND phase < 2 "
      "ORDER BY deadline LIMIT ?");
  return texts(found.bind(now, limit));
}

Result<std::vector<std::string>> SqliteLedger::jobs_finished_before(Millis before, int limit) {
  auto found = connection_.statement(
      "SELECT id FROM jobs INDEXED BY jobs_by_end WHERE finished_at < ? AND finished_at IS NOT NULL AND phase >= 2 AND "
      "NOT EXISTS (SELECT 1 FROM steps WHERE steps.job = jobs.id AND steps.phase < 2) ORDER BY finished_at, id LIMIT "
      "?");
  return texts(found.bind(before, limit));
}

Status SqliteLedger::remove_job(std::string_view id) {
  for (const char* sql : {"DELETE FROM jobs WHERE id = ?", "DELETE FROM steps WHERE job = ?",
                          "DELETE FROM tasks WHERE job = ?", "DELETE FROM events WHERE job = ?"}) {
    auto remove = connection_.statement(sql);
    if (auto done = remove.bind(id).run(); !done) return done;
  }
  return {};
}

Status SqliteLedger::insert_events(std::span<const Event> events) {
  auto insert = connection_.statement("INSERT INTO events (" LECTERN_EVENT_COLUMNS ") VALUES (?,?,?,?,?)");
  for (const Event& event : events) {
    insert.again();
    insert.bind(event.job, event.number, event.at, event.kind, event.data);
    if (auto done = insert.run(); !done) return done;
  }
  return {};
}

Result<std::vector<Event>> SqliteLedger::events(std::string_view job, std::int64_t after, int limit) {
  auto found = connection_.statement("SELECT " LECTERN_EVENT_COLUMNS
                                     " FROM events WHERE job = ? AND number > ? ORDER BY number LIMIT ?");
  found.bind(job, after, limit);
  std::vector<Event> all;
  for (;;) {
    const auto row = found.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return all;
    all.push_back(read_event(found));
  }
}

Status SqliteLedger::insert_key(const ApiKey& key) {
  auto insert =
      connection_.statement("INSERT OR IGNORE INTO api_keys (" LECTERN_KEY_COLUMNS ") VALUES (?,?,?,?,?,?,?)");
  insert.bind(key.id, key.name, key.tenant, key.sha256, key.scopes, key.created_at, key.revoked_at);
  if (auto done = insert.run(); !done) return done;
  if (connection_.changes() == 0) return fail(ErrorKind::conflict, "key {} is there already", key.id);
  return {};
}

Result<std::vector<ApiKey>> SqliteLedger::keys() {
  auto found = connection_.statement("SELECT " LECTERN_KEY_COLUMNS " FROM api_keys ORDER BY created_at, id");
  std::vector<ApiKey> all;
  for (;;) {
    const auto row = found.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return all;
    all.push_back(read_key(found));
  }
}

Result<std::optional<ApiKey>> SqliteLedger::key_by_sha256(std::string_view sha256) {
  auto found = connection_.statement("SELECT " LECTERN_KEY_COLUMNS " FROM api_keys WHERE sha256 = ?");
  const auto row = found.bind(sha256).step();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return read_key(found);
}

Result<bool> SqliteLedger::revoke_key(std::string_view id, Millis now) {
  auto update = connection_.statement("UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?");
  if (auto done = update.bind(now, id).run(); !done) return std::unexpected(done.error());
  return connection_.changes() > 0;
}

}  // namespace lectern::job
