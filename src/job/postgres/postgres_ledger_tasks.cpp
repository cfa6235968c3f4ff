// Tasks: the statements that run for every page, a batch at a time.
#include <algorithm>
#include <map>
#include <tuple>

#include "job/postgres/postgres_ledger.h"
#include "job/rows.h"

namespace lectern::job {
namespace {

std::vector<std::int64_t> codes(StepKinds kinds) {
  std::vector<std::int64_t> all;
  for (const StepKind kind : kinds) all.push_back(code(kind));
  return all;
}

// What changes in a task's life, as arrays.
struct TaskArrays {
  std::vector<std::int64_t> state, token, lease_until, not_before, attempts, losses, alone, outcome;
  std::vector<std::string> worker, result, error;
  std::vector<std::optional<std::int64_t>> started_at, finished_at;

  void add(const Task& task) {
    state.push_back(code(task.state));
    token.push_back(task.token);
    worker.push_back(task.worker);
    lease_until.push_back(task.lease_until);
    not_before.push_back(task.not_before);
    attempts.push_back(task.attempts);
    losses.push_back(task.losses);
    alone.push_back(task.alone ? 1 : 0);
    outcome.push_back(code(task.outcome));
    result.push_back(task.result);
    error.push_back(task.error);
    started_at.push_back(task.started_at);
    finished_at.push_back(task.finished_at);
  }
};

}  // namespace

template <class... Values>
Result<std::vector<Task>> PostgresLedger::ask_tasks(const char* sql, const Values&... values) {
  auto rows = ask(sql, values...);
  if (!rows) return std::unexpected(rows.error());
  std::vector<Task> all;
  all.reserve(static_cast<std::size_t>(rows->count()));
  while (rows->next()) all.push_back(read_task(*rows));
  return all;
}

Status PostgresLedger::insert_tasks(std::span<const Task> tasks) {
  std::vector<std::string> job, tenant;
  std::vector<std::int64_t> kind, number, priority;
  TaskArrays rest;
  for (const Task& task : tasks) {
    job.push_back(task.job);
    kind.push_back(code(task.kind));
    number.push_back(task.number);
    tenant.push_back(task.tenant);
    priority.push_back(task.priority);
    rest.add(task);
  }
  send(
      "INSERT INTO tasks (job, kind, number, tenant, priority, state, token, worker, lease_until, not_before, "
      "attempts, losses, alone, outcome, result, error, started_at, finished_at) SELECT * FROM unnest($1::text[], "
      "$2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[], $9::bigint[], "
      "$10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[], "
      "$17::bigint[], $18::bigint[])",
      job, kind, number, tenant, priority, rest.state, rest.token, rest.worker, rest.lease_until, rest.not_before,
      rest.attempts, rest.losses, rest.alone, rest.outcome, rest.result, rest.error, rest.started_at, rest.finished_at);
  return {};
}

Status PostgresLedger::update_tasks(std::span<const Task> tasks) {
  // In the order of ids: whoever locks several rows does so in the same order, or they wait for each other.
  std::vector<const Task*> sorted;
  for (const Task& task : tasks) sorted.push_back(&task);
  std::ranges::sort(sorted, {}, &Task::id);
  std::vector<std::int64_t> id;
  TaskArrays rest;
  for (const Task* task : sorted) {
    id.push_back(task->id);
    rest.add(*task);
  }
  send(
      "UPDATE tasks AS t SET state = n.state, token = n.token, worker = n.worker, lease_until = n.lease_until, "
      "not_before = n.not_before, attempts = n.attempts, losses = n.losses, alone = n.alone, outcome = n.outcome, "
      "result = n.result, error = n.error, started_at = n.started_at, finished_at = n.finished_at FROM "
      "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], "
      "$8::bigint[], $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::bigint[], $14::bigint[]) AS n(id, "
      "state, token, worker, lease_until, not_before, attempts, losses, alone, outcome, result, error, started_at, "
      "finished_at) WHERE t.id = n.id",
      id, rest.state, rest.token, rest.worker, rest.lease_until, rest.not_before, rest.attempts, rest.losses,
      rest.alone, rest.outcome, rest.result, rest.error, rest.started_at, rest.finished_at);
  return {};
}

Status PostgresLedger::remove_tasks(std::span<const std::int64_t> ids) {
  send("DELETE FROM tasks WHERE id = ANY($1::bigint[])", std::vector(ids.begin(), ids.end()));
  return {};
}

Result<std::vector<Task>> PostgresLedger::tasks(std::span<const std::int64_t> ids) {
  if (ids.empty()) return std::vector<Task>{};
  auto found = ask_tasks("SELECT " LECTERN_TASK_COLUMNS " FROM tasks WHERE id = ANY($1::bigint[])",
                         std::vector(ids.begin(), ids.end()));
  if (found) std::ranges::sort(*found, {}, &Task::id);
  return found;
}

Result<std::vector<Task>> PostgresLedger::job_tasks(std::string_view job, StepKind kind, int from_number, int limit) {
  return ask_tasks("SELECT " LECTERN_TASK_COLUMNS
                   " FROM tasks WHERE job = $1 AND kind = $2 AND number >= $3 ORDER BY number LIMIT $4",
                   job, code(kind), from_number, limit);
}

Result<std::vector<Task>> PostgresLedger::open_tasks(std::string_view job) {
  auto found = ask_tasks("SELECT " LECTERN_TASK_COLUMNS " FROM tasks WHERE job = $1 AND state < 3", job);
  if (found) std::ranges::sort(*found, {}, &Task::id);
  return found;
}

Result<std::vector<Task>> PostgresLedger::failed_tasks(std::string_view job) {
  auto found = ask_tasks("SELECT " LECTERN_TASK_COLUMNS
                         " FROM tasks WHERE job = $1 AND (state IN (4, 5) OR (state = 3 AND outcome = 3))",
                         job);
  if (found) std::ranges::sort(*found, {}, &Task::id);
  return found;
}

Result<std::vector<Lane>> PostgresLedger::lanes(StepKinds kinds) {
  // From tenant to tenant by the index, whose first entry of a tenant is its best: what it costs grows with the number
  // of tenants, not of tasks.
  auto rows = ask(
      "WITH RECURSIVE lane(alone, kind, tenant, priority) AS ("
      " SELECT a.alone, k.kind, f.tenant, f.priority FROM unnest($1::bigint[]) AS k(kind) CROSS JOIN (VALUES (0), (1)) "
      " AS a(alone) CROSS JOIN LATERAL (SELECT tenant, priority FROM tasks WHERE state = 1 AND alone = a.alone AND "
      "kind "
      " = k.kind ORDER BY tenant, priority DESC LIMIT 1) AS f"
      " UNION ALL "
      " SELECT l.alone, l.kind, f.tenant, f.priority FROM lane AS l CROSS JOIN LATERAL (SELECT tenant, priority FROM "
      " tasks WHERE state = 1 AND alone = l.alone AND kind = l.kind AND tenant > l.tenant ORDER BY tenant, priority "
      " DESC LIMIT 1) AS f) "
      "SELECT tenant, max(priority), (SELECT count(*) FROM tasks WHERE state = 2 AND tasks.tenant = lane.tenant), "
      "alone "
      "FROM lane GROUP BY tenant, alone",
      codes(kinds));
  if (!rows) return std::unexpected(rows.error());
  std::vector<Lane> found;
  while (rows->next()) {
    Lane lane;
    lane.tenant = rows->text();
    lane.priority = static_cast<int>(rows->number());
    lane.leased = static_cast<int>(rows->number());
    lane.alone = rows->number() != 0;
    found.push_back(std::move(lane));
  }
  return found;
}

Result<std::vector<Task>> PostgresLedger::take_ready(StepKinds kinds, std::span<const Take> takes) {
  std::vector<std::string> tenants;
  std::vector<std::int64_t> priorities, counts, alone;
  using Lane = std::tuple<std::string, int, bool>;
  std::map<Lane, int> left;
  for (const Take& take : takes) {
    tenants.push_back(take.tenant);
    priorities.push_back(take.priority);
    counts.push_back(take.count);
    alone.push_back(take.alone ? 1 : 0);
    left[{take.tenant, take.priority, take.alone}] = take.count;
  }
  // A few more than wanted may be locked until the transaction ends, where a lane has tasks of several kinds.
  auto found = ask_tasks(
      "SELECT t.* FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS w(tenant, priority, count, "
      "alone) CROSS JOIN unnest($5::bigint[]) AS k(kind) CROSS JOIN LATERAL (SELECT " LECTERN_TASK_COLUMNS
      " FROM tasks WHERE state = 1 AND alone = w.alone AND kind = k.kind AND tenant = w.tenant AND priority = "
      "w.priority ORDER BY (-id) DESC LIMIT w.count FOR UPDATE SKIP LOCKED) AS t",
      tenants, priorities, counts, alone, codes(kinds));
  if (!found) return found;
  std::ranges::sort(*found, {}, &Task::id);
  std::erase_if(*found, [&](const Task& task) { return left[Lane(task.tenant, task.priority, task.alone)]-- <= 0; });
  return found;
}

Result<int> PostgresLedger::wake_waiting(Millis now, int limit) {
  auto woken =
      ask("UPDATE tasks SET state = 1 WHERE id = ANY (ARRAY(SELECT id FROM tasks WHERE state = 0 AND not_before <= $1 "
          "ORDER "
          "BY not_before LIMIT $2 FOR UPDATE SKIP LOCKED))",
          now, limit);
  if (!woken) return std::unexpected(woken.error());
  return static_cast<int>(woken->affected());
}

Result<std::optional<Millis>> PostgresLedger::next_wake() {
  auto found = ask("SELECT min(not_before) FROM tasks WHERE state = 0");
  if (!found) return std::unexpected(found.error());
  found->next();
  return found->maybe_number();
}

Result<std::vector<Task>> PostgresLedger::expired_tasks(Millis now, int limit) {
  return ask_tasks("SELECT " LECTERN_TASK_COLUMNS
                   " FROM tasks WHERE state = 2 AND lease_until <= $1 ORDER BY lease_until, id LIMIT $2",
                   now, limit);
}

Result<std::vector<Task>> PostgresLedger::leased_to(std::string_view worker) {
  auto found = ask_tasks("SELECT " LECTERN_TASK_COLUMNS " FROM tasks WHERE state = 2 AND worker = $1", worker);
  if (found) std::ranges::sort(*found, {}, &Task::id);
  return found;
}

Result<std::vector<std::int64_t>> PostgresLedger::extend(std::span<const Held> held, Millis until) {
  if (held.empty()) return std::vector<std::int64_t>{};
  std::vector<Held> sorted(held.begin(), held.end());
  std::ranges::sort(sorted, {}, &Held::task);
  std::vector<std::int64_t> ids, tokens;
  for (const Held& one : sorted) {
    ids.push_back(one.task);
    tokens.push_back(one.token);
  }
  auto rows =
      ask("UPDATE tasks AS t SET lease_until = $3 FROM unnest($1::bigint[], $2::bigint[]) AS h(id, token) WHERE t.id = "
          "h.id "
          "AND t.token = h.token AND t.state = 2 RETURNING t.id",
          ids, tokens, until);
  if (!rows) return std::unexpected(rows.error());
  std::vector<std::int64_t> still;
  while (rows->next()) still.push_back(rows->number());
  return still;
}

}  // namespace lectern::job
