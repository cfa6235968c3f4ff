#include "provider/hedge.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

TEST(HedgePolicy, WaitsForTheSlowestOneInTwenty) {
  HedgePolicy policy(0.05);
  for (int i = 1; i <= 19; ++i) policy.answered(i * 1ms);
  EXPECT_FALSE(policy.wait().has_value()) << "too little is known";
  for (int i = 20; i <= 100; ++i) policy.answered(i * 1ms);
  EXPECT_EQ(policy.wait(), 95ms);
}

TEST(HedgePolicy, ForgetsWhatIsLongAgo) {
  HedgePolicy policy(0.05);
  for (int i = 0; i < 500; ++i) policy.answered(10s);
  for (int i = 0; i < 200; ++i) policy.answered(1s);
  EXPECT_EQ(policy.wait(), 1s);
}

TEST(HedgePolicy, AsksNoMoreThanItsShare) {
  HedgePolicy policy(0.05);
  int taken = 0;
  for (int question = 1; question <= 1000; ++question) {
    policy.asked();
    taken += policy.take() ? 1 : 0;
    ASSERT_LE(taken, 0.05 * question);
  }
  EXPECT_EQ(taken, 50);
  EXPECT_EQ(policy.taken(), 50U);
}

}  // namespace
}  // namespace lectern::provider
