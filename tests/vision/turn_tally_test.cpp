#include "vision/turn_tally.h"

#include <gtest/gtest.h>

namespace lectern::vision {
namespace {

std::vector<OcrWord> words(std::initializer_list<std::pair<const char*, float>> list) {
  std::vector<OcrWord> result;
  for (const auto& [text, confidence] : list) result.push_back({.text = text, .confidence = confidence});
  return result;
}

TEST(LettersSurelyRead, CountsLettersByCertainty) {
  EXPECT_EQ(letters_surely_read({}), 0);
  EXPECT_NEAR(letters_surely_read(words({{"harbour", 0.97F}})), 7, 0.01);
  EXPECT_NEAR(letters_surely_read(words({{"1962", 0.97F}})), 2, 0.01) << "digits count half";
  EXPECT_EQ(letters_surely_read(words({{"uoQonpold", 0.4F}})), 0) << "nonsense counts nothing";
  EXPECT_EQ(letters_surely_read(words({{"--", 0.97F}, {"•", 0.97F}, {"“”", 0.97F}})), 0) << "nor do marks";
  EXPECT_NEAR(letters_surely_read(words({{"été", 0.97F}})), 3, 0.01) << "characters, not bytes";
}

TEST(TurnTally, AWellReadLineNeedsNoSecondLook) {
  TurnTally tally;
  EXPECT_FALSE(tally.likely_upright());
  tally.add(0, words({{"lighthouse", 0.96F}}));
  EXPECT_TRUE(tally.likely_upright());
  EXPECT_FALSE(tally.surely_upright());
  EXPECT_FALSE(tally.surely_upright());
  tally.add(0, words({{"keeper", 0.96F}, {"wrote", 0.96F}}));
  EXPECT_TRUE(tally.surely_upright());
  ASSERT_TRUE(tally.decided());
  EXPECT_EQ(tally.decided()->clockwise_degrees, 0);
}

TEST(TurnTally, NonsenseAroundOneSureWordIsNotUpright) {
  TurnTally tally;
  tally.add(0, words({{"uoQonpoldJIGVLIAYVWnd", 0.1F}, {"HLIMTHEO", 0.96F}}));
  EXPECT_FALSE(tally.likely_upright());
}

TEST(TurnTally, DecidesForTheDirectionThatReads) {
  for (const int turn : {0, 90, 180, 270}) {
    TurnTally tally;
    for (const int other : {0, 90, 180, 270}) tally.add(other, words({{"pue", 0.85F}, {"uoQonpold", 0.1F}}));
    EXPECT_FALSE(tally.decided());
    EXPECT_FALSE(tally.best_guess());
    tally.add(turn, words({{"lighthouse", 0.96F}, {"keeper", 0.95F}}));
    tally.add(turn, words({{"wrote", 0.96F}}));
    ASSERT_TRUE(tally.decided());
    EXPECT_EQ(tally.decided()->clockwise_degrees, turn);
  }
}

// The label along the axis of a chart.
TEST(TurnTally, OneLineAcrossAPageThatMayBeUprightDecidesNothing) {
  TurnTally tally;
  tally.add(0, words({{"100", 0.7F}}));
  tally.add(90, words({{"proportions", 0.96F}}));
  EXPECT_FALSE(tally.decided());
  EXPECT_FALSE(tally.best_guess());
  TurnTally only_axis;
  only_axis.add(90, words({{"proportions", 0.96F}}));
  ASSERT_TRUE(only_axis.decided());
  EXPECT_EQ(only_axis.decided()->clockwise_degrees, 90);
}

TEST(TurnTally, AnUnusualNameIsLessNonsenseThanItsReverse) {
  TurnTally tally;
  tally.add(0, words({{"jeLypoyyoelg", 0.12F}}));
  tally.add(180, words({{"BlackRedArial", 0.59F}}));
  ASSERT_TRUE(tally.best_guess());
  EXPECT_EQ(tally.best_guess()->clockwise_degrees, 180);
}

TEST(TurnTally, ThePatternOfAPhotographDecidesNothing) {
  TurnTally tally;
  tally.add(0, words({{"ee", 0.25F}, {"dd", 0.51F}}));
  tally.add(180, words({{"BA", 0.19F}, {"Ny", 0.38F}, {"Ce", 0.26F}, {"jee", 0.19F}}));
  EXPECT_FALSE(tally.best_guess());
}

TEST(TurnTally, ALittleMoreIsAGuessOnly) {
  TurnTally tally;
  tally.add(0, words({{"11", 0.9F}}));
  tally.add(180, words({{"Hello", 0.96F}}));
  EXPECT_FALSE(tally.decided());
  ASSERT_TRUE(tally.best_guess());
  EXPECT_EQ(tally.best_guess()->clockwise_degrees, 180);
  EXPECT_LT(tally.best_guess()->confidence, 0.96F);
}

}  // namespace
}  // namespace lectern::vision
