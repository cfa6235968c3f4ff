#include "base/async.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/cancellation.h"
#include "base/channel.h"
#include "run_coroutine.h"

namespace lectern {
namespace {

namespace asio = boost::asio;

TEST(CpuPool, RunsWorkElsewhereAndResumesOnTheCallersExecutor) {
  CpuPool pool(2);
  asio::io_context loop;
  struct Seen {
    std::thread::id worker, before, after;
  };
  auto coroutine = [](CpuPool* cpu) -> asio::awaitable<Seen> {
    Seen seen;
    seen.before = std::this_thread::get_id();
    seen.worker = co_await cpu->run([] { return std::this_thread::get_id(); });
    seen.after = std::this_thread::get_id();
    co_return seen;
  };
  const Seen seen = run_coroutine(loop, coroutine(&pool));
  EXPECT_EQ(seen.before, seen.after);
  EXPECT_NE(seen.worker, seen.before);
}

TEST(CpuPool, RethrowsWhatTheWorkThrew) {
  CpuPool pool(1);
  asio::io_context loop;
  auto coroutine = [](CpuPool* cpu) -> asio::awaitable<int> {
    co_return co_await cpu->run([]() -> int { throw std::runtime_error("bad page"); });
  };
  EXPECT_THROW(run_coroutine(loop, coroutine(&pool)), std::runtime_error);
}

TEST(Channel, KeepsItsBoundAndDeliversInOrderThenEnds) {
  asio::io_context loop;
  Channel<int> channel(2);
  EXPECT_TRUE(channel.try_send(1));
  EXPECT_TRUE(channel.try_send(2));
  EXPECT_FALSE(channel.try_send(3)) << "a full channel must refuse";
  channel.close();
  auto drain = [](Channel<int>* c) -> asio::awaitable<std::vector<int>> {
    std::vector<int> got;
    while (auto value = co_await c->receive()) got.push_back(*value);
    co_return got;
  };
  EXPECT_EQ(run_coroutine(loop, drain(&channel)), (std::vector{1, 2}));
  EXPECT_FALSE(channel.try_send(4)) << "a closed channel must refuse";
}

TEST(Channel, ASenderWaitsForRoom) {
  asio::io_context loop;
  Channel<int> channel(1);
  int sent = 0;
  auto sender = [](Channel<int>* c, int* count) -> asio::awaitable<void> {
    for (int i = 0; i < 5; ++i) {
      if (!co_await c->send(i)) co_return;
      ++*count;
    }
    c->close();
  };
  asio::co_spawn(loop, sender(&channel, &sent), asio::detached);
  loop.poll();
  EXPECT_EQ(sent, 1) << "one in the buffer; the second waits";
  auto drain = [](Channel<int>* c) -> asio::awaitable<int> {
    int sum = 0;
    while (auto value = co_await c->receive()) sum += *value;
    co_return sum;
  };
  EXPECT_EQ(run_coroutine(loop, drain(&channel)), 0 + 1 + 2 + 3 + 4);
}

TEST(Cancellation, CopiesShareOneFlagAndCallbacksRunOnce) {
  Cancellation cancellation;
  const Cancellation copy = cancellation;
  int calls = 0;
  auto kept = copy.on_request([&] { ++calls; });
  auto dropped = copy.on_request([&] { calls += 100; });
  dropped.reset();
  EXPECT_FALSE(copy.requested());
  cancellation.request();
  cancellation.request();
  EXPECT_TRUE(copy.requested());
  EXPECT_EQ(calls, 1);
  auto late = copy.on_request([&] { calls += 10; });
  EXPECT_EQ(calls, 11) << "registered after the request: runs at once";
}

}  // namespace
}  // namespace lectern
