#include "job/sqlite/sqlite_database.h"

namespace lectern::job {
namespace {

// The indexes of tasks are partial, so that a claim finds what is ready among millions that are not: state 0 is
// waiting, 1 ready, 2 leased (row_codes.h). AUTOINCREMENT: the id of a task that was removed must not come back, or a
// late worker's lease would fit another task.
constexpr std::string_view version_1 = R"(
CREATE TABLE jobs (
  id TEXT NOT NULL PRIMARY KEY,
  tenant TEXT NOT NULL,
  operation TEXT NOT NULL,
  priority INTEGER NOT NULL,
  document TEXT NOT NULL,
  source TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  options TEXT NOT NULL,
  secret TEXT NOT NULL,
  webhook TEXT NOT NULL,
  deadline INTEGER,
  idempotency_key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  phase INTEGER NOT NULL,
  pages_ok INTEGER NOT NULL,
  pages_fallback INTEGER NOT NULL,
  pages_failed INTEGER NOT NULL,
  pages_total INTEGER NOT NULL,
  info TEXT NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  event_count INTEGER NOT NULL,
  round INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX jobs_by_key ON jobs (tenant, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX jobs_by_tenant ON jobs (tenant, id);
CREATE INDEX jobs_by_phase ON jobs (phase, id);
CREATE INDEX jobs_by_tenant_and_phase ON jobs (tenant, phase, id);
CREATE INDEX jobs_by_deadline ON jobs (deadline) WHERE deadline IS NOT NULL AND phase < 2;
CREATE INDEX jobs_by_end ON jobs (finished_at, id) WHERE finished_at IS NOT NULL;

CREATE TABLE steps (
  job TEXT NOT NULL,
  kind INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  done INTEGER NOT NULL,
  total INTEGER NOT NULL,
  error TEXT NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  PRIMARY KEY (job, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL,
  kind INTEGER NOT NULL,
  number INTEGER NOT NULL,
  tenant TEXT NOT NULL,
  priority INTEGER NOT NULL,
  state INTEGER NOT NULL,
  token INTEGER NOT NULL,
  worker TEXT NOT NULL,
  lease_until INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  alone INTEGER NOT NULL,
  outcome INTEGER NOT NULL,
  result TEXT NOT NULL,
  error TEXT NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX tasks_by_job ON tasks (job, kind, number);
CREATE INDEX tasks_ready ON tasks (alone, kind, tenant, priority DESC, id) WHERE state = 1;
CREATE INDEX tasks_in_hand ON tasks (tenant) WHERE state = 2;
CREATE INDEX tasks_by_lease ON tasks (lease_until, id) WHERE state = 2;
CREATE INDEX tasks_by_wake ON tasks (not_before) WHERE state = 0;

CREATE TABLE events (
  job TEXT NOT NULL,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_by_sha256 ON api_keys (sha256);
)";

constexpr std::string_view version_2 = "ALTER TABLE jobs ADD COLUMN error_code TEXT NOT NULL DEFAULT ''";

constexpr Migration migrations[] = {{.version = 1, .sql = version_1}, {.version = 2, .sql = version_2}};

}  // namespace

std::span<const Migration> sqlite_migrations() {
  return migrations;
}

}  // namespace lectern::job
