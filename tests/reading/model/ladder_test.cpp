#include "reading/model/ladder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lectern::reading {
namespace {

using provider::FailureReason;

StepOutcome judged(Verdict verdict) {
  return {.verdict = verdict, .failure = {}};
}
StepOutcome failed(FailureReason reason) {
  return {.verdict = {}, .failure = reason};
}

// What is tried, step by step, when every step ends the same way.
std::string path(LadderOptions options, const StepOutcome& outcome) {
  Ladder ladder(options);
  std::string text = "ask0";
  for (auto step = ladder.next(outcome); step; step = ladder.next(outcome)) {
    text += " ";
    text += to_string(step->rung);
    if (step->rung != Rung::builtin && step->rung != Rung::placeholder) text += std::to_string(step->model);
    if (text.size() > 500) return "never ends: " + text;
  }
  return text;
}

TEST(Ladder, EveryVerdictHasItsWayDown) {
  const LadderOptions one{.models = 1, .builtin = true};
  EXPECT_EQ(path(one, judged(Verdict::good)), "ask0");
  EXPECT_EQ(path(one, judged(Verdict::doubtful)), "ask0") << "there is nobody else to ask";
  EXPECT_EQ(path(one, judged(Verdict::looping)), "ask0 penalise0 halves0 builtin placeholder");
  EXPECT_EQ(path(one, judged(Verdict::truncated)), "ask0 halves0 builtin placeholder");
  EXPECT_EQ(path(one, judged(Verdict::empty)), "ask0 penalise0 builtin placeholder");
  EXPECT_EQ(path(one, judged(Verdict::refused)), "ask0 penalise0 builtin placeholder");
}

TEST(Ladder, EveryFailureHasItsWayDown) {
  const LadderOptions one{.models = 1, .builtin = true};
  for (int i = 0; i < provider::failure_reasons; ++i) {
    const auto reason = static_cast<FailureReason>(i);
    SCOPED_TRACE(to_string(reason));
    const std::string expected = reason == FailureReason::too_long
                                     ? "ask0 smaller0 smaller0 halves0 builtin placeholder"
                                 : reason == FailureReason::out_of_memory ? "ask0 smaller0 smaller0 builtin placeholder"
                                 : reason == FailureReason::cancelled     ? "ask0"
                                                                          : "ask0 builtin placeholder";
    EXPECT_EQ(path(one, failed(reason)), expected);
  }
}

TEST(Ladder, TheNextModelStartsAnew) {
  const LadderOptions two{.models = 2, .builtin = true};
  EXPECT_EQ(path(two, judged(Verdict::looping)), "ask0 penalise0 halves0 ask1 penalise1 halves1 builtin placeholder");
  EXPECT_EQ(path(two, judged(Verdict::doubtful)), "ask0 ask1") << "then the better of the two is kept";
  EXPECT_EQ(path(two, failed(FailureReason::unreachable)), "ask0 ask1 builtin placeholder");
}

TEST(Ladder, WithoutTimeNoModelIsAskedAgain) {
  StepOutcome late = failed(FailureReason::timed_out);
  late.out_of_time = true;
  EXPECT_EQ(path({.models = 3, .builtin = true}, late), "ask0 builtin placeholder");
  late = judged(Verdict::looping);
  late.out_of_time = true;
  EXPECT_EQ(path({.models = 3, .builtin = false}, late), "ask0 placeholder");
}

TEST(Ladder, AGoodAnswerOfTheBuiltinReaderIsTheEnd) {
  Ladder ladder({.models = 1, .builtin = true});
  EXPECT_EQ(ladder.next(failed(FailureReason::engine_failed)), (Step{Rung::builtin, 0}));
  EXPECT_EQ(ladder.next(judged(Verdict::good)), std::nullopt);
}

}  // namespace
}  // namespace lectern::reading
