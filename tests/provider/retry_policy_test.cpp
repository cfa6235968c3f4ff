#include "provider/retry_policy.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

constexpr double nearly_one = 0.999999;

TEST(Backoff, DoublesFromHalfASecondToTen) {
  const std::chrono::nanoseconds longest[] = {500ms, 1s, 2s, 4s, 8s, 10s, 10s};
  for (int attempts = 1; attempts <= 7; ++attempts) {
    SCOPED_TRACE(attempts);
    EXPECT_EQ(backoff(attempts, 0), 0ns);
    EXPECT_LT(backoff(attempts, nearly_one), longest[attempts - 1]);
    EXPECT_GT(backoff(attempts, nearly_one), longest[attempts - 1] - 1ms);
    EXPECT_EQ(backoff(attempts, 0.5), longest[attempts - 1] / 2);
  }
  EXPECT_LE(backoff(1'000'000, nearly_one), 10s);
}

TEST(RetryWait, OnlyWhatMayGetBetterIsAskedAgain) {
  for (int i = 0; i < failure_reasons; ++i) {
    const auto reason = static_cast<FailureReason>(i);
    SCOPED_TRACE(to_string(reason));
    Failure failure;
    failure.reason = reason;
    const RetryQuestion question{.attempts_made = 1, .attempts_max = 2, .deadline = {}, .now = {}, .uniform = 0.5};
    EXPECT_EQ(retry_wait(failure, question).has_value(), worth_retrying(reason));
  }
}

struct Case {
  std::string_view name;
  int attempts_made;
  std::optional<std::chrono::milliseconds> retry_after;
  std::chrono::milliseconds time_left;
  std::optional<std::chrono::nanoseconds> wait;
};

TEST(RetryWait, AttemptsServerAndDeadline) {
  const Case cases[] = {
      {"jitter alone", 1, std::nullopt, 60s, 250ms},
      {"longer each time", 2, std::nullopt, 60s, 500ms},
      {"the last attempt was made", 3, std::nullopt, 60s, std::nullopt},
      {"the server asks for more", 1, 2s, 60s, 2s},
      {"the server asks for less", 1, 100ms, 60s, 250ms},
      {"the server asks for more than there is time", 1, 60s, 60s, std::nullopt},
      {"no time for the jitter", 1, std::nullopt, 250ms, std::nullopt},
      {"time enough", 1, std::nullopt, 251ms, 250ms},
      {"the deadline has passed", 1, std::nullopt, -1s, std::nullopt},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Failure failure;
    failure.reason = FailureReason::overloaded;
    failure.retry_after = c.retry_after;
    const TimePoint now = TimePoint{} + 100s;
    const RetryQuestion question{.attempts_made = c.attempts_made,
                                 .attempts_max = 3,
                                 .deadline = Deadline::at(now + c.time_left),
                                 .now = now,
                                 .uniform = 0.5};
    EXPECT_EQ(retry_wait(failure, question), c.wait);
  }
}

TEST(RetryBudget, AFewAtFirstThenAShareOfAllQuestions) {
  RetryBudget budget(0.2);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take());
  EXPECT_EQ(budget.taken(), 5U);
  EXPECT_EQ(budget.refused(), 1U);
  for (int i = 0; i < 50; ++i) budget.asked();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(budget.take());
  EXPECT_FALSE(budget.take()) << "a fifth of fifty, less what probes may take";
  EXPECT_EQ(budget.taken(), 7U);
}

TEST(RetryBudget, WhenEverythingFailsCallsStayWithinAFifthMoreThanQuestions) {
  RetryBudget budget(0.2);
  int calls = 0;
  for (int question = 1; question <= 500; ++question) {
    budget.asked();
    calls += budget.take() ? 2 : 1;
    if (question >= 50) {
      ASSERT_LE(calls, 1.2 * question);
    }
  }
}

TEST(RetryBudget, NoShareMeansNoRetries) {
  RetryBudget budget(0);
  for (int i = 0; i < 100; ++i) budget.asked();
  int taken = 0;
  while (budget.take()) ++taken;
  EXPECT_EQ(taken, 0);
}

}  // namespace
}  // namespace lectern::provider
