#include "engine/sim/scheduler.h"

#include <gtest/gtest.h>

#include <vector>

namespace lectern::sim {
namespace {

using namespace std::chrono_literals;

class SchedulerTest : public testing::Test {
 protected:
  TimePoint now_{1000s};
  Scheduler scheduler_;

  void rules(const SchedulerRules& rules) { scheduler_.set_rules(rules, now_); }
  // Starts what may start, each to be due after so much work.
  std::vector<JobId> start(double work_s) {
    std::vector<JobId> started;
    while (const auto next = scheduler_.start_next(now_)) {
      scheduler_.set_due(next->job, work_s);
      started.push_back(next->job);
    }
    return started;
  }
  // The seconds from now until the next job is due; moves there and ends it.
  double run_one() {
    const TimePoint from = now_;
    now_ = scheduler_.next_due().value();
    const auto due = scheduler_.take_due(now_);
    EXPECT_TRUE(due.has_value());
    if (due) scheduler_.leave(*due, now_);
    return std::chrono::duration<double>(now_ - from).count();
  }
};

TEST_F(SchedulerTest, SlotsAreFilledInOrderOfArrival) {
  rules({.slots = 2});
  for (JobId id : {7, 8, 9, 10}) scheduler_.arrive(id, now_);
  EXPECT_EQ(start(1), (std::vector<JobId>{7, 8}));
  EXPECT_EQ(scheduler_.running(), 2);
  EXPECT_EQ(scheduler_.waiting(), 2);
  EXPECT_NEAR(run_one(), 1, 1e-6);
  const auto next = scheduler_.start_next(now_);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->job, 9U);
  EXPECT_NEAR(next->waited_s, 1, 1e-6);
}

TEST_F(SchedulerTest, NoSlotsMeansNoLimit) {
  rules({.slots = 0});
  for (JobId id = 1; id <= 100; ++id) scheduler_.arrive(id, now_);
  EXPECT_EQ(start(1).size(), 100U);
}

TEST_F(SchedulerTest, AJobThatLeavesTheQueueIsNeverStarted) {
  rules({.slots = 1});
  for (JobId id : {1, 2, 3}) scheduler_.arrive(id, now_);
  start(1);
  scheduler_.leave(2, now_);
  EXPECT_EQ(scheduler_.waiting(), 1);
  scheduler_.leave(1, now_);
  EXPECT_EQ(start(1), std::vector<JobId>{3});
}

TEST_F(SchedulerTest, AJobThatLeavesItsSlotIsNotDue) {
  scheduler_.arrive(1, now_);
  start(1);
  scheduler_.leave(1, now_);
  EXPECT_EQ(scheduler_.running(), 0);
  EXPECT_FALSE(scheduler_.next_due().has_value());
  EXPECT_FALSE(scheduler_.take_due(now_ + 10s).has_value());
}

TEST_F(SchedulerTest, ALaterMarkReplacesTheEarlier) {
  scheduler_.arrive(1, now_);
  start(1);
  scheduler_.set_due(1, 3);
  EXPECT_FALSE(scheduler_.take_due(now_ + 2s).has_value());
  EXPECT_EQ(scheduler_.take_due(now_ + 3s), 1U);
  EXPECT_FALSE(scheduler_.take_due(now_ + 9s).has_value());
}

TEST_F(SchedulerTest, BatchingSlowsEverybodyByWhoRunsBesideThem) {
  rules({.batching = 0.3});
  for (JobId id = 1; id <= 16; ++id) scheduler_.arrive(id, now_);
  start(1.16);
  // The measured time of 16 at once on a real server was 6.3 s.
  EXPECT_NEAR(run_one(), 1.16 * (1 + 0.3 * 15), 1e-6);
}

TEST_F(SchedulerTest, AJobSpeedsUpWhenItsNeighbourLeaves) {
  rules({.batching = 1});
  scheduler_.arrive(1, now_);
  scheduler_.arrive(2, now_);
  start(2);
  now_ += 2s;  // at half pace: one of two seconds is done
  EXPECT_NEAR(scheduler_.worked_s(1, now_), 1, 1e-6);
  scheduler_.leave(2, now_);
  EXPECT_NEAR(run_one(), 1, 1e-6);
}

TEST_F(SchedulerTest, TheTimeScaleHoldsForJobsThatRunAlready) {
  scheduler_.arrive(1, now_);
  start(1000);
  rules({.time_scale = 1e-6});
  EXPECT_NEAR(run_one(), 0.001, 1e-6);
}

TEST_F(SchedulerTest, PausedKeepsTheQueueAndLetsRunningJobsEnd) {
  scheduler_.arrive(1, now_);
  start(1);
  rules({.paused = true});
  scheduler_.arrive(2, now_);
  EXPECT_TRUE(start(1).empty());
  run_one();
  EXPECT_TRUE(start(1).empty());
  rules({});
  EXPECT_EQ(start(1), std::vector<JobId>{2});
}

}  // namespace
}  // namespace lectern::sim
