// How much there is to do.
#include "job/postgres/postgres_ledger.h"

namespace lectern::job {

Result<QueueFigures> PostgresLedger::figures() {
  // The ready task that has been there longest is the first of its lane: from lane to lane by the index, what that
  // costs grows with the number of tenants and priorities, not of tasks.
  auto found = ask(
      "WITH RECURSIVE lane(alone, kind, tenant, priority, id) AS ("
      " SELECT a.alone, k.kind, f.tenant, f.priority, f.id FROM (VALUES (0), (1), (2), (3)) AS k(kind) CROSS JOIN "
      "(VALUES (0), (1)) AS a(alone) CROSS JOIN LATERAL (SELECT tenant, priority, id FROM tasks WHERE state = 1 AND "
      "alone = a.alone AND kind = k.kind ORDER BY tenant, priority DESC, (-id) DESC LIMIT 1) AS f"
      " UNION ALL "
      " SELECT l.alone, l.kind, f.tenant, f.priority, f.id FROM lane AS l CROSS JOIN LATERAL ("
      "(SELECT tenant, priority, id FROM tasks WHERE state = 1 AND alone = l.alone AND kind = l.kind AND tenant = "
      "l.tenant AND priority < l.priority ORDER BY priority DESC, (-id) DESC LIMIT 1) UNION ALL "
      "(SELECT tenant, priority, id FROM tasks WHERE state = 1 AND alone = l.alone AND kind = l.kind AND tenant > "
      "l.tenant ORDER BY tenant, priority DESC, (-id) DESC LIMIT 1) LIMIT 1) AS f) "
      "SELECT (SELECT count(*) FROM tasks WHERE state = 1), (SELECT count(*) FROM tasks WHERE state = 0), "
      "(SELECT count(*) FROM tasks WHERE state = 2), coalesce((SELECT j.created_at FROM jobs AS j JOIN tasks AS t "
      "ON t.job = j.id WHERE t.id = (SELECT min(id) FROM lane)), 0)");
  if (!found) return std::unexpected(found.error());
  found->next();
  QueueFigures figures;
  figures.ready = found->number();
  figures.waiting = found->number();
  figures.leased = found->number();
  figures.oldest_ready = found->number();
  auto jobs = ask("SELECT phase, count(*) FROM jobs GROUP BY phase");
  if (!jobs) return std::unexpected(jobs.error());
  while (jobs->next()) {
    std::int64_t& count = figures.jobs.at(static_cast<std::size_t>(jobs->number()));
    count = jobs->number();
  }
  return figures;
}

Result<std::int64_t> PostgresLedger::jobs_open() {
  auto found = ask("SELECT count(*) FROM jobs WHERE phase < 2");
  if (!found) return std::unexpected(found.error());
  found->next();
  return found->number();
}

}  // namespace lectern::job
