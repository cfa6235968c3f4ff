#include "job/memory/memory_ledger.h"

#include <algorithm>
#include <limits>

namespace lectern::job {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

bool is_one_of(StepKind kind, StepKinds kinds) {
  return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

template <class Wanted>
std::vector<Task> MemoryLedger::tasks_where(Wanted wanted, std::size_t limit) const {
  std::vector<Task> found;
  for (const auto& [id, task] : tables_.tasks) {
    if (found.size() >= limit) break;
    if (wanted(task)) found.push_back(task);
  }
  return found;
}

Status MemoryLedger::insert_job(const JobView& job) {
  const NewJob& request = job.job.request;
  if (!request.idempotency_key.empty()) {
    auto other = job_by_idempotency_key(request.tenant, request.idempotency_key);
    if (*other) return fail(ErrorKind::conflict, "the idempotency key '{}' is taken", request.idempotency_key);
  }
  if (!tables_.jobs.emplace(request.id, job).second) return fail(ErrorKind::conflict, "job {} is there", request.id);
  return {};
}

Result<std::vector<JobView>> MemoryLedger::jobs_by_id(std::span<const std::string> ids) {
  std::vector<JobView> found;
  for (const std::string& id : ids) {
    if (const auto at = tables_.jobs.find(id); at != tables_.jobs.end()) found.push_back(at->second);
  }
  return found;
}

Status MemoryLedger::update_job(const JobView& job) {
  tables_.jobs.at(job.job.request.id) = job;
  return {};
}

Result<std::vector<JobView>> MemoryLedger::jobs(const JobFilter& filter) {
  std::vector<JobView> found;
  for (auto at = tables_.jobs.rbegin(); at != tables_.jobs.rend(); ++at) {
    if (static_cast<int>(found.size()) >= filter.limit) break;
    const Job& job = at->second.job;
    const bool wanted = (filter.tenant.empty() || job.request.tenant == filter.tenant) &&
                        (!filter.phase || job.phase == *filter.phase) &&
                        (filter.before.empty() || job.request.id < filter.before);
    if (wanted) found.push_back(at->second);
  }
  return found;
}

Result<std::optional<JobView>> MemoryLedger::job_by_idempotency_key(std::string_view tenant, std::string_view key) {
  for (const auto& [id, view] : tables_.jobs) {
    if (view.job.request.tenant == tenant && view.job.request.idempotency_key == key) return view;
  }
  return std::nullopt;
}

Result<std::vector<std::string>> MemoryLedger::jobs_past_deadline(Millis now, int limit) {
  std::vector<std::string> ids;
  for (const auto& [id, view] : tables_.jobs) {
    if (static_cast<int>(ids.size()) >= limit) break;
    if (!over(view.job.phase) && deadline_passed(view.job, now)) ids.push_back(id);
  }
  return ids;
}

Result<std::vector<std::string>> MemoryLedger::jobs_finished_before(Millis before, int limit) {
  std::vector<std::pair<Millis, std::string>> found;
  for (const auto& [id, view] : tables_.jobs) {
    const bool done = over(view.job.phase) && view.job.finished_at && *view.job.finished_at < before &&
                      std::ranges::all_of(view.steps, [](const Step& step) { return over(step.phase); });
    if (done) found.emplace_back(*view.job.finished_at, id);
  }
  std::ranges::sort(found);
  std::vector<std::string> ids;
  for (auto& [at, id] : found) {
    if (static_cast<int>(ids.size()) < limit) ids.push_back(std::move(id));
  }
  return ids;
}

Status MemoryLedger::remove_job(std::string_view id) {
  tables_.jobs.erase(std::string(id));
  tables_.events.erase(std::string(id));
  std::erase_if(tables_.tasks, [id](const auto& entry) { return entry.second.job == id; });
  return {};
}

Status MemoryLedger::insert_tasks(std::span<const Task> tasks) {
  for (Task task : tasks) {
    task.id = ++tables_.last_task;
    tables_.tasks.emplace(task.id, std::move(task));
  }
  return {};
}

Status MemoryLedger::update_tasks(std::span<const Task> tasks) {
  for (const Task& task : tasks) tables_.tasks.at(task.id) = task;
  return {};
}

Status MemoryLedger::remove_tasks(std::span<const std::int64_t> ids) {
  for (const auto id : ids) tables_.tasks.erase(id);
  return {};
}

Result<std::vector<Task>> MemoryLedger::tasks(std::span<const std::int64_t> ids) {
  std::vector<std::int64_t> sorted(ids.begin(), ids.end());
  std::ranges::sort(sorted);
  const auto repeated = std::ranges::unique(sorted);
  sorted.erase(repeated.begin(), repeated.end());
  std::vector<Task> found;
  for (const auto id : sorted) {
    if (const auto at = tables_.tasks.find(id); at != tables_.tasks.end()) found.push_back(at->second);
  }
  return found;
}

Result<std::vector<Task>> MemoryLedger::job_tasks(std::string_view job, StepKind kind, int from_number, int limit) {
  auto found = tasks_where(
      [&](const Task& task) { return task.job == job && task.kind == kind && task.number >= from_number; }, no_limit);
  std::ranges::sort(found, {}, &Task::number);
  if (static_cast<int>(found.size()) > limit) found.resize(static_cast<std::size_t>(limit));
  return found;
}

Result<std::vector<Task>> MemoryLedger::open_tasks(std::string_view job) {
  return tasks_where([job](const Task& task) { return task.job == job && !over(task.state); }, no_limit);
}

Result<std::vector<Task>> MemoryLedger::failed_tasks(std::string_view job) {
  return tasks_where(
      [job](const Task& task) {
        return task.job == job && (task.state == TaskState::failed || task.state == TaskState::quarantined ||
                                   (task.state == TaskState::done && task.outcome == PageOutcome::failed));
      },
      no_limit);
}

Result<std::vector<Lane>> MemoryLedger::lanes(StepKinds kinds) {
  std::map<std::pair<std::string, bool>, Lane> lanes;
  std::map<std::string, int> leased;
  for (const auto& [id, task] : tables_.tasks) {
    if (task.state == TaskState::leased) ++leased[task.tenant];
    if (task.state != TaskState::ready || !is_one_of(task.kind, kinds)) continue;
    const auto [lane, fresh] =
        lanes.try_emplace({task.tenant, task.alone}, Lane{task.tenant, task.priority, 0, task.alone});
    if (!fresh) lane->second.priority = std::max(lane->second.priority, task.priority);
  }
  std::vector<Lane> found;
  for (auto& [key, lane] : lanes) {
    lane.leased = leased[lane.tenant];
    found.push_back(std::move(lane));
  }
  return found;
}

Result<std::vector<Task>> MemoryLedger::take_ready(StepKinds kinds, std::span<const Take> takes) {
  std::vector<Task> found;
  for (const Take& take : takes) {
    std::ranges::move(tasks_where(
                          [&](const Task& task) {
                            return task.state == TaskState::ready && task.alone == take.alone &&
                                   task.tenant == take.tenant && task.priority == take.priority &&
                                   is_one_of(task.kind, kinds);
                          },
                          static_cast<std::size_t>(take.count)),
                      std::back_inserter(found));
  }
  return found;
}

Result<int> MemoryLedger::wake_waiting(Millis now, int limit) {
  int woken = 0;
  for (auto& [id, task] : tables_.tasks) {
    if (task.state != TaskState::waiting || task.not_before > now || woken >= limit) continue;
    task.state = TaskState::ready;
    ++woken;
  }
  return woken;
}

Result<std::optional<Millis>> MemoryLedger::next_wake() {
  std::optional<Millis> next;
  for (const auto& [id, task] : tables_.tasks) {
    if (task.state == TaskState::waiting && (!next || task.not_before < *next)) next = task.not_before;
  }
  return next;
}

Result<std::vector<Task>> MemoryLedger::expired_tasks(Millis now, int limit) {
  auto found = tasks_where(
      [now](const Task& task) { return task.state == TaskState::leased && task.lease_until <= now; }, no_limit);
  std::ranges::sort(found, {}, [](const Task& task) { return std::pair(task.lease_until, task.id); });
  if (static_cast<int>(found.size()) > limit) found.resize(static_cast<std::size_t>(limit));
  return found;
}

Result<std::vector<Task>> MemoryLedger::leased_to(std::string_view worker) {
  return tasks_where([worker](const Task& task) { return task.state == TaskState::leased && task.worker == worker; },
                     no_limit);
}

Result<std::vector<std::int64_t>> MemoryLedger::extend(std::span<const Held> held, Millis until) {
  std::vector<std::int64_t> still;
  for (const Held& one : held) {
    const auto at = tables_.tasks.find(one.task);
    if (at == tables_.tasks.end() || at->second.state != TaskState::leased || at->second.token != one.token) continue;
    at->second.lease_until = until;
    still.push_back(one.task);
  }
  return still;
}

Status MemoryLedger::insert_events(std::span<const Event> events) {
  for (const Event& event : events) tables_.events[event.job].push_back(event);
  return {};
}

Result<std::vector<Event>> MemoryLedger::events(std::string_view job, std::int64_t after, int limit) {
  std::vector<Event> found;
  for (const Event& event : tables_.events[std::string(job)]) {
    if (event.number > after && static_cast<int>(found.size()) < limit) found.push_back(event);
  }
  return found;
}

Status MemoryLedger::insert_key(const ApiKey& key) {
  if (!tables_.keys.emplace(key.id, key).second) return fail(ErrorKind::conflict, "key {} is there", key.id);
  return {};
}

Result<std::vector<ApiKey>> MemoryLedger::keys() {
  std::vector<ApiKey> all;
  for (const auto& [id, key] : tables_.keys) all.push_back(key);
  std::ranges::sort(all, {}, [](const ApiKey& key) { return std::pair(key.created_at, key.id); });
  return all;
}

Result<std::optional<ApiKey>> MemoryLedger::key_by_sha256(std::string_view sha256) {
  for (const auto& [id, key] : tables_.keys) {
    if (key.sha256 == sha256) return key;
  }
  return std::nullopt;
}

Result<bool> MemoryLedger::revoke_key(std::string_view id, Millis now) {
  const auto found = tables_.keys.find(std::string(id));
  if (found == tables_.keys.end()) return false;
  if (!found->second.revoked_at) found->second.revoked_at = now;
  return true;
}

Result<QueueFigures> MemoryLedger::figures() {
  QueueFigures figures;
  for (const auto& [id, task] : tables_.tasks) {
    figures.ready += task.state == TaskState::ready ? 1 : 0;
    figures.waiting += task.state == TaskState::waiting ? 1 : 0;
    figures.leased += task.state == TaskState::leased ? 1 : 0;
    if (task.state == TaskState::ready && figures.oldest_ready == 0) {
      figures.oldest_ready = tables_.jobs.at(task.job).job.created_at;
    }
  }
  for (const auto& [id, view] : tables_.jobs) ++figures.jobs.at(static_cast<std::size_t>(view.job.phase));
  return figures;
}

Result<std::int64_t> MemoryLedger::jobs_open() {
  return figures()->jobs_open();
}

}  // namespace lectern::job
