#include "job/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>

#include "base/random.h"
#include "job/memory/memory_ledger.h"
#include "job/operations.h"

namespace lectern::job {
namespace {

constexpr Millis faults_until = 60'000;  // then everything behaves, and all must come to an end
constexpr Millis patience = 4'000'000;   // of which this much is more than any backoff adds up to
constexpr int workers_most = 4;
constexpr std::array<StepKind, 4> all_kinds{StepKind::split, StepKind::read, StepKind::assemble, StepKind::deliver};

// How bad this seed's world is; some seeds have a quiet one in most respects.
struct Weather {
  double lose_transaction = 0;
  double lose_answer = 0;
  double crash = 0;  // a worker's tick
  double stall = 0;
  double clock_jump = 0;  // a sweep
  double page_fails = 0;
  double page_again = 0;
  double poisonous = 0;  // a page
  bool people = false;   // who cancel, retry, repeat, set deadlines
};

Weather weather_of(Random& random) {
  const auto sometimes = [&random](double most) { return random.below(2) == 0 ? 0 : most * random.uniform(); };
  Weather weather;
  weather.lose_transaction = sometimes(0.2);
  weather.lose_answer = sometimes(0.2);
  weather.crash = sometimes(0.03);
  weather.stall = sometimes(0.05);
  weather.clock_jump = sometimes(0.05);
  weather.page_fails = sometimes(0.1);
  weather.page_again = sometimes(0.2);
  weather.poisonous = sometimes(0.05);
  weather.people = random.below(2) == 0;
  return weather;
}

class Simulation {
 public:
  Simulation(std::uint64_t seed, bool trace) : random_(seed), weather_(weather_of(random_)), tracing_(trace) {
    report_.seed = seed;
    policy_.delivery_attempts_max = 6;
    policy_.delivery_backoff_most = 60'000;
  }

  SimulationReport run();

 private:
  struct InHand {
    Task task;
    Outcome outcome;
    bool finished = false;
    bool sent = false;  // a commit was sent at least once
  };
  struct SimWorker {
    std::string name;
    int room = 4;
    Millis stalled_until = 0;
    bool unsure = false;  // its last claim got no answer
    std::map<std::int64_t, InHand> hand;
  };

  bool faulty() const { return time_ < faults_until; }
  bool chance(double probability) { return faulty() && random_.uniform() < probability; }
  void say(std::string text) {
    if (tracing_) report_.trace.push_back(fmt::format("{:>8} {}", time_, text));
  }
  void broken(std::string text) {
    if (report_.failures.size() < 20) report_.failures.push_back(fmt::format("at {}: {}", time_, text));
    say("BROKEN: " + report_.failures.back());
  }
  void at(Millis delay, std::function<void()> action) {
    agenda_.push({time_ + delay, ++agenda_order_, std::move(action)});
  }

  // One transaction as its caller sees it: nullopt = it failed, or it went through and the answer was lost.
  template <class T>
  std::optional<T> transact(const char* what, const std::function<Result<T>(Ledger&)>& work);

  void submit_some();
  void people();
  void sweep_tick(int worker);
  void worker_tick(int index);
  void claim_some(SimWorker& worker);
  void begin(SimWorker& worker, const Task& task);
  Outcome outcome_for(const Task& task);
  void finish(const std::string& worker, std::int64_t task, std::int64_t token);
  void renew_all(SimWorker& worker);
  void commit_finished(SimWorker& worker);
  void crash(SimWorker& worker, const std::string& why);
  void restart(SimWorker& worker);
  void check_tables();
  void check_end();
  bool poisonous(const Task& task) const {
    return poison_.contains({task.job, task.number}) && task.kind == StepKind::read;
  }

  struct Entry {
    Millis when;
    std::int64_t order;
    std::function<void()> action;
    bool operator>(const Entry& other) const { return std::tie(when, order) > std::tie(other.when, other.order); }
  };

  SeededRandom random_;
  const Weather weather_;
  const bool tracing_;
  Policy policy_;
  SimulationReport report_;
  MemoryTables tables_;
  Millis time_ = 0;                 // true time
  Millis clock_ahead_ = 1'000'000;  // the database's clock against it
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> agenda_;
  std::int64_t agenda_order_ = 0;
  std::vector<SimWorker> workers_;
  int names_ = 0;
  std::set<std::pair<std::string, int>> poison_;
  std::map<std::pair<std::string, int>, int> kills_;
  // What was acknowledged to whom.
  std::vector<NewJob> accepted_;
  std::map<std::pair<std::int64_t, int>, std::int64_t> published_;  // (task, round) → token
  std::set<std::pair<std::int64_t, std::int64_t>> committed_;       // (task, token)
};

template <class T>
std::optional<T> Simulation::transact(const char* what, const std::function<Result<T>(Ledger&)>& work) {
  ++report_.transactions;
  const bool lose = chance(weather_.lose_transaction);
  std::optional<MemoryTables> before;
  if (lose) before = tables_;
  MemoryLedger ledger(tables_, time_ + clock_ahead_);
  auto result = work(ledger);
  if (lose) {
    tables_ = std::move(*before);
    ++report_.transactions_lost;
    say(fmt::format("{}: rolled back", what));
    return std::nullopt;
  }
  if (!result) {
    // The only errors that operations give on sound tables are of the caller's doing.
    if (result.error().kind != ErrorKind::conflict && result.error().kind != ErrorKind::not_found) {
      broken(fmt::format("{}: {}", what, result.error().for_log));
    }
    return std::nullopt;
  }
  check_tables();
  if (chance(weather_.lose_answer)) {
    ++report_.answers_lost;
    say(fmt::format("{}: the answer was lost", what));
    return std::nullopt;
  }
  return std::move(*result);
}

void Simulation::submit_some() {
  const int jobs = 1 + static_cast<int>(random_.below(5));
  for (int i = 0; i < jobs; ++i) {
    NewJob job;
    job.id = fmt::format("job_{:04}", i);
    job.tenant = random_.below(2) == 0 ? "one" : "two";
    job.priority = static_cast<int>(random_.below(3)) - 1;
    job.document = "sim.pdf";
    if (random_.below(3) == 0) job.webhook = "https://example.org/hook";
    if (weather_.people && random_.below(4) == 0) {
      job.deadline = time_ + clock_ahead_ + 2'000 + static_cast<Millis>(random_.below(60'000));
    }
    job.idempotency_key = fmt::format("key-{}", i);
    job.fingerprint = "same";
    // Whoever gets no answer sends again, with the same key: one job comes of it.
    const auto send = std::make_shared<std::function<void()>>();
    *send = [this, job, send = std::weak_ptr(send), keep = send]() mutable {
      auto done = transact<Submitted>("submit", [&](Ledger& ledger) { return submit(ledger, policy_, job); });
      if (!done) {
        const auto again = keep;
        at(500, [again] { (*again)(); });
        return;
      }
      say(fmt::format("submitted {}{}", job.id, done->existed ? " (again)" : ""));
      accepted_.push_back(job);
      ++report_.jobs;
      keep.reset();
    };
    at(static_cast<Millis>(random_.below(20'000)), [send] { (*send)(); });
  }
}

void Simulation::people() {
  if (!weather_.people) return;
  if (!accepted_.empty() && faulty()) {
    const std::string id = accepted_[random_.below(accepted_.size())].id;
    const auto choice = random_.below(8);
    if (choice == 0) {
      if (transact<JobView>("cancel", [&](Ledger& l) { return cancel_job(l, policy_, id, "somebody said so"); })) {
        ++report_.cancelled;
        say("cancelled " + id);
      }
    } else if (choice <= 3) {
      if (transact<JobView>("retry", [&](Ledger& l) { return retry_job(l, policy_, id); })) {
        ++report_.retried;
        say("retried " + id);
      }
    }
  }
  if (faulty()) at(1'000 + static_cast<Millis>(random_.below(8'000)), [this] { people(); });
}

void Simulation::sweep_tick(int worker) {
  if (chance(weather_.clock_jump)) {
    clock_ahead_ += static_cast<Millis>(random_.below(40'000)) - 20'000;
    ++report_.clock_jumps;
    say(fmt::format("the database's clock jumps: {} ahead", clock_ahead_));
  }
  SimWorker& one = workers_[static_cast<std::size_t>(worker)];
  if (one.stalled_until <= time_) {
    if (auto swept = transact<Swept>("sweep", [&](Ledger& l) { return sweep(l, policy_); })) {
      report_.lost += swept->lost;
      report_.quarantined += swept->quarantined;
      report_.past_deadline += swept->past_deadline;
    }
  }
  at(900 + static_cast<Millis>(random_.below(200)), [this, worker] { sweep_tick(worker); });
}

void Simulation::worker_tick(int index) {
  SimWorker& worker = workers_[static_cast<std::size_t>(index)];
  if (worker.stalled_until <= time_) {
    if (chance(weather_.crash)) {
      crash(worker, "killed");
      restart(worker);
    } else if (chance(weather_.stall)) {
      worker.stalled_until = time_ + static_cast<Millis>(random_.below(40'000));
      ++report_.stalls;
      say(worker.name + " stalls");
    } else {
      commit_finished(worker);
      renew_all(worker);
      claim_some(worker);
    }
  }
  // Three times a lease, as the real one.
  at(300 + static_cast<Millis>(random_.below(policy_.lease / 3 - 300)), [this, index] { worker_tick(index); });
}

void Simulation::claim_some(SimWorker& worker) {
  const int room = worker.room - static_cast<int>(worker.hand.size());
  if (room <= 0) return;
  const bool alone = std::ranges::none_of(worker.hand, [](const auto& entry) { return entry.second.task.alone; });
  ClaimRequest request{
      .worker = worker.name, .kinds = {all_kinds.begin(), all_kinds.end()}, .room = room, .alone = alone};
  // A claim whose answer is lost leaves leases that nobody knows of: who claims again is given them again.
  if (worker.unsure) {
    request.known.emplace();
    for (const auto& [id, one] : worker.hand) request.known->push_back({id, one.task.token});
  }
  auto leased = transact<std::vector<Leased>>("claim", [&](Ledger& l) { return claim(l, policy_, request); });
  worker.unsure = !leased;
  if (!leased) return;
  if (static_cast<int>(leased->size()) > room) broken("more was claimed than there was room for");
  if (std::ranges::any_of(*leased, &Leased::first)) {
    transact<bool>("begin", [&](Ledger& l) -> Result<bool> {
      if (auto begun = begin_steps(l, policy_, *leased); !begun) return std::unexpected(begun.error());
      return true;
    });
  }
  // By copy: a poisonous task takes the worker, and its hand, away.
  const std::string name = worker.name;
  for (const Leased& one : *leased) {
    if (worker.name != name) return;
    begin(worker, one.task);
  }
}

void Simulation::begin(SimWorker& worker, const Task& task) {
  say(fmt::format("{} begins {} {} {} (token {})", worker.name, task.job, to_string(task.kind), task.number,
                  task.token));
  worker.hand[task.id] = {.task = task};
  const Millis takes = 50 + static_cast<Millis>(random_.below(random_.below(10) == 0 ? 30'000 : 2'000));
  at(takes, [this, name = worker.name, id = task.id, token = task.token] { finish(name, id, token); });
}

Outcome Simulation::outcome_for(const Task& task) {
  Outcome outcome{.task = task.id, .token = task.token};
  outcome.result = fmt::format("{}/{}/{}-{}", task.job, to_string(task.kind), task.number, task.token);
  if (chance(weather_.page_again)) {
    outcome.ending = random_.below(2) == 0 ? Ending::again : Ending::give_back;
    outcome.error = "the engine is away";
  } else if (chance(weather_.page_fails)) {
    outcome.ending = random_.below(2) == 0 ? Ending::failed : Ending::done;
    outcome.page = PageOutcome::failed;
    outcome.error = "unreadable";
  } else {
    outcome.page = random_.below(8) == 0 ? PageOutcome::fallback : PageOutcome::ok;
  }
  if (task.kind == StepKind::split) {
    const int pages = static_cast<int>(random_.below(12));
    for (int page = 1; page <= pages; ++page) outcome.pages.push_back(page);
    outcome.pages_total = pages;
  }
  return outcome;
}

void Simulation::finish(const std::string& worker, std::int64_t id, std::int64_t token) {
  const auto owner = std::ranges::find(workers_, worker, &SimWorker::name);
  if (owner == workers_.end()) return;  // it died meanwhile
  if (owner->stalled_until > time_) {
    at(owner->stalled_until - time_, [this, worker, id, token] { finish(worker, id, token); });
    return;
  }
  const auto found = owner->hand.find(id);
  if (found == owner->hand.end() || found->second.task.token != token) return;
  if (poisonous(found->second.task)) {
    const auto& task = found->second.task;
    ++kills_[{task.job, task.number}];
    crash(*owner, fmt::format("page {} of {} kills it", task.number, task.job));
    restart(*owner);
    return;
  }
  found->second.outcome = outcome_for(found->second.task);
  found->second.finished = true;
  if (random_.below(2) == 0) commit_finished(*owner);  // else with the next tick, with others
}

void Simulation::renew_all(SimWorker& worker) {
  std::vector<Held> held;
  for (const auto& [id, one] : worker.hand) held.push_back({id, one.task.token});
  if (held.empty()) return;
  auto still = transact<std::vector<std::int64_t>>("renew", [&](Ledger& l) { return renew(l, policy_, held); });
  if (!still) return;
  std::erase_if(worker.hand, [&](const auto& entry) {
    // What was sent without an answer may have been accepted: it is repeated, not dropped.
    return !entry.second.sent && std::ranges::find(*still, entry.first) == still->end();
  });
}

void Simulation::commit_finished(SimWorker& worker) {
  std::vector<Outcome> outcomes;
  for (auto& [id, one] : worker.hand) {
    if (!one.finished) continue;
    one.sent = true;
    outcomes.push_back(one.outcome);
  }
  if (outcomes.empty()) return;
  // Noted inside, where it is certain: the answer may be lost afterwards.
  struct Certain {
    std::int64_t task;
    std::int64_t token;
    int round;
    bool published;
  };
  std::vector<Certain> certain;
  const int lost_before = report_.transactions_lost;
  auto verdicts = transact<std::vector<Verdict>>("commit", [&](Ledger& l) -> Result<std::vector<Verdict>> {
    std::vector<int> rounds;
    for (const Outcome& outcome : outcomes) {
      const auto task = tables_.tasks.find(outcome.task);
      rounds.push_back(task == tables_.tasks.end() ? 0 : tables_.jobs.at(task->second.job).job.round);
    }
    auto all = commit_tasks(l, policy_, outcomes);
    for (std::size_t i = 0; all && i < outcomes.size(); ++i) {
      if ((*all)[i] == Verdict::accepted) {
        certain.push_back({outcomes[i].task, outcomes[i].token, rounds[i], outcomes[i].ending == Ending::done});
      }
    }
    return all;
  });
  if (report_.transactions_lost == lost_before) {
    for (const Certain& one : certain) {
      committed_.emplace(one.task, one.token);
      if (one.published && !published_.try_emplace({one.task, one.round}, one.token).second) {
        broken(fmt::format("task {} was published twice in round {}", one.task, one.round));
      }
    }
  }
  if (!verdicts) return;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    report_.late += (*verdicts)[i] == Verdict::late ? 1 : 0;
    if ((*verdicts)[i] == Verdict::repeated) {
      ++report_.repeated;
      if (!committed_.contains({outcomes[i].task, outcomes[i].token})) {
        broken(fmt::format("a commit of task {} was taken for one that had been accepted", outcomes[i].task));
      }
    }
    worker.hand.erase(outcomes[i].task);
  }
}

void Simulation::crash(SimWorker& worker, const std::string& why) {
  ++report_.crashes;
  say(fmt::format("{} dies: {}", worker.name, why));
  worker.hand.clear();
}

void Simulation::restart(SimWorker& worker) {
  worker.name = fmt::format("w{}", ++names_);
  worker.unsure = false;
  worker.stalled_until = time_ + static_cast<Millis>(random_.below(3'000));
}

// True after every transaction, whoever made it.
void Simulation::check_tables() {
  std::map<std::pair<std::string, StepKind>, std::pair<int, int>> tasks;  // over, all
  std::map<std::string, int> open;
  std::set<std::tuple<std::string, StepKind, int>> places;
  for (const auto& [id, task] : tables_.tasks) {
    auto& [done, all] = tasks[{task.job, task.kind}];
    ++all;
    done += over(task.state) ? 1 : 0;
    if (!over(task.state) && task.kind != StepKind::deliver) ++open[task.job];
    if (!places.emplace(task.job, task.kind, task.number).second) {
      broken(fmt::format("{} has two tasks for {} {}", task.job, to_string(task.kind), task.number));
    }
    if (task.state == TaskState::done && poisonous(task)) broken("a page that kills every reader was read");
  }
  for (const auto& [id, view] : tables_.jobs) {
    const auto& events = tables_.events[id];
    if (static_cast<std::int64_t>(events.size()) != view.job.event_count ||
        (!events.empty() && events.back().number != view.job.event_count)) {
      broken(id + ": its events have gaps");
    }
    if (over(view.job.phase) && open[id] > 0) broken(id + " is over, but has work left");
    if (!over(view.job.phase) && open[id] == 0) broken(id + " is not over, but nothing is left to do: it is stuck");
    for (const Step& step : view.steps) {
      const auto [done, all] = tasks[{id, step.kind}];
      if (step.phase == Phase::cancelled) continue;
      if (step.done != done || step.total != all) {
        broken(fmt::format("{} {}: says {} of {}, is {} of {}", id, to_string(step.kind), step.done, step.total, done,
                           all));
      }
    }
  }
}

void Simulation::check_end() {
  std::set<std::string> ids;
  for (const NewJob& job : accepted_) {
    ids.insert(job.id);
    const auto found = tables_.jobs.find(job.id);
    if (found == tables_.jobs.end()) {
      broken(job.id + " was acknowledged and is gone");
      continue;
    }
    const JobView& view = found->second;
    if (!over(view.job.phase)) broken(fmt::format("{} never ended ({})", job.id, to_string(view.job.phase)));
    const bool whole = view.job.phase == Phase::succeeded;
    const Counts& counts = view.job.pages;
    report_.pages += counts.ok + counts.fallback + counts.failed;
    if (whole && counts.ok + counts.fallback + counts.failed != view.job.pages_total) {
      broken(fmt::format("{}: {} + {} + {} pages of {}", job.id, counts.ok, counts.fallback, counts.failed,
                         view.job.pages_total));
    }
    for (const Step& step : view.steps) {
      if (!over(step.phase)) broken(fmt::format("{}: step {} never ended", job.id, to_string(step.kind)));
    }
  }
  if (ids.size() != tables_.jobs.size()) broken("there are jobs that nobody was told of");
  for (const auto& [id, task] : tables_.tasks) {
    if (task.state != TaskState::done) continue;
    // A result counts only if the lease that made it was the last.
    if (!task.result.ends_with(fmt::format("-{}", task.token))) {
      broken(fmt::format("task {} points at {}, its token is {}", id, task.result, task.token));
    }
  }
  // Answers get lost, but nobody dies, and what is asked is done: then nobody loses a lease, and no page is blamed.
  const bool calm = weather_.crash == 0 && weather_.stall == 0 && weather_.clock_jump == 0 &&
                    weather_.lose_transaction == 0 && report_.retried == 0;
  if (calm && poison_.empty() && report_.lost > 0) broken(fmt::format("{} leases were lost by nobody", report_.lost));
  // Where nothing else kills workers and there is one such page, it kills three, and nobody else is blamed for it.
  if (calm && poison_.size() == 1) {
    for (const auto& [page, kills] : kills_) {
      if (kills > policy_.losses_max)
        broken(fmt::format("page {} of {} killed {} workers", page.second, page.first, kills));
    }
    for (const auto& [id, task] : tables_.tasks) {
      if (task.state == TaskState::quarantined && !poisonous(task)) broken("an innocent page was put into quarantine");
    }
  }
}

SimulationReport Simulation::run() {
  const int workers = 1 + static_cast<int>(random_.below(workers_most));
  for (int i = 0; i < workers; ++i) {
    workers_.push_back({.name = fmt::format("w{}", ++names_), .room = 1 + static_cast<int>(random_.below(8))});
  }
  for (int job = 0; job < 5; ++job) {
    for (int page = 1; page <= 12; ++page) {
      if (random_.uniform() < weather_.poisonous) poison_.emplace(fmt::format("job_{:04}", job), page);
    }
  }
  submit_some();
  for (int i = 0; i < workers; ++i) {
    at(static_cast<Millis>(random_.below(1'000)), [this, i] { worker_tick(i); });
    at(static_cast<Millis>(random_.below(1'000)), [this, i] { sweep_tick(i); });
  }
  at(2'000, [this] { people(); });
  const auto ended = [this] {
    return !faulty() && std::ranges::all_of(tables_.jobs, [](const auto& entry) {
      return over(entry.second.job.phase) &&
             std::ranges::all_of(entry.second.steps, [](const Step& step) { return over(step.phase); });
    });
  };
  while (!agenda_.empty() && time_ < patience && report_.failures.empty() && !ended()) {
    Entry entry = agenda_.top();
    agenda_.pop();
    time_ = entry.when;
    entry.action();
  }
  if (report_.failures.empty()) check_end();
  return std::move(report_);
}

}  // namespace

SimulationReport simulate(std::uint64_t seed, bool trace) {
  return Simulation(seed, trace).run();
}

}  // namespace lectern::job
