#include "base/timers.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <vector>

namespace lectern {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> note_when_over(Timers* timers, std::chrono::nanoseconds time, Cancellation cancellation,
                                     std::vector<int>* order, int number) {
  co_await timers->wait_for(time, std::move(cancellation));
  order->push_back(number);
}

TEST(ManualTimers, WaitsEndInTheOrderOfTheirMoments) {
  asio::io_context loop;
  ManualTimers timers;
  std::vector<int> order;
  const Cancellation never;
  asio::co_spawn(loop, note_when_over(&timers, 2s, never, &order, 2), asio::detached);
  asio::co_spawn(loop, note_when_over(&timers, 1s, never, &order, 1), asio::detached);
  asio::co_spawn(loop, note_when_over(&timers, 0s, never, &order, 0), asio::detached);
  loop.poll();
  EXPECT_EQ(order, std::vector{0});
  EXPECT_EQ(timers.waiting(), 2);
  EXPECT_EQ(timers.next() - timers.clock().now(), 1s);
  timers.advance(999ms);
  loop.restart();
  loop.poll();
  EXPECT_EQ(order, std::vector{0});
  timers.advance(5s);
  loop.restart();
  loop.poll();
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  EXPECT_EQ(timers.next(), TimePoint::max());
}

TEST(ManualTimers, CancellationEndsAWaitOnce) {
  asio::io_context loop;
  ManualTimers timers;
  std::vector<int> order;
  Cancellation cancellation;
  asio::co_spawn(loop, note_when_over(&timers, 1s, cancellation, &order, 1), asio::detached);
  loop.poll();
  cancellation.request();
  loop.restart();
  loop.poll();
  EXPECT_EQ(order, std::vector{1});
  timers.advance(2s);
  loop.restart();
  loop.poll();
  EXPECT_EQ(order, std::vector{1});
}

TEST(SystemTimers, CancellationEndsALongWait) {
  asio::io_context loop;
  SystemTimers timers;
  std::vector<int> order;
  Cancellation cancellation;
  asio::co_spawn(loop, note_when_over(&timers, 24h, cancellation, &order, 1), asio::detached);
  loop.poll();
  EXPECT_TRUE(order.empty());
  cancellation.request();
  loop.restart();
  loop.run();
  EXPECT_EQ(order, std::vector{1});
}

TEST(SystemTimers, AMomentThatHasPassedDoesNotWait) {
  asio::io_context loop;
  SystemTimers timers;
  std::vector<int> order;
  asio::co_spawn(loop, note_when_over(&timers, -1s, {}, &order, 1), asio::detached);
  loop.run();
  EXPECT_EQ(order, std::vector{1});
}

}  // namespace
}  // namespace lectern
