#include "job/simulation.h"

#include <gtest/gtest.h>

namespace lectern::job {
namespace {

constexpr std::uint64_t seeds = 2'000;
constexpr std::uint64_t shards = 4;

// In shards, so that they run side by side.
class JobSimulation : public testing::TestWithParam<std::uint64_t> {};

TEST_P(JobSimulation, KeepsEveryPromise) {
  SimulationReport met;
  for (std::uint64_t seed = GetParam() + 1; seed <= seeds; seed += shards) {
    const SimulationReport report = simulate(seed, false);
    for (const auto& failure : report.failures) {
      ADD_FAILURE() << "seed " << seed << ": " << failure << "\nreplay: job_simulation --seed " << seed << " --trace";
    }
    if (!report.failures.empty()) return;
    met.crashes += report.crashes;
    met.late += report.late;
    met.repeated += report.repeated;
    met.transactions_lost += report.transactions_lost;
    met.quarantined += report.quarantined;
    met.retried += report.retried;
    met.past_deadline += report.past_deadline;
  }
  // The seeds must have met what they are there for.
  EXPECT_GT(met.crashes, 100);
  EXPECT_GT(met.late, 100);
  EXPECT_GT(met.repeated, 100);
  EXPECT_GT(met.transactions_lost, 100);
  EXPECT_GT(met.quarantined, 10);
  EXPECT_GT(met.retried, 10);
  EXPECT_GT(met.past_deadline, 10);
}

INSTANTIATE_TEST_SUITE_P(Seeds, JobSimulation, testing::Range<std::uint64_t>(0, shards));

// A failing seed is of use only if it fails the same way again.
TEST(JobSimulationReplay, TheSameSeedTellsTheSameStory) {
  const auto first = simulate(7, true);
  ASSERT_FALSE(first.trace.empty());
  EXPECT_EQ(first.trace, simulate(7, true).trace);
}

}  // namespace
}  // namespace lectern::job
