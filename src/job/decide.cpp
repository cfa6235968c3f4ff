#include "job/decide.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace lectern::job {
namespace {

using Json = nlohmann::ordered_json;

constexpr int finishing_priority = 1'000;  // above all that one may ask for

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Pages have a name of their own in events: "page.done", but "split.lost".
std::string event_name(StepKind kind, std::string_view what) {
  return std::string(kind == StepKind::read ? "page" : to_string(kind)) + "." + std::string(what);
}

Json about(const Task& task) {
  Json json = Json::object();
  if (task.kind == StepKind::read) json["page"] = task.number;
  json["attempt"] = task.attempts;
  if (!task.worker.empty()) json["worker"] = task.worker;
  if (task.started_at) json["started_at"] = *task.started_at;
  return json;
}

Json about(const Step& step) {
  Json json{{"step", to_string(step.kind)}, {"done", step.done}, {"total", step.total}};
  if (!step.error.empty()) json["error"] = step.error;
  return json;
}

void open_step(JobDesk& desk, StepKind kind, std::span<const int> numbers);

void open_one(JobDesk& desk, StepKind kind) {
  const int one = 1;
  open_step(desk, kind, std::span(&one, 1));
}

void end_step(JobDesk& desk, Step& step, Phase phase, std::string error) {
  step.phase = phase;
  step.error = std::move(error);
  step.finished_at = desk.now;
  if (!step.started_at) step.started_at = desk.now;
  desk.note(std::string("step.") + std::string(to_string(phase)), dump(about(step)));
}

// Failed pages may be tried again, and need it then.
void wipe_secret(Job& job) {
  if (job.phase == Phase::cancelled || (job.phase == Phase::succeeded && job.pages.failed == 0)) {
    job.request.secret.clear();
  }
}

void finish_job(JobDesk& desk, Phase phase, std::string error) {
  Job& job = desk.view.job;
  job.phase = phase;
  job.error = std::move(error);
  job.finished_at = desk.now;
  for (Step& step : desk.view.steps) {
    if (step.kind == StepKind::deliver || over(step.phase)) continue;
    step.phase = Phase::cancelled;
    step.finished_at = desk.now;
  }
  Json data{{"ok", job.pages.ok}, {"fallback", job.pages.fallback}, {"failed", job.pages.failed}};
  if (!job.error.empty()) data["error"] = job.error;
  if (!job.error_code.empty()) data["code"] = job.error_code;
  desk.note(std::string("job.") + std::string(to_string(phase)), dump(data));
  if (desk.has(StepKind::deliver)) {
    open_one(desk, StepKind::deliver);
  } else {
    wipe_secret(job);
  }
}

// All tasks of the step are over.
void close_step(JobDesk& desk, StepKind kind, const Task* last) {
  Job& job = desk.view.job;
  Step& step = desk.step(kind);
  const bool failed = last != nullptr && last->state != TaskState::done;
  switch (kind) {
    case StepKind::split:
    case StepKind::assemble:
      if (failed) {
        end_step(desk, step, Phase::failed, last->error);
        finish_job(desk, Phase::failed, last->error);
        return;
      }
      end_step(desk, step, Phase::succeeded, {});
      if (kind == StepKind::split) return;  // commit() opens `read`: it knows the pages
      if (step.total > 0 && job.pages.ok + job.pages.fallback == 0 && job.pages.failed > 0) {
        finish_job(desk, Phase::failed, desk.step(StepKind::read).error);
      } else {
        finish_job(desk, Phase::succeeded, {});
      }
      return;
    case StepKind::read:
      if (step.total > 0 && job.pages.ok + job.pages.fallback == 0) {
        const std::string pages = step.total == 1 ? "the page" : "none of the " + std::to_string(step.total) + " pages";
        const std::string why = last != nullptr && !last->error.empty() ? ": " + last->error : "";
        end_step(desk, step, Phase::failed, pages + " could " + (step.total == 1 ? "not " : "") + "be read" + why);
      } else {
        end_step(desk, step, Phase::succeeded, {});
      }
      open_one(desk, StepKind::assemble);  // also when nothing was read: the result says which page failed of what
      return;
    case StepKind::deliver:
      end_step(desk, step, failed ? Phase::failed : Phase::succeeded, failed ? last->error : "");
      if (!failed) wipe_secret(job);  // else the message may be sent again, signed
      return;
  }
}

void open_step(JobDesk& desk, StepKind kind, std::span<const int> numbers) {
  const Job& job = desk.view.job;
  Step& step = desk.step(kind);
  step = Step{.job = job.request.id, .kind = kind, .total = static_cast<int>(numbers.size())};
  // What is nearly done goes before the pages of jobs that came later.
  const int priority = job.request.priority + (kind > StepKind::read ? finishing_priority : 0);
  for (const int number : numbers) {
    desk.changes.new_tasks.push_back(
        {.job = job.request.id, .kind = kind, .number = number, .tenant = job.request.tenant, .priority = priority});
  }
  desk.changes.job = true;
  desk.changes.work = true;
  if (numbers.empty()) close_step(desk, kind, nullptr);
}

// REQUIRES: task.state is over.
void end_task(JobDesk& desk, const Task& task) {
  Step& step = desk.step(task.kind);
  ++step.done;
  if (step.done >= step.total) close_step(desk, task.kind, &task);
}

void fail_task(JobDesk& desk, Task& task, TaskState state, std::string error, const std::string& code = {}) {
  task.state = state;
  task.error = std::move(error);
  task.finished_at = desk.now;
  if (task.kind == StepKind::read) {
    task.outcome = PageOutcome::failed;
    ++desk.view.job.pages.failed;
  }
  Json data = about(task);
  data["error"] = task.error;
  if (!code.empty()) data["code"] = code;
  if (task.kind == StepKind::split || task.kind == StepKind::assemble) desk.view.job.error_code = code;
  desk.note(event_name(task.kind, to_string(state)), dump(data));
  end_task(desk, task);
}

void add_detail(Json& data, const std::string& detail) {
  if (const Json parsed = Json::parse(detail, nullptr, false); parsed.is_object()) data.update(parsed);
}

void put_back(JobDesk& desk, Task& task, Millis delay) {
  task.state = delay > 0 ? TaskState::waiting : TaskState::ready;
  task.not_before = delay > 0 ? desk.now + delay : 0;
  desk.changes.work = desk.changes.work || delay == 0;
}

void try_again(JobDesk& desk, Task& task, const Outcome& outcome) {
  const Policy& policy = *desk.policy;
  const bool delivery = task.kind == StepKind::deliver;
  task.error = outcome.error;
  if (task.attempts >= (delivery ? policy.delivery_attempts_max : policy.attempts_max)) {
    fail_task(desk, task, TaskState::failed, outcome.error);
    return;
  }
  const Millis by_policy = delivery
                               ? backoff(task.attempts, policy.delivery_backoff_first, policy.delivery_backoff_most)
                               : backoff(task.attempts, policy.backoff_first, policy.backoff_most);
  const Millis delay = outcome.delay > 0 ? outcome.delay : by_policy;
  put_back(desk, task, delay);
  Json data = about(task);
  data["error"] = task.error;
  data["again_at"] = task.not_before;
  add_detail(data, outcome.detail);
  desk.note(event_name(task.kind, "again"), dump(data));
}

// What keeps a task waiting is told once, not every few seconds until it has passed.
void hand_back(JobDesk& desk, Task& task, const Outcome& outcome) {
  const bool news = outcome.error.empty() || outcome.error != task.error;
  Json data = about(task);
  --task.attempts;
  task.error = outcome.error;
  put_back(desk, task, outcome.delay);
  if (!news) return;
  if (!task.error.empty()) data["error"] = task.error;
  if (outcome.delay > 0) data["again_at"] = task.not_before;
  desk.note(event_name(task.kind, "handed_back"), dump(data));
}

void publish(JobDesk& desk, Task& task, const Outcome& outcome) {
  Job& job = desk.view.job;
  task.state = TaskState::done;
  task.result = outcome.result;
  task.error = outcome.error;
  task.finished_at = desk.now;
  if (task.kind == StepKind::read) {
    task.outcome = outcome.page;
    int& count = outcome.page == PageOutcome::failed     ? job.pages.failed
                 : outcome.page == PageOutcome::fallback ? job.pages.fallback
                                                         : job.pages.ok;
    ++count;
    Json data = about(task);
    data["outcome"] = to_string(outcome.page);
    if (!outcome.error.empty()) data["error"] = outcome.error;
    add_detail(data, outcome.detail);
    desk.note("page.done", dump(data));
  }
  if (task.kind == StepKind::deliver) {
    Json data = about(task);
    add_detail(data, outcome.detail);
    desk.note("deliver.done", dump(data));
  }
  if (task.kind == StepKind::split) {
    job.pages_total = outcome.pages_total;
    job.info = outcome.info;
  }
  if (task.kind == StepKind::assemble) job.result = outcome.job_result;
  end_task(desk, task);
  if (task.kind == StepKind::split) open_step(desk, StepKind::read, outcome.pages);
}

void stop_tasks(JobDesk& desk, std::span<Task> open) {
  for (Task& task : open) {
    if (over(task.state) || task.kind == StepKind::deliver) continue;
    task.state = TaskState::cancelled;  // whoever works on it learns when renewing, and is refused when committing
    task.finished_at = desk.now;
    desk.changes.tasks.push_back(task);
  }
}

}  // namespace

Step& JobDesk::step(StepKind kind) {
  return *std::ranges::find(view.steps, kind, &Step::kind);
}

bool JobDesk::has(StepKind kind) const {
  return std::ranges::find(view.steps, kind, &Step::kind) != view.steps.end();
}

void JobDesk::note(std::string_view kind, std::string data) {
  changes.job = true;  // the counter is the job's
  changes.events.push_back({.job = view.job.request.id,
                            .number = ++view.job.event_count,
                            .at = now,
                            .kind = std::string(kind),
                            .data = std::move(data)});
}

bool deadline_passed(const Job& job, Millis now) {
  return job.request.deadline && *job.request.deadline <= now;
}

JobDesk accept(NewJob request, Millis now, const Policy& policy) {
  JobDesk desk{.now = now, .policy = &policy};
  desk.view.job = {.request = std::move(request), .created_at = now};
  const NewJob& wanted = desk.view.job.request;
  for (const StepKind kind : {StepKind::split, StepKind::read, StepKind::assemble}) {
    desk.view.steps.push_back({.job = wanted.id, .kind = kind});
  }
  if (!wanted.webhook.empty()) desk.view.steps.push_back({.job = wanted.id, .kind = StepKind::deliver});
  desk.note("job.queued", dump({{"document", wanted.document}, {"operation", wanted.operation}}));
  open_one(desk, StepKind::split);
  return desk;
}

std::vector<Take> plan_claim(std::vector<Lane> lanes, int room) {
  std::vector<Take> takes;
  if (lanes.empty() || room <= 0) return takes;
  std::map<std::string, int> best;
  for (const Lane& lane : lanes) {
    const auto at = best.try_emplace(lane.tenant, lane.priority).first;
    at->second = std::max(at->second, lane.priority);
  }
  std::erase_if(lanes, [&best](const Lane& lane) { return lane.priority != best[lane.tenant]; });
  std::ranges::sort(lanes, {}, [](const Lane& lane) { return std::pair(lane.leased, lane.tenant); });
  // As if one task at a time went to whoever has least: level the lowest up to the next, then share what is left.
  for (const Lane& lane : lanes) takes.push_back({lane.tenant, lane.priority, 0, lane.alone});
  for (; room > 0; --room) {
    std::size_t least = 0;
    for (std::size_t i = 1; i < lanes.size(); ++i) {
      if (lanes[i].leased < lanes[least].leased) least = i;
    }
    ++lanes[least].leased;
    ++takes[least].count;
  }
  std::erase_if(takes, [](const Take& take) { return take.count == 0; });
  return takes;
}

std::vector<Held> unheard(std::span<const Task> leased, std::span<const Held> known) {
  std::vector<Held> found;
  for (const Task& task : leased) {
    const Held lease{.task = task.id, .token = task.token};
    if (task.state == TaskState::leased && std::ranges::find(known, lease) == known.end()) found.push_back(lease);
  }
  return found;
}

void lease(Task& task, const std::string& worker, Millis now, const Policy& policy) {
  task.state = TaskState::leased;
  task.worker = worker;
  task.lease_until = now + policy.lease;
  task.started_at = now;
  ++task.token;
  ++task.attempts;
}

void start_step(JobDesk& desk, StepKind kind) {
  Job& job = desk.view.job;
  if (!desk.has(kind)) return;
  Step& step = desk.step(kind);
  if (step.phase != Phase::queued || step.total == 0) return;
  if (over(job.phase) && kind != StepKind::deliver) return;
  step.phase = Phase::running;
  step.started_at = desk.now;
  if (job.phase == Phase::queued) {
    job.phase = Phase::running;
    job.started_at = desk.now;
    desk.note("job.running", "{}");
  }
  desk.note("step.running", dump(about(step)));
}

Verdict commit(JobDesk& desk, Task& task, const Outcome& outcome) {
  if (task.state == TaskState::cancelled) return Verdict::cancelled;
  if (task.token != outcome.token) {
    Json data = Json::object();
    if (task.kind == StepKind::read) data["page"] = task.number;
    data["token"] = outcome.token;
    data["token_now"] = task.token;
    desk.note(event_name(task.kind, "late"), dump(data));  // counted where everybody can see it
    return Verdict::late;
  }
  if (task.state != TaskState::leased) return Verdict::repeated;
  start_step(desk, task.kind);
  switch (outcome.ending) {
    case Ending::done:
      publish(desk, task, outcome);
      break;
    case Ending::failed:
      fail_task(desk, task, TaskState::failed, outcome.error, outcome.code);
      break;
    case Ending::again:
      try_again(desk, task, outcome);
      break;
    case Ending::give_back:
      hand_back(desk, task, outcome);
      break;
  }
  desk.changes.tasks.push_back(task);
  return Verdict::accepted;
}

std::vector<bool> blame(std::span<const Task> lost) {
  int most = 0;
  for (const Task& task : lost) most = std::max(most, task.losses);
  std::vector<bool> blamed;
  blamed.reserve(lost.size());
  for (const Task& task : lost) blamed.push_back(task.losses == most);
  return blamed;
}

void lose(JobDesk& desk, Task& task, bool blamed) {
  const Policy& policy = *desk.policy;
  if (blamed) ++task.losses;
  ++task.token;  // the worker may merely be slow: from here on it is late
  start_step(desk, task.kind);
  if (task.losses >= policy.losses_max) {
    fail_task(desk, task, TaskState::quarantined,
              "its worker died " + std::to_string(task.losses) + " times while working on it (last: " + task.worker +
                  "); it will not be tried again by itself");
  } else {
    task.alone = task.losses >= policy.alone_after;
    Json data = about(task);
    data["losses"] = task.losses;
    put_back(desk, task, 0);
    desk.note(event_name(task.kind, "lost"), dump(data));
  }
  desk.changes.tasks.push_back(task);
}

bool cancel(JobDesk& desk, std::span<Task> open, const std::string& why) {
  if (over(desk.view.job.phase)) return false;
  stop_tasks(desk, open);
  finish_job(desk, Phase::cancelled, why);
  return true;
}

void pass_deadline(JobDesk& desk, std::span<Task> open) {
  if (over(desk.view.job.phase)) return;
  stop_tasks(desk, open);
  desk.view.job.error_code = "deadline_passed";
  finish_job(desk, Phase::failed, "its deadline passed before it was done");
}

bool retry(JobDesk& desk, std::span<Task> failed, std::span<Task> later) {
  Job& job = desk.view.job;
  if (failed.empty() || (job.phase != Phase::succeeded && job.phase != Phase::failed)) return false;
  const StepKind first = failed.front().kind;
  if (desk.step(first).phase == Phase::cancelled) return false;  // its deadline passed: the rest was given up as well
  if (first != StepKind::deliver && deadline_passed(job, desk.now)) return false;  // it would only fail by it
  for (const Task& task : later) desk.changes.removed_tasks.push_back(task.id);
  for (Step& step : desk.view.steps) {
    if (step.kind > first) step = Step{.job = step.job, .kind = step.kind};
  }
  Step& step = desk.step(first);
  for (Task& task : failed) {
    task.state = TaskState::ready;
    task.attempts = 0;
    task.losses = 0;
    task.alone = false;
    task.error.clear();
    task.outcome = PageOutcome::none;
    task.result.clear();
    task.finished_at.reset();
    --step.done;
    if (first == StepKind::read) --job.pages.failed;
    desk.changes.tasks.push_back(task);
  }
  step.phase = Phase::queued;
  step.error.clear();
  step.finished_at.reset();
  if (first != StepKind::deliver) {  // a job is over before it is delivered
    job.phase = Phase::running;
    job.error.clear();
    job.error_code.clear();
    job.finished_at.reset();
    ++job.round;
  }
  desk.changes.work = true;
  desk.note("job.retried", dump({{"step", to_string(first)}, {"tasks", failed.size()}}));
  return true;
}

Millis backoff(int attempts, Millis first, Millis most) {
  const int doublings = std::clamp(attempts - 1, 0, 30);
  return std::min(most, first << doublings);
}

}  // namespace lectern::job
