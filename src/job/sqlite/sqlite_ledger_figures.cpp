// How much there is to do.
#include <algorithm>

#include "job/rows.h"
#include "job/sqlite/sqlite_ledger.h"

namespace lectern::job {

// The ready task that has been there longest. In the index it is the first of its lane: from lane to lane, what this
// costs grows with the number of tenants and priorities, not of tasks.
Result<std::optional<std::int64_t>> SqliteLedger::first_ready() {
  auto begin = connection_.statement(
      "SELECT id, tenant, priority FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? "
      "ORDER BY tenant, priority DESC, id LIMIT 1");
  auto lower = connection_.statement(
      "SELECT id, tenant, priority FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? AND "
      "tenant = ? AND priority < ? ORDER BY priority DESC, id LIMIT 1");
  auto further = connection_.statement(
      "SELECT id, tenant, priority FROM tasks INDEXED BY tasks_ready WHERE state = 1 AND alone = ? AND kind = ? AND "
      "tenant > ? ORDER BY tenant, priority DESC, id LIMIT 1");
  std::optional<std::int64_t> first;
  std::string tenant;
  std::int64_t priority = 0;
  const auto look = [&](SqliteStatement& find) -> Result<bool> {
    const auto row = find.step();
    if (!row || !*row) return row;
    const std::int64_t id = find.number();
    first = std::min(first.value_or(id), id);
    tenant = find.text();
    priority = find.number();
    return true;
  };
  for (const bool alone : {false, true}) {
    for (const StepKind kind : {StepKind::split, StepKind::read, StepKind::assemble, StepKind::deliver}) {
      begin.again();
      auto found = look(begin.bind(alone, code(kind)));
      while (found && *found) {
        lower.again();
        found = look(lower.bind(alone, code(kind), tenant, priority));
        if (!found || *found) continue;
        further.again();
        found = look(further.bind(alone, code(kind), tenant));
      }
      if (!found) return std::unexpected(found.error());
    }
  }
  return first;
}

Result<QueueFigures> SqliteLedger::figures() {
  QueueFigures figures;
  const auto first = first_ready();
  if (!first) return std::unexpected(first.error());
  if (*first) {
    auto found = connection_.statement("SELECT created_at FROM jobs WHERE id = (SELECT job FROM tasks WHERE id = ?)");
    const auto row = found.bind(**first).step();
    if (!row) return std::unexpected(row.error());
    if (*row) figures.oldest_ready = found.number();
  }
  const std::pair<const char*, std::int64_t*> counts[] = {
      {"SELECT count(*) FROM tasks INDEXED BY tasks_ready WHERE state = 1", &figures.ready},
      {"SELECT count(*) FROM tasks INDEXED BY tasks_by_wake WHERE state = 0", &figures.waiting},
      {"SELECT count(*) FROM tasks INDEXED BY tasks_in_hand WHERE state = 2", &figures.leased}};
  for (const auto& [sql, into] : counts) {
    auto found = connection_.statement(sql);
    const auto row = found.step();
    if (!row) return std::unexpected(row.error());
    *into = found.number();
  }
  auto jobs = connection_.statement("SELECT phase, count(*) FROM jobs INDEXED BY jobs_by_phase GROUP BY phase");
  for (;;) {
    const auto row = jobs.step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return figures;
    std::int64_t& count = figures.jobs.at(static_cast<std::size_t>(jobs.number()));
    count = jobs.number();
  }
}

Result<std::int64_t> SqliteLedger::jobs_open() {
  auto found = connection_.statement("SELECT count(*) FROM jobs INDEXED BY jobs_by_phase WHERE phase < 2");
  const auto row = found.step();
  if (!row) return std::unexpected(row.error());
  return found.number();
}

}  // namespace lectern::job
