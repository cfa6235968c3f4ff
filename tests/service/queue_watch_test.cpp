#include "service/queue_watch.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "job/inline_database.h"
#include "run_coroutine.h"

namespace lectern::service {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(QueueWatch, CountsTheMoreSeldomTheLongerItTakes) {
  EXPECT_EQ(figures_last(0ms), 2s);
  EXPECT_EQ(figures_last(100ms), 2s);
  EXPECT_EQ(figures_last(500ms), 10s);
  EXPECT_EQ(figures_last(1h), 5min);
}

class QueueWatchTest : public testing::Test {
 protected:
  QueueWatchTest() { timers_.advance(1h); }
  std::string seen() {
    run_coroutine(loop_, look(&watch_));
    telemetry::MetricsText text;
    watch_.write(text);
    return text.take();
  }
  void submit(const std::string& id) { ASSERT_TRUE(run_coroutine(loop_, store_.submit({.id = id}))); }

  ManualTimers timers_;
  boost::asio::io_context loop_;
  job::InlineState database_{timers_.clock()};
  job::Store store_{std::make_unique<job::InlineDatabase>(database_), {}, timers_};
  QueueWatch watch_{store_, timers_.clock()};

 private:
  static boost::asio::awaitable<bool> look(QueueWatch* watch) {
    co_await watch->look();
    co_return true;
  }
};

TEST_F(QueueWatchTest, AsksTheStoreNowAndThenHoweverOftenItIsLookedAt) {
  submit("a");
  EXPECT_THAT(seen(), HasSubstr("lectern_jobs{status=\"queued\"} 1\n"));
  submit("b");
  const int reads = database_.reads;
  EXPECT_THAT(seen(), HasSubstr("lectern_jobs{status=\"queued\"} 1\n"));
  timers_.advance(1900ms);
  EXPECT_THAT(seen(), HasSubstr("lectern_jobs{status=\"queued\"} 1\n"));
  EXPECT_EQ(database_.reads, reads);
  timers_.advance(100ms);
  const std::string later = seen();
  EXPECT_THAT(later, HasSubstr("lectern_jobs{status=\"queued\"} 2\n"));
  EXPECT_THAT(later, HasSubstr("lectern_tasks{state=\"ready\"} 2\n"));
  EXPECT_THAT(later, HasSubstr("lectern_queue_oldest_seconds 2\n"));
}

TEST_F(QueueWatchTest, AStoreThatIsAwayIsSaidAndNotAskedAllTheTime) {
  database_.away = true;
  for (int i = 0; i < 3; ++i) {
    const std::string text = seen();
    EXPECT_THAT(text, HasSubstr("lectern_store_up 0\n"));
    EXPECT_THAT(text, Not(HasSubstr("lectern_jobs"))) << "what is not known is not said";
  }
  EXPECT_LE(database_.refused, 2);
  database_.away = false;
  timers_.advance(2s);
  EXPECT_THAT(seen(), HasSubstr("lectern_store_up 1\n"));
}

}  // namespace
}  // namespace lectern::service
