// job_simulation [--seeds N] [--from SEED] [--seed SEED --trace]: runs the simulation for many seeds, or replays one.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "job/simulation.h"

int main(int argc, char** argv) {
  std::uint64_t seeds = 100'000;
  std::uint64_t from = 1;
  bool trace = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const bool has_value = i + 1 < argc;
    if (flag == "--trace") {
      trace = true;
    } else if (flag == "--seeds" && has_value) {
      seeds = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--from" && has_value) {
      from = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--seed" && has_value) {
      from = std::strtoull(argv[++i], nullptr, 10);
      seeds = 1;
    } else {
      std::fprintf(stderr, "usage: job_simulation [--seeds N] [--from SEED] | --seed SEED [--trace]\n");
      return 2;
    }
  }
  lectern::job::SimulationReport sum;
  for (std::uint64_t seed = from; seed < from + seeds; ++seed) {
    const auto report = lectern::job::simulate(seed, trace);
    for (const auto& line : report.trace) std::printf("%s\n", line.c_str());
    for (const auto& failure : report.failures) std::printf("seed %lu: %s\n", seed, failure.c_str());
    if (!report.failures.empty()) {
      std::printf("replay: job_simulation --seed %lu --trace\n", seed);
      return 1;
    }
    sum.jobs += report.jobs;
    sum.pages += report.pages;
    sum.transactions += report.transactions;
    sum.transactions_lost += report.transactions_lost;
    sum.answers_lost += report.answers_lost;
    sum.crashes += report.crashes;
    sum.stalls += report.stalls;
    sum.clock_jumps += report.clock_jumps;
    sum.late += report.late;
    sum.repeated += report.repeated;
    sum.lost += report.lost;
    sum.quarantined += report.quarantined;
    sum.cancelled += report.cancelled;
    sum.retried += report.retried;
    sum.past_deadline += report.past_deadline;
  }
  std::printf(
      "%lu seeds: %d jobs, %d pages, %d transactions (%d rolled back, %d answers lost), %d crashes, %d stalls, %d "
      "clock "
      "jumps;\n%d late commits refused, %d repeated, %d leases lost, %d pages quarantined, %d jobs cancelled, %d "
      "retried, "
      "%d past their deadline. Every promise was kept.\n",
      seeds, sum.jobs, sum.pages, sum.transactions, sum.transactions_lost, sum.answers_lost, sum.crashes, sum.stalls,
      sum.clock_jumps, sum.late, sum.repeated, sum.lost, sum.quarantined, sum.cancelled, sum.retried,
      sum.past_deadline);
  return 0;
}
