#include "job/retention.h"

#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>

#include "job/memory_blobs.h"
#include "job/worker_bench.h"

namespace lectern::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class RetentionTest : public WorkerTest {
 protected:
  void put(const std::string& key) { ASSERT_TRUE(call(blobs.put(key, "bytes", PutMode::replace))); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, bytes] : blobs.blobs) keys.push_back(key);
    return keys;
  }
  Millis in_an_hour() {
    const auto since = timers.clock().wall().time_since_epoch() + 1h;
    return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
  }

  MemoryBlobs blobs;
  Retention retention{store, blobs};
};

TEST_F(RetentionTest, OldJobsGoWithTheirBytes) {
  for (const char* id : {"old", "open"}) put(std::string("jobs/") + id + "/original");
  for (int page = 0; page < 1100; ++page) put("jobs/old/pages/" + std::to_string(page));
  auto& one = start();
  submit("old");
  one.stop.request();
  settle();
  submit("open");
  const auto removed = call(retention.remove_old_jobs(in_an_hour(), {}));
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->jobs, 1);
  EXPECT_EQ(removed->blobs, 1101);
  EXPECT_THAT(keys(), ElementsAre("jobs/open/original"));
  EXPECT_FALSE(database.tables.jobs.contains("old"));
  EXPECT_TRUE(database.tables.jobs.contains("open")) << "what is not over stays, however old";
}

// Cut short at any point, it leaves nothing that no later call finds.
TEST_F(RetentionTest, GoesOnWhereItWasCutShort) {
  start();
  for (int calls = 0;; ++calls) {
    const std::string id = "old" + std::to_string(calls);
    put("jobs/" + id + "/original");
    put("jobs/" + id + "/pages/1");
    submit(id);
    blobs.calls_left = calls;
    const auto removed = call(retention.remove_old_jobs(in_an_hour(), {}));
    blobs.calls_left.reset();
    EXPECT_EQ(removed.has_value(), keys().empty()) << calls;
    ASSERT_TRUE(call(retention.remove_old_jobs(in_an_hour(), {})));
    ASSERT_TRUE(call(retention.remove_orphans(in_an_hour(), {})));
    EXPECT_TRUE(keys().empty());
    EXPECT_FALSE(database.tables.jobs.contains(id));
    if (removed) break;
  }
}

TEST_F(RetentionTest, AJobThatRunsAgainMeanwhileKeepsItsRow) {
  put("jobs/old/original");
  handler.outcomes["page 1"] = {.ending = Ending::failed, .error = "no"};
  start();
  submit("old");
  ASSERT_EQ(phase("old"), Phase::succeeded);
  handler.at_once = false;
  ASSERT_TRUE(call(store.retry("old")));
  EXPECT_EQ(call(store.remove("old")).error().kind, ErrorKind::conflict);
  const auto removed = call(retention.remove_old_jobs(in_an_hour(), {}));
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->jobs, 0);
  EXPECT_TRUE(database.tables.jobs.contains("old"));
}

// Between the list of old jobs and the removal of the last of them much time may pass.
TEST_F(RetentionTest, AJobThatIsRetriedWhileOthersAreRemovedKeepsItsBytes) {
  handler.outcomes["page 1"] = {.ending = Ending::failed, .error = "no"};
  start();
  for (const char* id : {"first", "second"}) {
    put(std::string("jobs/") + id + "/original");
    submit(id);
    ASSERT_EQ(phase(id), Phase::succeeded);
  }
  handler.at_once = false;
  blobs.on_remove = [this](const std::string& key) {
    EXPECT_EQ(key, "jobs/first/original");
    boost::asio::co_spawn(loop, store.retry("second"), boost::asio::detached);
  };
  const auto removed = call(retention.remove_old_jobs(in_an_hour(), {}));
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->jobs, 1);
  EXPECT_EQ(phase("second"), Phase::running);
  EXPECT_THAT(keys(), ElementsAre("jobs/second/original"));
}

TEST_F(RetentionTest, WhatBelongsToNoJobGoesOnceItIsOld) {
  blobs.now = 100;
  put("jobs/a/original");
  put("jobs/gone/original");
  put("jobs/gone/pages/1");
  put("jobs/mixed/original");
  blobs.now = 900;
  put("jobs/fresh/original");
  put("jobs/mixed/pages/1");
  submit("a");
  const auto removed = call(retention.remove_orphans(500, {}));
  ASSERT_TRUE(removed);
  EXPECT_EQ(removed->orphans, 1);
  EXPECT_EQ(removed->blobs, 2);
  EXPECT_THAT(keys(),
              ElementsAre("jobs/a/original", "jobs/fresh/original", "jobs/mixed/original", "jobs/mixed/pages/1"));
}

TEST_F(RetentionTest, BytesOfAnotherDatabaseAreLeftAlone) {
  for (int job = 0; job < 30; ++job) put("jobs/theirs" + std::to_string(job) + "/original");
  put("jobs/ours/original");
  submit("ours");
  const auto removed = call(retention.remove_orphans(in_an_hour(), {}));
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().kind, ErrorKind::conflict);
  EXPECT_THAT(removed.error().for_caller, testing::HasSubstr("30 jobs"));
  EXPECT_EQ(keys().size(), 31U);
}

}  // namespace
}  // namespace lectern::job
