// Workers on a loop and a clock that the test moves by hand, over an inline database; and a handler that does as told.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "job/inline_database.h"
#include "job/worker.h"

namespace lectern::job {

// Works on a task until the test lets it end. With `at_once` it needs no time.
class FakeHandler final : public Handler {
 public:
  explicit FakeHandler(Timers& timers) : timers_(timers) {}

  boost::asio::awaitable<Outcome> handle(Work work) override {
    const std::string name = name_of(work.task);
    begun.push_back(name);
    jobs.push_back(work.job.request.id);
    ++working;
    working_most = std::max(working_most, working);
    if (!at_once) {
      Cancellation woken;
      working_on[name] = woken;
      const auto token = work.cancellation.on_request([woken]() mutable { woken.request(); });
      while (deaf ? !let_go.contains(name) : !woken.requested()) {
        co_await timers_.wait_until(TimePoint::max(), woken);
        if (deaf && !let_go.contains(name)) {
          woken = Cancellation();
          working_on[name] = woken;
        }
      }
    }
    --working;
    if (work.cancellation.requested()) cancelled.push_back(name);
    if (throws) throw std::runtime_error("a bug");
    const auto scripted = outcomes.find(name);
    Outcome outcome = scripted == outcomes.end() ? Outcome{} : scripted->second;
    if (work.task.kind == StepKind::split) {
      outcome.pages_total = pages;
      for (int page = 1; page <= pages; ++page) outcome.pages.push_back(page);
    }
    if (work.task.kind == StepKind::read && outcome.ending == Ending::done) outcome.page = PageOutcome::ok;
    outcome.result = name;
    co_return outcome;
  }
  boost::asio::awaitable<void> refused(Outcome outcome) override {
    refusals.push_back(outcome.result);
    co_return;
  }

  void end(const std::string& name) {
    let_go[name] = true;
    working_on.at(name).request();
  }
  static std::string name_of(const Task& task) {
    return task.kind == StepKind::read ? "page " + std::to_string(task.number) : std::string(to_string(task.kind));
  }

  bool at_once = true;
  bool deaf = false;  // does not listen to cancellation
  bool throws = false;
  int pages = 3;
  std::map<std::string, Outcome> outcomes;
  std::vector<std::string> begun;
  std::vector<std::string> jobs;
  std::vector<std::string> cancelled;
  std::vector<std::string> refusals;
  int working = 0;
  int working_most = 0;
  std::map<std::string, Cancellation> working_on;
  std::map<std::string, bool> let_go;

 private:
  Timers& timers_;
};

struct RunningWorker {
  Cancellation stop;
  Cancellation stop_now;
  std::unique_ptr<Worker> worker;
  bool ended = false;
  std::exception_ptr failure;
};

class WorkerTest : public testing::Test {
 protected:
  WorkerTest() : store(std::make_unique<InlineDatabase>(database), Policy{}, timers), handler(timers) {
    pass(std::chrono::hours(1));
  }

  // Whatever a test leaves running ends in order.
  void TearDown() override {
    database.away = false;
    database.before_write = {};
    for (auto& [name, woken] : handler.working_on) handler.end(name);
    for (const auto& one : workers) one->stop_now.request();
    pass(std::chrono::seconds(10));
    for (auto& [name, woken] : handler.working_on) handler.end(name);
    pass(std::chrono::seconds(1));
    for (const auto& one : workers) EXPECT_TRUE(one->ended);
  }

  RunningWorker& start(int room = 4, std::chrono::milliseconds grace = std::chrono::seconds(25)) {
    auto& one = *workers.emplace_back(std::make_unique<RunningWorker>());
    WorkerOptions options{.name = "worker " + std::to_string(workers.size()),
                          .room = [room] { return room; },
                          .timers = &timers,
                          .random = &random,
                          .stop = one.stop,
                          .grace = grace,
                          .stop_now = one.stop_now};
    for (const StepKind kind : {StepKind::split, StepKind::read, StepKind::assemble}) options.handlers[kind] = &handler;
    one.worker = std::make_unique<Worker>(store, std::move(options));
    boost::asio::co_spawn(loop, one.worker->run(), [&one](std::exception_ptr error) {
      one.ended = true;
      one.failure = error;
    });
    settle();
    return one;
  }
  void submit(const std::string& id) {
    boost::asio::co_spawn(loop, store.submit({.id = id}), [](std::exception_ptr, Result<Submitted> done) {
      EXPECT_TRUE(done) << done.error().for_log;
    });
    settle();
  }
  template <class T>
  T call(boost::asio::awaitable<T> coroutine) {
    std::optional<T> result;
    boost::asio::co_spawn(loop, std::move(coroutine), [&](std::exception_ptr error, T value) {
      if (error) std::rethrow_exception(error);
      result = std::move(value);
    });
    settle();
    return std::move(*result);
  }
  Phase phase(const std::string& id) const { return database.tables.jobs.at(id).job.phase; }
  Task& task(const std::string& name) {
    for (auto& [id, task] : database.tables.tasks) {
      if (FakeHandler::name_of(task) == name) return task;
    }
    throw std::out_of_range(name);
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void pass(std::chrono::nanoseconds time) {
    const TimePoint end = now() + std::chrono::duration_cast<TimePoint::duration>(time);
    for (settle(); timers.next() <= end; settle()) timers.advance(timers.next() - now());
    timers.advance(end - now());
    settle();
  }
  TimePoint now() const { return timers.clock().now(); }

  ManualTimers timers;
  SeededRandom random{1};
  boost::asio::io_context loop;
  InlineState database{timers.clock()};
  Store store;
  FakeHandler handler;
  std::vector<std::unique_ptr<RunningWorker>> workers;
};

}  // namespace lectern::job
