#include "vision/abort_guard.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace lectern::vision {
namespace {

TEST(AbortGuard, LetsWorkBeDone) {
  int done = 0;
  EXPECT_TRUE(guarded([&] { ++done; }));
  EXPECT_EQ(done, 1);
}

TEST(AbortGuard, SurvivesAbortsOnAnyThread) {
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(guarded([] { std::abort(); }));
  bool survived = false;
  std::thread([&] { survived = !guarded([] { std::abort(); }); }).join();
  EXPECT_TRUE(survived);
}

TEST(AbortGuard, LetsExceptionsPassAndGuardsNoLonger) {
  EXPECT_THROW(guarded([] { throw std::runtime_error("on its way"); }), std::runtime_error);
  EXPECT_EQ(abort_guard::target(), nullptr);
}

TEST(AbortGuardDeathTest, AnAbortOutsideStillEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        guarded([] {});
        std::abort();
      },
      testing::KilledBySignal(SIGABRT), "");
}

}  // namespace
}  // namespace lectern::vision
