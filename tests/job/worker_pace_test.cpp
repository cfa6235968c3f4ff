#include "job/worker_pace.h"

#include <gtest/gtest.h>

namespace lectern::job {
namespace {

using namespace std::chrono_literals;

TEST(WorkerPace, LeasesAreRenewedThreeTimesInTheirTime) {
  EXPECT_EQ(renew_interval({.lease = 9'000}), 3s);
  EXPECT_LT(sweep_after_outage({.lease = 9'000}), 9s);
  EXPECT_GT(sweep_after_outage({.lease = 9'000}), renew_interval({.lease = 9'000}));
}

TEST(WorkerPace, SweepsAreAboutASecondApartAndNeverAllAtOnce) {
  EXPECT_EQ(next_sweep(0, std::nullopt, 0), 750ms);
  EXPECT_EQ(next_sweep(0.5, std::nullopt, 0), 1s);
  EXPECT_LE(next_sweep(0.999, std::nullopt, 0), 1250ms);
}

TEST(WorkerPace, AWaitingTasksMomentBringsTheSweepForward) {
  EXPECT_EQ(next_sweep(0.5, 10'300, 10'000), 300ms);
  EXPECT_EQ(next_sweep(0.5, 99'000, 10'000), 1s);
  EXPECT_EQ(next_sweep(0.5, 9'000, 10'000), 50ms) << "clocks that disagree must not make it spin";
}

TEST(WorkerPace, AStoreThatIsAwayIsAskedLessAndLess) {
  EXPECT_EQ(store_backoff(1, 0), 50ms);
  EXPECT_EQ(store_backoff(2, 0), 100ms);
  EXPECT_LE(store_backoff(1, 0.999), 100ms);
  EXPECT_EQ(store_backoff(40, 0), 1s);
  EXPECT_LE(store_backoff(40, 0.999), 2s);
}

TEST(WorkerPace, OnlyWhatMayPassIsTriedAgain) {
  struct Case {
    ErrorKind kind;
    bool passes;
  };
  const Case cases[] = {
      {ErrorKind::unavailable, true}, {ErrorKind::timeout, true},        {ErrorKind::overloaded, true},
      {ErrorKind::cancelled, true},   {ErrorKind::invalid_input, false}, {ErrorKind::not_found, false},
      {ErrorKind::conflict, false},   {ErrorKind::corrupt, false},       {ErrorKind::internal, false},
  };
  for (const Case& c : cases) EXPECT_EQ(may_pass(c.kind), c.passes) << to_string(c.kind);
}

}  // namespace
}  // namespace lectern::job
