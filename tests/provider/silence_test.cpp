#include "provider/silence.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

TEST(Silence, IsJudgedByWhatIsUsual) {
  struct Case {
    std::string_view name;
    SilenceQuestion question;
    std::optional<std::chrono::nanoseconds> expected;
  };
  const Case cases[] = {
      {"nothing is known and nobody else is there", {.time = 300s}, std::nullopt},
      {"a quick one among others", {.usual = 2s, .others = true, .time = 300s}, 30s},
      {"a slow one among others", {.usual = 20s, .others = true, .time = 300s}, 80s},
      {"one that never answered", {.others = true, .usual_of_others = 2s, .time = 300s}, 150s},
      {"one that never answered, among slow ones", {.others = true, .usual_of_others = 60s, .time = 300s}, 240s},
      {"the only one", {.usual = 2s, .time = 300s}, 150s},
      {"the only one, a slow one", {.usual = 60s, .time = 300s}, 240s},
      {"without a deadline", {.usual = 2s, .time = 24h}, 150s},
      {"with a short one", {.usual = 2s, .time = 10s}, 30s},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(silence_max(c.question), c.expected);
  }
}

TEST(Silence, TheUsualFollowsTheAnswers) {
  EngineEar ear;
  EXPECT_EQ(ear.usual(), 0s);
  ear.answered(10s);
  EXPECT_EQ(ear.usual(), 10s);
  ear.answered(20s);
  EXPECT_EQ(ear.usual(), 12s);
  ear.heard(TimePoint{} + 5s);
  ear.heard(TimePoint{} + 3s);
  EXPECT_EQ(ear.heard_at(), TimePoint{} + 5s);
}

}  // namespace
}  // namespace lectern::provider
