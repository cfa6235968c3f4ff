#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "provider/batch_size.h"

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

struct Step {
  int size;
  bool good;
  int times;
  int present;  // afterwards
};
struct Case {
  std::string_view name;
  int batch_max;
  std::vector<Step> steps;
};

TEST(BatchSize, HalvesAtOnceAndGrowsBackSlowly) {
  const Case cases[] = {
      {"starts at the top and stays there", 64, {{64, true, 100, 64}}},
      {"halved when it was too much", 64, {{64, false, 1, 32}, {32, false, 1, 16}}},
      {"down to one, never to none", 5, {{5, false, 1, 2}, {2, false, 1, 1}, {1, false, 3, 1}}},
      {"a smaller batch that fails counts by its own size", 64, {{10, false, 1, 5}}},
      {"a late failure of a larger batch does not make it grow", 64, {{8, false, 1, 4}, {64, false, 1, 4}}},
      {"a quarter more after eight full batches", 64, {{64, false, 1, 32}, {32, true, 7, 32}, {32, true, 1, 40}}},
      {"at least one more", 4, {{4, false, 1, 2}, {2, true, 8, 3}}},
      {"smaller batches prove nothing", 64, {{64, false, 1, 32}, {31, true, 100, 32}}},
      {"a failure starts the count anew",
       64,
       {{64, false, 1, 32}, {32, true, 7, 32}, {32, false, 1, 16}, {16, true, 7, 16}, {16, true, 1, 20}}},
      {"a size that has failed is tried again four times later",
       4,
       {{4, false, 1, 2}, {2, true, 8, 3}, {3, true, 31, 3}, {3, true, 1, 4}}},
      {"never past the maximum",
       9,
       {{9, false, 1, 4},
        {4, true, 8, 5},
        {5, true, 8, 6},
        {6, true, 8, 7},
        {7, true, 8, 8},
        {8, true, 32, 9},
        {9, true, 99, 9}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    BatchSize size(BatchSizeOptions{.batch_max = c.batch_max});
    EXPECT_EQ(size.present(), c.batch_max);
    for (const Step& step : c.steps) {
      for (int i = 0; i < step.times; ++i) step.good ? size.good(step.size) : size.too_much(step.size);
      EXPECT_EQ(size.present(), step.present) << "after a batch of " << step.size;
    }
  }
}

TEST(BatchSize, ProgramLowersTheMaximum) {
  BatchSize size(BatchSizeOptions{.batch_max = 64});
  size.lower_max(16);
  EXPECT_EQ(size.present(), 16);
  size.lower_max(32);
  EXPECT_EQ(size.present(), 16) << "a program that was restarted does not raise it";
  size.lower_max(0);
  EXPECT_EQ(size.present(), 1);
}

TEST(BatchSize, CollectsForASmallPartOfABatchsTime) {
  EXPECT_EQ(collecting_time(0s), 0s);
  EXPECT_EQ(collecting_time(2s), 100ms);
  EXPECT_EQ(collecting_time(60s), 1s);
}

}  // namespace
}  // namespace lectern::provider
