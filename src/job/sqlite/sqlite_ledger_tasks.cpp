// Tasks: the statements that run for every page.
#include <algorithm>
#include <map>

#include "job/rows.h"
#include "job/sqlite/sqlite_ledger.h"

namespace lectern::job {
namespace {

Status read_tasks(SqliteStatement& rows, std::vector<Task>& into) {
  for (;;) {
    const auto row = rows.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
    into.push_back(read_task(rows));
  }
}

Result<std::vector<Task>> all_tasks(SqliteStatement& rows) {
  std::vector<Task> tasks;
  if (auto done = read_tasks(rows, tasks); !done) return std::unexpected(done.error());
  return tasks;
}

}  // namespace

Status SqliteLedger::insert_tasks(std::span<const Task> tasks) {
  auto insert = connection_.statement("INSERT INTO tasks (" LECTERN_TASK_COLUMNS
                                      ") VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
  for (const Task& task : tasks) {
    insert.again();
    insert.bind(task.job, code(task.kind), task.number, task.tenant, task.priority, code(task.state), task.token,
                task.worker, task.lease_until, task.not_before, task.attempts, task.losses, task.alone,
                code(task.outcome), task.result, task.error, task.started_at, task.finished_at);
    if (auto done = insert.run(); !done) return done;
  }
  return {};
}

Status SqliteLedger::update_tasks(std::span<const Task> tasks) {
  // Without the columns that never change: their index is left alone then.
  auto update = connection_.statement(
      "UPDATE tasks SET state = ?, token = ?, worker = ?, lease_until = ?, not_before = ?, attempts = ?, losses = ?, "
      "alone = ?, outcome = ?, result = ?, error = ?, started_at = ?, finished_at = ? WHERE id = ?");
  for (const Task& task : tasks) {
    update.again();
    update.bind(code(task.state), task.token, task.worker, task.lease_until, task.not_before, task.attempts,
                task.losses, task.alone, code(task.outcome), task.result, task.error, task.started_at, task.finished_at,
                task.id);
    if (auto done = update.run(); !done) return done;
  }
  return {};
}

Status SqliteLedger::remove_tasks(std::span<const std::int64_t> ids) {
  auto remove = connection_.statement("DELETE FROM tasks WHERE id = ?");
  for (const std::int64_t id : ids) {
    remove.again();
    if (auto done = remove.bind(id).run(); !done) return done;
  }
  return {};
}

Result<std::vector<Task>> SqliteLedger::tasks(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS " FROM tasks WHERE id = ?");
  std::vector<Task> found;
  found.reserve(sorted.size());
  for (const std::int64_t id : sorted) {
    find.again();
    if (auto done = read_tasks(find.bind(id), found); !done) return std::unexpected(done.error());
  }
  return found;
}

Result<std::vector<Task>> SqliteLedger::job_tasks(std::string_view job, StepKind kind, int from_number, int limit) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_by_job WHERE job = ? AND kind = ? AND number >= ? "
                                    "ORDER BY number LIMIT ?");
  return all_tasks(find.bind(job, code(kind), from_number, limit));
}

Result<std::vector<Task>> SqliteLedger::open_tasks(std::string_view job) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_by_job WHERE job = ? AND state < 3 ORDER BY id");
  return all_tasks(find.bind(job));
}

Result<std::vector<Task>> SqliteLedger::failed_tasks(std::string_view job) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_by_job WHERE job = ? AND (state IN (4, 5) OR (state "
                                    "= 3 AND outcome = 3)) ORDER BY id");
  return all_tasks(find.bind(job));
}

Result<std::vector<Lane>> SqliteLedger::lanes(StepKinds kinds) {
  // From tenant to tenant by the index, whose first entry of a tenant is its best: what it costs grows with the number
  // of tenants, not of tasks.
  auto first = connection_.statement(
      "SELECT tenant, priority FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? "
      "ORDER BY tenant, priority DESC LIMIT 1");
  auto next = connection_.statement(
      "SELECT tenant, priority FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? AND "
      "tenant > ? ORDER BY tenant, priority DESC LIMIT 1");
  std::map<std::pair<std::string, bool>, Lane> lanes;
  for (const bool alone : {false, true}) {
    for (const StepKind kind : kinds) {
      SqliteStatement* find = &first;
      std::string tenant;
      for (;;) {
        find->again();
        find->bind(alone, code(kind));
        if (find == &next) find->bind(tenant);
        const auto row = find->step();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        tenant = find->text();
        const int priority = static_cast<int>(find->number());
        const auto [lane, fresh] = lanes.try_emplace({tenant, alone}, Lane{tenant, priority, 0, alone});
        if (!fresh) lane->second.priority = std::max(lane->second.priority, priority);
        find = &next;
      }
    }
  }
  std::vector<Lane> found;
  auto in_hand =
      connection_.statement("SELECT count(*) FROM tasks INDEXED BY tasks_in_hand WHERE state = 2 AND tenant = ?");
  for (auto& [key, lane] : lanes) {
    in_hand.again();
    const auto row = in_hand.bind(lane.tenant).step();
    if (!row) return std::unexpected(row.error());
    lane.leased = static_cast<int>(in_hand.number());
    found.push_back(std::move(lane));
  }
  return found;
}

Result<std::vector<Task>> SqliteLedger::take_ready(StepKinds kinds, std::span<const Take> takes) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? AND "
                                    "tenant = ? AND priority = ? ORDER BY id LIMIT ?");
  std::vector<Task> found;
  for (const Take& take : takes) {
    std::vector<Task> of_lane;
    for (const StepKind kind : kinds) {
      find.again();
      find.bind(take.alone, code(kind), take.tenant, take.priority, take.count);
      if (auto done = read_tasks(find, of_lane); !done) return std::unexpected(done.error());
    }
    std::ranges::sort(of_lane, {}, &Task::id);
    if (static_cast<int>(of_lane.size()) > take.count) of_lane.resize(static_cast<std::size_t>(take.count));
    std::ranges::move(of_lane, std::back_inserter(found));
  }
  return found;
}

Result<int> SqliteLedger::wake_waiting(Millis now, int limit) {
  auto wake = connection_.statement(
      "UPDATE tasks SET state = 1 WHERE id IN (SELECT id FROM tasks INDEXED BY tasks_by_wake WHERE state = 0 AND "
      "not_before <= ? ORDER BY not_before LIMIT ?)");
  if (auto done = wake.bind(now, limit).run(); !done) return std::unexpected(done.error());
  return connection_.changes();
}

Result<std::optional<Millis>> SqliteLedger::next_wake() {
  auto find = connection_.statement("SELECT min(not_before) FROM tasks INDEXED BY tasks_by_wake WHERE state = 0");
  const auto row = find.step();
  if (!row) return std::unexpected(row.error());
  return find.maybe_number();
}

Result<std::vector<Task>> SqliteLedger::expired_tasks(Millis now, int limit) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_by_lease WHERE state = 2 AND lease_until <= ? "
                                    "ORDER BY lease_until, id LIMIT ?");
  return all_tasks(find.bind(now, limit));
}

Result<std::vector<Task>> SqliteLedger::leased_to(std::string_view worker) {
  auto find = connection_.statement("SELECT " LECTERN_TASK_COLUMNS
                                    " FROM tasks INDEXED BY tasks_in_hand WHERE state = 2 AND worker = ? ORDER BY id");
  return all_tasks(find.bind(worker));
}

Result<std::vector<std::int64_t>> SqliteLedger::extend(std::span<const Held> held, Millis until) {
  auto update = connection_.statement("UPDATE tasks SET lease_until = ? WHERE id = ? AND state = 2 AND token = ?");
  std::vector<std::int64_t> still;
  for (const Held& one : held) {
    update.again();
    if (auto done = update.bind(until, one.task, one.token).run(); !done) return std::unexpected(done.error());
    if (connection_.changes() > 0) still.push_back(one.task);
  }
  return still;
}

}  // namespace lectern::job
