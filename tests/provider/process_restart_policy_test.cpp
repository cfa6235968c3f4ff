#include <gtest/gtest.h>

#include "provider/restart_policy.h"

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

const TimePoint start = TimePoint{} + 1h;

TEST(RestartPolicy, FirstStartNeedsNoWait) {
  const RestartPolicy policy({});
  EXPECT_FALSE(policy.given_up());
  EXPECT_LE(policy.start_at(), start);
}

TEST(RestartPolicy, WaitsLongerAfterEachEnd) {
  RestartPolicy policy({.restarts_max = 10, .first_delay = 500ms});
  for (const auto delay : {500ms, 1'000ms, 2'000ms, 4'000ms, 8'000ms, 10'000ms, 10'000ms}) {
    policy.ended(start);
    EXPECT_EQ(policy.start_at(), start + delay);
    EXPECT_FALSE(policy.given_up());
  }
}

TEST(RestartPolicy, GivesUpAfterTooManyInARow) {
  RestartPolicy policy({.restarts_max = 2});
  policy.ended(start);
  policy.ended(start);
  EXPECT_FALSE(policy.given_up());
  policy.ended(start);
  EXPECT_TRUE(policy.given_up());
  EXPECT_EQ(policy.start_at(), start + 10s) << "then one try each time that much has passed";
  policy.ended(start + 20s);
  EXPECT_TRUE(policy.given_up());
  EXPECT_EQ(policy.start_at(), start + 30s);
}

TEST(RestartPolicy, AnAnswerForgivesAll) {
  RestartPolicy policy({.restarts_max = 1});
  policy.ended(start);
  policy.answered();
  policy.ended(start);
  EXPECT_FALSE(policy.given_up());
  EXPECT_EQ(policy.start_at(), start + 500ms);
}

TEST(RestartPolicy, OneThatCannotStartIsNotTriedAgainAtOnce) {
  RestartPolicy policy({});
  policy.cannot_start(start);
  EXPECT_TRUE(policy.given_up());
  EXPECT_EQ(policy.start_at(), start + 10s);
}

TEST(RestartPolicy, NoRestartsAtAll) {
  RestartPolicy policy({.restarts_max = 0});
  policy.ended(start);
  EXPECT_TRUE(policy.given_up());
}

}  // namespace
}  // namespace lectern::provider
