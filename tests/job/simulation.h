// Jobs under virtual time: workers that crash, stall and answer late, a database that loses transactions and answers,
// clocks that jump, pages that kill whoever reads them, people who cancel and retry. Everything comes from one seed,
// runs the real operations (job/operations.h) on tables in memory, and is checked all the way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lectern::job {

struct SimulationReport {
  std::uint64_t seed = 0;
  std::vector<std::string> failures;  // empty = every promise was kept
  std::vector<std::string> trace;     // what happened, when asked for
  // What the seed met: a simulation in which nothing goes wrong shows nothing.
  int jobs = 0;
  int pages = 0;
  int transactions = 0;
  int transactions_lost = 0;  // rolled back
  int answers_lost = 0;       // committed, but the caller does not know
  int crashes = 0;
  int stalls = 0;
  int clock_jumps = 0;
  int late = 0;      // commits refused
  int repeated = 0;  // commits that had been accepted before
  int lost = 0;      // leases that ended with their worker
  int quarantined = 0;
  int cancelled = 0;
  int retried = 0;
  int past_deadline = 0;
};

SimulationReport simulate(std::uint64_t seed, bool trace);

}  // namespace lectern::job
