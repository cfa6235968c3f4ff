#include "job/operations.h"

#include <algorithm>
#include <map>
#include <set>

namespace lectern::job {
namespace {

constexpr int sweep_batch = 500;
constexpr int claim_rounds = 4;  // lanes may turn out emptier than they looked

// Everything at once: a database far away is asked as few times as for one job.
Status write(Ledger& ledger, std::span<JobDesk* const> desks) {
  Changes all;
  for (JobDesk* desk : desks) {
    Changes& changes = desk->changes;
    if (changes.job) {
      if (auto ok = ledger.update_job(desk->view); !ok) return ok;
    }
    if (!changes.events.empty()) ledger.tell_watchers(desk->view.job.request.id);
    std::ranges::move(changes.removed_tasks, std::back_inserter(all.removed_tasks));
    std::ranges::move(changes.tasks, std::back_inserter(all.tasks));
    std::ranges::move(changes.new_tasks, std::back_inserter(all.new_tasks));
    std::ranges::move(changes.events, std::back_inserter(all.events));
    all.work = all.work || changes.work;
  }
  if (!all.removed_tasks.empty()) {
    if (auto ok = ledger.remove_tasks(all.removed_tasks); !ok) return ok;
  }
  if (!all.tasks.empty()) {
    if (auto ok = ledger.update_tasks(all.tasks); !ok) return ok;
  }
  if (!all.new_tasks.empty()) {
    if (auto ok = ledger.insert_tasks(all.new_tasks); !ok) return ok;
  }
  if (!all.events.empty()) {
    if (auto ok = ledger.insert_events(all.events); !ok) return ok;
  }
  if (all.work) ledger.tell_workers();
  return {};
}

Status write(Ledger& ledger, JobDesk& desk) {
  JobDesk* const only = &desk;
  return write(ledger, std::span(&only, 1));
}

Status write(Ledger& ledger, std::map<std::string, JobDesk>& desks) {
  std::vector<JobDesk*> all;
  for (auto& [id, desk] : desks) all.push_back(&desk);
  return write(ledger, all);
}

JobDesk desk_for(Ledger& ledger, const Policy& policy, JobView view) {
  return {.view = std::move(view), .now = ledger.now(), .policy = &policy};
}

Result<JobDesk> lock_job(Ledger& ledger, const Policy& policy, std::string_view id) {
  auto view = ledger.lock_job(id);
  if (!view) return std::unexpected(view.error());
  if (!*view) return fail(ErrorKind::not_found, "there is no job {}", id);
  return desk_for(ledger, policy, std::move(**view));
}

Result<std::map<std::string, JobDesk>> lock_all(Ledger& ledger, const Policy& policy,
                                                const std::set<std::string>& ids) {
  auto views = ledger.lock_jobs(std::vector(ids.begin(), ids.end()));
  if (!views) return std::unexpected(views.error());
  std::map<std::string, JobDesk> desks;
  for (JobView& view : *views) {
    const std::string id = view.job.request.id;
    desks.emplace(id, desk_for(ledger, policy, std::move(view)));
  }
  return desks;
}

// Locks the jobs of these tasks, then loads the tasks again: what was seen before the lock may have changed.
struct LockedTasks {
  std::map<std::string, JobDesk> desks;
  std::map<std::int64_t, Task> tasks;
};
Result<LockedTasks> lock_tasks(Ledger& ledger, const Policy& policy, std::span<const std::int64_t> ids) {
  const auto seen = ledger.tasks(ids);
  if (!seen) return std::unexpected(seen.error());
  std::set<std::string> jobs;
  for (const Task& task : *seen) jobs.insert(task.job);
  auto desks = lock_all(ledger, policy, jobs);
  if (!desks) return std::unexpected(desks.error());
  LockedTasks locked{.desks = std::move(*desks)};
  const auto tasks = ledger.tasks(ids);
  if (!tasks) return std::unexpected(tasks.error());
  for (const Task& task : *tasks) {
    if (locked.desks.contains(task.job)) locked.tasks.emplace(task.id, task);  // else the job has just been removed
  }
  return locked;
}

Status expire(Ledger& ledger, const Policy& policy, Swept& swept) {
  const Millis now = ledger.now();
  const auto expired = ledger.expired_tasks(now, sweep_batch);
  if (!expired) return std::unexpected(expired.error());
  std::vector<std::int64_t> ids;
  for (const Task& task : *expired) ids.push_back(task.id);
  if (ids.empty()) return {};
  auto locked = lock_tasks(ledger, policy, ids);
  if (!locked) return std::unexpected(locked.error());
  std::map<std::string, std::vector<Task>> by_worker;
  for (const auto& [id, task] : locked->tasks) {
    if (task.state == TaskState::leased && task.lease_until <= now) by_worker[task.worker].push_back(task);
  }
  for (auto& [worker, lost] : by_worker) {
    const auto blamed = blame(lost);
    for (std::size_t i = 0; i < lost.size(); ++i) {
      lose(locked->desks.at(lost[i].job), lost[i], blamed[i]);
      ++swept.lost;
      if (lost[i].state == TaskState::quarantined) ++swept.quarantined;
    }
  }
  return write(ledger, locked->desks);
}

Status pass_deadlines(Ledger& ledger, const Policy& policy, Swept& swept) {
  auto ids = ledger.jobs_past_deadline(ledger.now(), sweep_batch);
  if (!ids) return std::unexpected(ids.error());
  std::ranges::sort(*ids);
  for (const std::string& id : *ids) {
    auto desk = lock_job(ledger, policy, id);
    if (!desk) return std::unexpected(desk.error());
    auto open = ledger.open_tasks(id);
    if (!open) return std::unexpected(open.error());
    if (over(desk->view.job.phase)) continue;
    pass_deadline(*desk, *open);
    if (auto ok = write(ledger, *desk); !ok) return ok;
    ++swept.past_deadline;
  }
  return {};
}

// What the worker was given in a claim whose answer was lost. Nobody has to be locked: who swept first wins.
Result<std::vector<Task>> take_unheard(Ledger& ledger, const Policy& policy, const ClaimRequest& request) {
  auto leased = ledger.leased_to(request.worker);
  if (!leased) return leased;
  const auto lost = unheard(*leased, *request.known);
  if (lost.empty()) return std::vector<Task>{};
  const Millis until = ledger.now() + policy.lease;
  const auto still = ledger.extend(lost, until);
  if (!still) return std::unexpected(still.error());
  std::erase_if(*leased, [&](const Task& task) {
    const bool was_lost = std::ranges::find(lost, Held{task.id, task.token}) != lost.end();
    return !was_lost || std::ranges::find(*still, task.id) == still->end();
  });
  for (Task& task : *leased) task.lease_until = until;
  return leased;
}

}  // namespace

Result<Submitted> submit(Ledger& ledger, const Policy& policy, NewJob request) {
  if (!request.idempotency_key.empty()) {
    auto earlier = ledger.job_by_idempotency_key(request.tenant, request.idempotency_key);
    if (!earlier) return std::unexpected(earlier.error());
    if (*earlier) {
      if ((*earlier)->job.request.fingerprint == request.fingerprint) return Submitted{std::move(**earlier), true};
      return fail(ErrorKind::conflict, "the idempotency key '{}' was used for another request; use a new key",
                  request.idempotency_key);
    }
  }
  JobDesk desk = accept(std::move(request), ledger.now(), policy);
  if (auto ok = ledger.insert_job(desk.view); !ok) return std::unexpected(ok.error());
  desk.changes.job = false;  // just written
  if (auto ok = write(ledger, desk); !ok) return std::unexpected(ok.error());
  return Submitted{std::move(desk.view), false};
}

Result<std::vector<Leased>> claim(Ledger& ledger, const Policy& policy, const ClaimRequest& request) {
  std::vector<Task> taken;
  if (request.known) {
    auto lost = take_unheard(ledger, policy, request);
    if (!lost) return std::unexpected(lost.error());
    taken = std::move(*lost);
  }
  const bool may_have_suspect = request.alone && std::ranges::none_of(taken, &Task::alone);
  const auto room = [&] { return request.room - static_cast<int>(taken.size()); };
  const auto take = [&](const std::vector<Take>& takes) -> Result<bool> {
    if (takes.empty()) return false;
    auto tasks = ledger.take_ready(request.kinds, takes);
    if (!tasks) return std::unexpected(tasks.error());
    if (tasks->empty()) return false;
    for (Task& task : *tasks) lease(task, request.worker, ledger.now(), policy);
    // Written before the lanes are looked at again.
    if (auto ok = ledger.update_tasks(*tasks); !ok) return std::unexpected(ok.error());
    std::ranges::move(*tasks, std::back_inserter(taken));
    return true;
  };
  for (int round = 0; round < claim_rounds && room() > 0; ++round) {
    auto lanes = ledger.lanes(request.kinds);
    if (!lanes) return std::unexpected(lanes.error());
    const auto suspects = std::ranges::partition(*lanes, [](const Lane& lane) { return !lane.alone; });
    if (round == 0 && may_have_suspect) {
      const auto one = take(plan_claim({suspects.begin(), suspects.end()}, 1));
      if (!one) return std::unexpected(one.error());
    }
    lanes->erase(suspects.begin(), suspects.end());
    const auto more = take(plan_claim(std::move(*lanes), room()));
    if (!more) return std::unexpected(more.error());
    if (!*more) break;
  }
  std::set<std::string> jobs;
  for (const Task& task : taken) jobs.insert(task.job);
  if (jobs.empty()) return std::vector<Leased>{};
  const auto views = ledger.jobs_by_id(std::vector(jobs.begin(), jobs.end()));
  if (!views) return std::unexpected(views.error());
  std::set<std::pair<std::string, StepKind>> queued;
  for (const JobView& view : *views) {
    for (const Step& step : view.steps) {
      if (step.phase == Phase::queued) queued.emplace(step.job, step.kind);
    }
  }
  std::vector<Leased> leased;
  for (Task& task : taken) {
    const bool first = queued.contains({task.job, task.kind});
    leased.push_back({std::move(task), first});
  }
  return leased;
}

Status begin_steps(Ledger& ledger, const Policy& policy, std::span<const Leased> leased) {
  std::set<std::string> jobs;
  for (const Leased& one : leased) {
    if (one.first) jobs.insert(one.task.job);
  }
  if (jobs.empty()) return {};
  auto desks = lock_all(ledger, policy, jobs);
  if (!desks) return std::unexpected(desks.error());
  for (const Leased& one : leased) {
    const auto desk = desks->find(one.task.job);
    if (one.first && desk != desks->end()) start_step(desk->second, one.task.kind);
  }
  return write(ledger, *desks);
}

Result<std::vector<std::int64_t>> renew(Ledger& ledger, const Policy& policy, std::span<const Held> held) {
  return ledger.extend(held, ledger.now() + policy.lease);
}

Result<std::vector<Verdict>> commit_tasks(Ledger& ledger, const Policy& policy, std::span<const Outcome> outcomes) {
  std::vector<std::int64_t> ids;
  for (const Outcome& outcome : outcomes) ids.push_back(outcome.task);
  auto locked = lock_tasks(ledger, policy, ids);
  if (!locked) return std::unexpected(locked.error());
  std::vector<Verdict> verdicts;
  for (const Outcome& outcome : outcomes) {
    const auto task = locked->tasks.find(outcome.task);
    if (task == locked->tasks.end()) {  // its job was removed, or the step is done anew
      verdicts.push_back(Verdict::late);
      continue;
    }
    verdicts.push_back(commit(locked->desks.at(task->second.job), task->second, outcome));
  }
  if (auto ok = write(ledger, locked->desks); !ok) return std::unexpected(ok.error());
  return verdicts;
}

Result<Swept> sweep(Ledger& ledger, const Policy& policy) {
  Swept swept;
  const auto woken = ledger.wake_waiting(ledger.now(), sweep_batch);
  if (!woken) return std::unexpected(woken.error());
  swept.woken = *woken;
  if (swept.woken > 0) ledger.tell_workers();
  if (auto ok = expire(ledger, policy, swept); !ok) return std::unexpected(ok.error());
  if (auto ok = pass_deadlines(ledger, policy, swept); !ok) return std::unexpected(ok.error());
  const auto next = ledger.next_wake();
  if (!next) return std::unexpected(next.error());
  swept.next_wake = *next;
  return swept;
}

Result<JobView> cancel_job(Ledger& ledger, const Policy& policy, std::string_view id, const std::string& why) {
  auto desk = lock_job(ledger, policy, id);
  if (!desk) return std::unexpected(desk.error());
  auto open = ledger.open_tasks(id);
  if (!open) return std::unexpected(open.error());
  if (!cancel(*desk, *open, why)) {
    return fail(ErrorKind::conflict, "job {} is over already ({})", id, to_string(desk->view.job.phase));
  }
  if (auto ok = write(ledger, *desk); !ok) return std::unexpected(ok.error());
  return std::move(desk->view);
}

Result<JobView> retry_job(Ledger& ledger, const Policy& policy, std::string_view id) {
  auto desk = lock_job(ledger, policy, id);
  if (!desk) return std::unexpected(desk.error());
  auto failed = ledger.failed_tasks(id);
  if (!failed) return std::unexpected(failed.error());
  if (!failed->empty()) {
    const StepKind first = std::ranges::min(*failed, {}, &Task::kind).kind;
    std::erase_if(*failed, [first](const Task& task) { return task.kind != first; });
  }
  std::vector<Task> later;
  for (const Step& step : desk->view.steps) {
    if (failed->empty() || step.kind <= failed->front().kind) continue;
    auto more = ledger.job_tasks(id, step.kind, 0,
                                 1);  // only `read` has more than one, and nothing stands before it but `split`
    if (!more) return std::unexpected(more.error());
    std::ranges::move(*more, std::back_inserter(later));
  }
  if (!retry(*desk, *failed, later)) {
    const Phase phase = desk->view.job.phase;
    if (!over(phase)) return fail(ErrorKind::conflict, "job {} is not over yet", id);
    if (!failed->empty() && deadline_passed(desk->view.job, desk->now)) {
      return fail(ErrorKind::conflict, "the deadline of job {} has passed; submit the document again", id);
    }
    return fail(ErrorKind::conflict, "job {} ({}) has nothing to try again", id, to_string(phase));
  }
  if (auto ok = write(ledger, *desk); !ok) return std::unexpected(ok.error());
  return std::move(desk->view);
}

}  // namespace lectern::job
