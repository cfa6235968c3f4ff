#include "provider/pause.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint start = TimePoint{} + 1000s;

Failure busy(std::optional<std::chrono::milliseconds> retry_after = std::nullopt) {
  Failure failure;
  failure.reason = FailureReason::rate_limited;
  failure.retry_after = retry_after;
  return failure;
}

TEST(Pause, GrowsWithEachWaveOfRefusals) {
  Pause pause;
  EXPECT_TRUE(pause.over(start));
  TimePoint now = start;
  for (const auto wait : {500ms, 1000ms, 2000ms, 4000ms, 8000ms, 10'000ms, 10'000ms}) {
    pause.refused(busy(), now, now);
    EXPECT_EQ(pause.until() - now, wait);
    pause.refused(busy(), now - 1s, now + 1ms);
    EXPECT_EQ(pause.until() - now, wait) << "had been sent before";
    EXPECT_FALSE(pause.over(pause.until() - 1ms));
    now = pause.until();
    EXPECT_TRUE(pause.over(now));
  }
  EXPECT_TRUE(pause.careful());
  pause.answered();
  EXPECT_FALSE(pause.careful());
  pause.refused(busy(), now, now);
  EXPECT_EQ(pause.until() - now, 500ms);
}

TEST(Pause, IsAsLongAsTheServerAsksFor) {
  Pause pause;
  pause.refused(busy(20s), start, start);
  EXPECT_EQ(pause.until() - start, 20s);
  pause.refused(busy(5s), start - 1s, start + 1s);
  EXPECT_EQ(pause.until() - start, 20s) << "never shorter";
  pause.answered();
  EXPECT_EQ(pause.until() - start, 20s) << "what was under way says nothing about more";
  pause.refused(busy(30s), start - 1s, start + 2s);
  EXPECT_EQ(pause.until() - start, 32s);
}

TEST(Pause, HopeEndsWithPatienceOrWithWhatWasAskedFor) {
  Pause pause;
  EXPECT_EQ(pause.hope_ends(30s), TimePoint::max());
  pause.refused(busy(), start, start);
  pause.refused(busy(), start + 5s, start + 5s);
  EXPECT_EQ(pause.hope_ends(30s), start + 30s);
  pause.refused(busy(60s), start + 10s, start + 10s);
  EXPECT_EQ(pause.hope_ends(30s), start + 70s);
  pause.answered();
  EXPECT_EQ(pause.hope_ends(30s), TimePoint::max());
  pause.refused(busy(), start + 100s, start + 100s);
  EXPECT_EQ(pause.hope_ends(30s), start + 130s);
}

}  // namespace
}  // namespace lectern::provider
