#include "job/worker.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include "job/worker_hand.h"
#include "job/worker_pace.h"
#include "job/worker_trouble.h"
#include "telemetry/log.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

constexpr milliseconds idle_wait{5'000};  // a ring that got lost costs no more than this
constexpr milliseconds room_wait{1'000};  // room may grow without anything leaving the hand
// How long a worker that ends waits for a store that is away: after the grace, and when it has to end at once.
constexpr milliseconds last_commit_wait{4'000};
constexpr milliseconds hasty_commit_wait{1'000};
constexpr Millis unloadable_delay = 1'000;  // of a task whose job could not be loaded
constexpr std::size_t commit_batch_max = 256;

// Wakes one coroutine of the same loop. arm() before looking, wait with what it gave: no nudge in between is missed.
class Nudge {
 public:
  Cancellation arm() { return armed_ = Cancellation(); }
  void nudge() { armed_.request(); }

 private:
  Cancellation armed_;
};

}  // namespace

struct Worker::Impl {
  Impl(Store& s, WorkerOptions o)
      : store(s),
        options(std::move(o)),
        timers(*options.timers),
        trouble(options.name, s.description(), timers.clock()) {
    for (const auto& [kind, handler] : options.handlers) kinds.push_back(kind);
  }

  asio::awaitable<void> run();
  asio::awaitable<void> claim_loop();
  asio::awaitable<void> renew_loop();
  asio::awaitable<void> sweep_loop();
  asio::awaitable<void> commit_loop();
  asio::awaitable<void> end_in_order();
  asio::awaitable<void> wait_until_true(std::function<bool()> condition, TimePoint at_most);
  asio::awaitable<void> start(std::vector<Task> tasks);
  asio::awaitable<Result<std::shared_ptr<const Job>>> load_job(std::string id, StepKind kind);
  asio::awaitable<void> do_task(Task task, std::shared_ptr<const Job> job, Cancellation cancellation);
  asio::awaitable<void> commit_one_by_one(std::vector<Outcome> outcomes);
  asio::awaitable<void> tell_refused(Handler* handler, Outcome outcome);

  void spawn(asio::awaitable<void> work);
  void settle(const Outcome& outcome, Verdict verdict);
  void changed();
  Handler* handler_of(const Outcome& outcome) const;
  bool stopping() const { return options.stop.requested() || failure != nullptr; }
  TimePoint in(milliseconds time) const { return timers.clock().now() + time; }
  milliseconds backoff_after(int failures) { return store_backoff(failures, options.random->uniform()); }
  template <class T>
  void heard(const Result<T>& answer);

  // Constant after construction.
  Store& store;
  const WorkerOptions options;
  Timers& timers;
  std::vector<StepKind> kinds;

  // Used on the loop's thread alone.
  asio::any_io_executor executor;
  Hand hand;
  // Shared by the tasks of a step that are in hand together, and forgotten with the last of them.
  std::map<std::string, std::weak_ptr<const Job>> jobs;  // of pages
  WorkerFigures figures;
  WorkerTrouble trouble;
  TimePoint no_sweep_before;
  bool claiming = true;
  bool over = false;  // nothing is in hand any more, and nothing will be
  TimePoint commit_until = TimePoint::max();
  int running = 0;             // coroutines that were spawned and have not ended
  std::exception_ptr failure;  // of one of them: a bug, rethrown by run()
  Nudge claimer;
  Nudge renewer;
  Nudge sweeper;
  Nudge committer;
  Nudge ender;
  std::shared_ptr<bool> alive = std::make_shared<bool>(true);  // shared with what the stop has posted
};

Worker::Worker(Store& store, WorkerOptions options) : impl_(std::make_unique<Impl>(store, std::move(options))) {}
Worker::~Worker() = default;

asio::awaitable<void> Worker::run() {
  return impl_->run();
}

WorkerFigures Worker::figures() const {
  WorkerFigures figures = impl_->figures;
  figures.in_hand = impl_->hand.size();
  return figures;
}

asio::awaitable<void> Worker::Impl::run() {
  executor = co_await asio::this_coro::executor;
  // A stop may come from any thread; all of this belongs to the loop.
  const auto on_stop = [this, weak = std::weak_ptr(alive)] {
    asio::post(executor, [this, weak] {
      if (!weak.expired()) changed();
    });
  };
  const auto stop = options.stop.on_request(on_stop);
  const auto stop_now = options.stop_now.on_request([on_stop, also = options.stop]() mutable {
    also.request();
    on_stop();
  });
  no_sweep_before = in(sweep_after_outage(store.policy()));  // there may just have been one
  spawn(claim_loop());
  spawn(renew_loop());
  spawn(sweep_loop());
  spawn(commit_loop());
  co_await end_in_order();
  if (failure) std::rethrow_exception(failure);
}

void Worker::Impl::spawn(asio::awaitable<void> work) {
  ++running;
  asio::co_spawn(executor, std::move(work), [this](std::exception_ptr error) {
    --running;
    if (error && !failure) failure = error;
    changed();
  });
}

void Worker::Impl::changed() {
  for (Nudge* one : {&claimer, &committer, &ender}) one->nudge();
}

template <class T>
void Worker::Impl::heard(const Result<T>& answer) {
  const auto outage = trouble.heard(answer ? nullptr : &answer.error());
  if (outage && *outage >= renew_interval(store.policy())) no_sweep_before = in(sweep_after_outage(store.policy()));
}

// --- claiming --------------------------------------------------------------------------------------------------------

asio::awaitable<void> Worker::Impl::claim_loop() {
  int failures = 0;
  TimePoint unsure_until;  // a claim without an answer may be carried out even after the next one
  while (!stopping()) {
    Cancellation nudged = claimer.arm();
    const int room = std::max(1, options.room()) - hand.size();
    if (room <= 0) {
      co_await timers.wait_until(in(room_wait), nudged);
      continue;
    }
    ClaimRequest request{.worker = options.name, .kinds = kinds, .room = room, .alone = !hand.has_suspect()};
    if (failures > 0 || timers.clock().now() < unsure_until) request.known = hand.all();
    bool suspects_wait = !request.alone;
    const std::uint64_t mark = store.work_mark();
    auto tasks = co_await store.claim(std::move(request));
    heard(tasks);
    if (!tasks) {
      unsure_until = in(milliseconds(store.policy().lease));
      co_await timers.wait_until(in(backoff_after(++failures)), options.stop);
      continue;
    }
    failures = 0;
    const int got = static_cast<int>(tasks->size());
    figures.claimed += got;
    suspects_wait = suspects_wait || std::ranges::any_of(*tasks, &Task::alone);
    co_await start(std::move(*tasks));
    if (got == room) continue;
    // There was nothing else, but perhaps for a suspect that waits until the one in hand has left it.
    const TimePoint until = in(idle_wait);
    do {
      nudged = claimer.arm();
      if (stopping() || (suspects_wait && !hand.has_suspect())) break;
      co_await store.wait_for_work(mark, until, nudged);
    } while (nudged.requested());
  }
  claiming = false;
}

// The tasks are leased already: whatever happens, they are in hand.
asio::awaitable<void> Worker::Impl::start(std::vector<Task> tasks) {
  std::vector<Cancellation> cancellations(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) hand.take(tasks[i], cancellations[i]);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const LeaseKey key = key_of(tasks[i]);
    const auto job = co_await load_job(tasks[i].job, tasks[i].kind);
    if (job && *job && !stopping()) {
      spawn(do_task(std::move(tasks[i]), *job, cancellations[i]));
      continue;
    }
    // Of a job that was removed the verdict will be that it is late.
    Outcome outcome{.task = key.task, .token = key.token, .ending = Ending::give_back};
    if (!job) {
      outcome.error = "the job could not be loaded";
      outcome.delay = unloadable_delay;
    }
    if (!hand.ended(key, std::move(outcome))) hand.left(key);
    changed();
  }
}

asio::awaitable<Result<std::shared_ptr<const Job>>> Worker::Impl::load_job(std::string id, StepKind kind) {
  // Only pages share a job: by the time another task of the other steps comes, the job may have been retried.
  const bool shared = kind == StepKind::read;
  const std::string key = id;
  if (const auto at = jobs.find(key); shared && at != jobs.end()) {
    if (auto known = at->second.lock()) co_return known;
  }
  auto view = co_await store.job(std::move(id));
  heard(view);
  if (!view) co_return std::unexpected(view.error());
  if (!*view) co_return nullptr;
  std::erase_if(jobs, [](const auto& entry) { return entry.second.expired(); });
  auto job = std::make_shared<const Job>(std::move((*view)->job));
  if (shared) jobs[key] = job;
  co_return job;
}

// --- working ---------------------------------------------------------------------------------------------------------

asio::awaitable<void> Worker::Impl::do_task(Task task, std::shared_ptr<const Job> job, Cancellation cancellation) {
  const LeaseKey key = key_of(task);
  Handler* handler = options.handlers.at(task.kind);
  Outcome outcome;
  try {
    Work work{.task = std::move(task), .job = *job, .cancellation = std::move(cancellation)};
    outcome = co_await handler->handle(std::move(work));
  } catch (const std::exception& error) {  // a bug of the handler costs its task, with the reason for all to see
    telemetry::log(telemetry::LogLevel::error, "a handler threw", {{"error", error.what()}});
    outcome = Outcome{.ending = Ending::again, .error = std::string("internal error: ") + error.what()};
  }
  outcome.task = key.task;
  outcome.token = key.token;
  if (outcome.ending == Ending::give_back) {
    trouble.given_back(outcome.for_log.empty() ? outcome.error : outcome.for_log);
  }
  if (hand.ended(key, outcome)) {
    changed();
    co_return;
  }
  co_await tell_refused(handler, std::move(outcome));
  hand.left(key);
  changed();
}

asio::awaitable<void> Worker::Impl::tell_refused(Handler* handler, Outcome outcome) {
  try {
    co_await handler->refused(std::move(outcome));
  } catch (const std::exception& error) {  // what is left behind goes with its job
    telemetry::log(telemetry::LogLevel::error, "a handler threw", {{"error", error.what()}});
  }
}

// --- committing ------------------------------------------------------------------------------------------------------

asio::awaitable<void> Worker::Impl::commit_loop() {
  int failures = 0;
  std::vector<Outcome> batch;
  for (;;) {
    const Cancellation nudged = committer.arm();
    for (Outcome& outcome : hand.take_outcomes(commit_batch_max - batch.size())) batch.push_back(std::move(outcome));
    if (over) co_return;  // then there is nothing more to come
    if (batch.empty()) {
      co_await timers.wait_until(TimePoint::max(), nudged);
      continue;
    }
    const auto verdicts = co_await store.commit(batch);
    if (verdicts || may_pass(verdicts.error().kind)) heard(verdicts);
    if (!verdicts && may_pass(verdicts.error().kind) && timers.clock().now() < commit_until) {
      // A lost answer does no harm: the same commit again is known as such.
      co_await timers.wait_until(std::min(in(backoff_after(++failures)), commit_until), {});
      continue;
    }
    failures = 0;
    if (verdicts) {
      for (std::size_t i = 0; i < batch.size(); ++i) settle(batch[i], verdicts->at(i));
    } else if (may_pass(verdicts.error().kind)) {  // it has to end: the leases run out, and others do the tasks
      for (const Outcome& outcome : batch) hand.settled(key_of(outcome));
    } else {
      co_await commit_one_by_one(batch);
    }
    batch.clear();
    changed();
  }
}

// Something in the batch is such that the store cannot take it. The others must not suffer.
asio::awaitable<void> Worker::Impl::commit_one_by_one(std::vector<Outcome> outcomes) {
  for (Outcome& outcome : outcomes) {
    auto verdict = co_await store.commit({outcome});
    if (!verdict && !may_pass(verdict.error().kind)) {
      telemetry::log(telemetry::LogLevel::error, "an outcome cannot be stored",
                     {{"task", std::to_string(outcome.task)}, {"error", verdict.error().for_log}});
      Outcome failed{.task = outcome.task, .token = outcome.token, .ending = Ending::failed};
      failed.error = "its result could not be stored: " + verdict.error().for_caller;
      verdict = co_await store.commit({std::move(failed)});
    }
    if (verdict) {
      settle(outcome, verdict->front());
    } else {
      hand.settled(key_of(outcome));  // its lease runs out
    }
  }
}

Handler* Worker::Impl::handler_of(const Outcome& outcome) const {
  return options.handlers.at(hand.task(key_of(outcome)).kind);
}

void Worker::Impl::settle(const Outcome& outcome, Verdict verdict) {
  switch (verdict) {
    case Verdict::accepted:
    case Verdict::repeated:
      ++figures.committed;
      break;
    case Verdict::late:
      ++figures.late;
      spawn(tell_refused(handler_of(outcome), outcome));
      break;
    case Verdict::cancelled:
      ++figures.cancelled;
      spawn(tell_refused(handler_of(outcome), outcome));
      break;
  }
  hand.settled(key_of(outcome));
}

// --- renewing and sweeping -------------------------------------------------------------------------------------------

asio::awaitable<void> Worker::Impl::renew_loop() {
  TimePoint due = in(renew_interval(store.policy()));
  int failures = 0;
  while (!over) {
    const Cancellation nudged = renewer.arm();
    if (timers.clock().now() < due) {
      co_await timers.wait_until(due, nudged);
      continue;
    }
    due = in(renew_interval(store.policy()));
    const std::vector<Held> asked = hand.held();
    if (asked.empty()) continue;
    const auto still = co_await store.renew(asked);
    heard(still);
    if (!still) {
      due = std::min(due, in(backoff_after(++failures)));
      continue;
    }
    failures = 0;
    const auto lost = hand.renewed(asked, *still);
    figures.lost += static_cast<std::int64_t>(lost.size());
    for (Cancellation one : lost) one.request();
  }
}

asio::awaitable<void> Worker::Impl::sweep_loop() {
  TimePoint due;
  while (!over) {
    const Cancellation nudged = sweeper.arm();
    if (const TimePoint when = std::max(due, no_sweep_before); timers.clock().now() < when) {
      co_await timers.wait_until(when, nudged);
      continue;
    }
    const auto swept = co_await store.sweep();
    heard(swept);
    const auto wall = timers.clock().wall().time_since_epoch();
    const Millis now = std::chrono::duration_cast<milliseconds>(wall).count();
    due = in(next_sweep(options.random->uniform(), swept ? swept->next_wake : std::nullopt, now));
    if (!swept || swept->lost == 0) continue;
    telemetry::log(telemetry::LogLevel::warning, "workers were lost; their tasks go to others",
                   {{"tasks", std::to_string(swept->lost)}, {"quarantined", std::to_string(swept->quarantined)}});
  }
}

// --- ending ----------------------------------------------------------------------------------------------------------

asio::awaitable<void> Worker::Impl::end_in_order() {
  co_await wait_until_true([this] { return stopping(); }, TimePoint::max());
  co_await wait_until_true([this] { return hand.size() == 0 || options.stop_now.requested() || failure; },
                           in(options.grace));
  // What handlers do not let go of at once is given back before they end: their results are refused anyway.
  const auto given = hand.give_back();
  for (Cancellation one : given) one.request();
  commit_until = in(options.stop_now.requested() ? hasty_commit_wait : last_commit_wait);
  changed();
  co_await wait_until_true([this] { return (!claiming && hand.size() == 0) || failure; }, TimePoint::max());
  over = true;
  renewer.nudge();
  sweeper.nudge();
  changed();
  co_await wait_until_true([this] { return running == 0; }, TimePoint::max());
}

// `condition` is asked again whenever something changed.
asio::awaitable<void> Worker::Impl::wait_until_true(std::function<bool()> condition, TimePoint at_most) {
  for (;;) {
    const Cancellation nudged = ender.arm();
    if (condition() || timers.clock().now() >= at_most) co_return;
    co_await timers.wait_until(at_most, nudged);
  }
}

}  // namespace lectern::job
