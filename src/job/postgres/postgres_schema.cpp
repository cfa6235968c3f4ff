#include "job/postgres/postgres_schema.h"

#include <fmt/format.h>

namespace lectern::job {
namespace {

// The indexes of tasks are partial, so that a claim finds what is ready among millions that are not: state 0 is
// waiting, 1 ready, 2 leased (row_codes.h). In tasks_ready the id is negated: ordered by it, only this index can serve,
// and the planner cannot fall for the primary key, where a million tasks that are over stand before the first ready
// one. Rows of tasks change three times in their life and never stay in place: the vacuum must not wait for a fifth of
// the table. Rows of jobs and steps change with every commit: room in their pages keeps them where they are.
constexpr std::string_view version_1 = R"(
CREATE TABLE jobs (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  operation text NOT NULL,
  priority integer NOT NULL,
  document text NOT NULL,
  source text NOT NULL,
  sha256 text NOT NULL,
  bytes bigint NOT NULL,
  options text NOT NULL,
  secret text NOT NULL,
  webhook text NOT NULL,
  deadline bigint,
  idempotency_key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  phase smallint NOT NULL,
  pages_ok integer NOT NULL,
  pages_fallback integer NOT NULL,
  pages_failed integer NOT NULL,
  pages_total integer NOT NULL,
  info text NOT NULL,
  result text NOT NULL,
  error text NOT NULL,
  created_at bigint NOT NULL,
  started_at bigint,
  finished_at bigint,
  event_count bigint NOT NULL,
  round integer NOT NULL
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX jobs_by_key ON jobs (tenant, idempotency_key) WHERE idempotency_key <> '';
CREATE INDEX jobs_by_tenant ON jobs (tenant, id);
CREATE INDEX jobs_by_phase ON jobs (phase, id);
CREATE INDEX jobs_by_tenant_and_phase ON jobs (tenant, phase, id);
CREATE INDEX jobs_by_deadline ON jobs (deadline) WHERE deadline IS NOT NULL AND phase < 2;
CREATE INDEX jobs_by_end ON jobs (finished_at, id) WHERE finished_at IS NOT NULL;

CREATE TABLE steps (
  job text COLLATE "C" NOT NULL,
  kind smallint NOT NULL,
  phase smallint NOT NULL,
  done integer NOT NULL,
  total integer NOT NULL,
  error text NOT NULL,
  started_at bigint,
  finished_at bigint,
  PRIMARY KEY (job, kind)
) WITH (fillfactor = 50);

CREATE TABLE tasks (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job text COLLATE "C" NOT NULL,
  kind smallint NOT NULL,
  number integer NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  priority integer NOT NULL,
  state smallint NOT NULL,
  token bigint NOT NULL,
  worker text NOT NULL,
  lease_until bigint NOT NULL,
  not_before bigint NOT NULL,
  attempts integer NOT NULL,
  losses integer NOT NULL,
  alone smallint NOT NULL,
  outcome smallint NOT NULL,
  result text NOT NULL,
  error text NOT NULL,
  started_at bigint,
  finished_at bigint
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX tasks_by_job ON tasks (job, kind, number);
CREATE INDEX tasks_ready ON tasks (alone, kind, tenant, priority DESC, (-id) DESC) WHERE state = 1;
CREATE INDEX tasks_in_hand ON tasks (tenant) WHERE state = 2;
CREATE INDEX tasks_by_lease ON tasks (lease_until, id) WHERE state = 2;
CREATE INDEX tasks_by_wake ON tasks (not_before) WHERE state = 0;

CREATE TABLE events (
  job text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  at bigint NOT NULL,
  kind text NOT NULL,
  data text NOT NULL,
  PRIMARY KEY (job, number)
);

CREATE TABLE api_keys (
  id text COLLATE "C" PRIMARY KEY,
  name text NOT NULL,
  tenant text NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  scopes text NOT NULL,
  created_at bigint NOT NULL,
  revoked_at bigint
);
CREATE INDEX api_keys_by_sha256 ON api_keys (sha256);
)";

constexpr std::string_view version_2 = "ALTER TABLE jobs ADD COLUMN error_code text NOT NULL DEFAULT ''";

constexpr Migration migrations[] = {{.version = 1, .sql = version_1}, {.version = 2, .sql = version_2}};

// Taken by whoever changes the schema, so that programs that start together do it once. Any number; ours alone.
constexpr std::string_view lock_schema = "SELECT pg_advisory_xact_lock(5495231178)";

Status bring_up_to_date(PostgresConnection& connection, std::span<const Migration> known, std::string_view where) {
  if (auto locked = connection.execute(std::string(lock_schema)); !locked) return std::unexpected(locked.error());
  const auto found = schema_version(connection);  // somebody else may have been first
  if (!found) return std::unexpected(found.error());
  const auto missing = migrations_after(*found, known, where);
  if (!missing) return std::unexpected(missing.error());
  if (*found == 0) {
    auto made = connection.execute(
        "CREATE SCHEMA IF NOT EXISTS lectern; CREATE TABLE lectern.schema_version (version integer PRIMARY KEY)");
    if (!made) return std::unexpected(made.error());
  }
  for (const Migration& one : *missing) {
    auto done = connection.execute(std::string(one.sql));
    if (!done) return std::unexpected(done.error());
    done = connection.execute(fmt::format("INSERT INTO lectern.schema_version VALUES ({})", one.version));
    if (!done) return std::unexpected(done.error());
  }
  return {};
}

}  // namespace

Result<int> schema_version(PostgresConnection& connection) {
  // Not to_regclass(): that may remember from before somebody else's commit that there was none.
  auto table = connection.execute(
      "SELECT count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE "
      "n.nspname = 'lectern' AND c.relname = 'schema_version'");
  if (!table) return std::unexpected(table.error());
  if (table->next(); table->number() == 0) return 0;
  auto version = connection.execute("SELECT coalesce(max(version), 0) FROM lectern.schema_version");
  if (!version) return std::unexpected(version.error());
  version->next();
  return static_cast<int>(version->number());
}

std::span<const Migration> postgres_migrations() {
  return migrations;
}

Status migrate(PostgresConnection& connection, std::span<const Migration> known, std::string_view where) {
  const auto found = schema_version(connection);
  if (!found) return std::unexpected(found.error());
  const auto missing = migrations_after(*found, known, where);
  if (!missing) return std::unexpected(missing.error());
  if (missing->empty()) return {};  // no rights are needed, and nobody is waited for
  auto begun = connection.execute("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0");
  if (!begun) return std::unexpected(begun.error());
  auto done = bring_up_to_date(connection, known, where);
  auto ended = connection.execute(done ? "COMMIT" : "ROLLBACK");
  if (done && !ended) return std::unexpected(ended.error());
  return done;
}

}  // namespace lectern::job
