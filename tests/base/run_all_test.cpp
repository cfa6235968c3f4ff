#include "base/run_all.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "base/timers.h"

namespace lectern {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct Bench {
  ManualTimers timers;
  asio::io_context loop;
  std::vector<std::string> events;
  Cancellation stop;
};

asio::awaitable<void> work(Bench* bench, std::string name, std::chrono::seconds time) {
  bench->events.push_back(name + " begins");
  co_await bench->timers.wait_for(time, bench->stop);
  bench->events.push_back(name + (bench->stop.requested() ? " stops" : " ends"));
}

asio::awaitable<void> fail_after(Bench* bench, std::chrono::seconds time, std::string message) {
  co_await bench->timers.wait_for(time, {});
  throw std::runtime_error(message);
}

// Waits for them and tells what was thrown.
asio::awaitable<void> wait(Bench* bench, std::vector<asio::awaitable<void>> coroutines,
                           std::function<void()> on_failure) {
  try {
    co_await run_all(std::move(coroutines), std::move(on_failure));
    bench->events.emplace_back("all");
  } catch (const std::runtime_error& error) {
    bench->events.emplace_back(error.what());
  }
}

void start(Bench& bench, std::vector<asio::awaitable<void>> coroutines, std::function<void()> on_failure = {}) {
  asio::co_spawn(bench.loop, wait(&bench, std::move(coroutines), std::move(on_failure)), asio::detached);
  bench.loop.poll();
}

void pass(Bench& bench, std::chrono::seconds time) {
  bench.timers.advance(time);
  bench.loop.restart();
  bench.loop.poll();
}

TEST(RunAll, AllRunAtOnceAndTheLastEndsIt) {
  Bench bench;
  std::vector<asio::awaitable<void>> both;
  both.push_back(work(&bench, "a", 2s));
  both.push_back(work(&bench, "b", 1s));
  start(bench, std::move(both));
  EXPECT_EQ(bench.events, (std::vector<std::string>{"a begins", "b begins"}));
  pass(bench, 1s);
  EXPECT_EQ(bench.events.back(), "b ends");
  pass(bench, 1s);
  EXPECT_EQ(bench.events, (std::vector<std::string>{"a begins", "b begins", "b ends", "a ends", "all"}));
}

TEST(RunAll, NothingToRunIsDoneAtOnce) {
  Bench bench;
  start(bench, {});
  EXPECT_EQ(bench.events, std::vector<std::string>{"all"});
}

TEST(RunAll, AFailureWaitsForTheOthersAndTheFirstIsTold) {
  Bench bench;
  std::vector<asio::awaitable<void>> three;
  three.push_back(work(&bench, "a", 9s));
  three.push_back(fail_after(&bench, 2s, "second"));
  three.push_back(fail_after(&bench, 1s, "first"));
  int told = 0;
  start(bench, std::move(three), [&told] { ++told; });
  pass(bench, 1s);
  EXPECT_EQ(told, 1);
  pass(bench, 1s);
  EXPECT_EQ(told, 2);
  EXPECT_EQ(bench.events, std::vector<std::string>{"a begins"}) << "somebody still runs";
  pass(bench, 7s);
  EXPECT_EQ(bench.events, (std::vector<std::string>{"a begins", "a ends", "first"}));
}

TEST(RunAll, TheOthersCanBeToldToStop) {
  Bench bench;
  std::vector<asio::awaitable<void>> both;
  both.push_back(work(&bench, "a", 9s));
  both.push_back(fail_after(&bench, 1s, "no more"));
  start(bench, std::move(both), [&bench] { bench.stop.request(); });
  pass(bench, 1s);
  EXPECT_EQ(bench.events, (std::vector<std::string>{"a begins", "a stops", "no more"}));
}

}  // namespace
}  // namespace lectern
