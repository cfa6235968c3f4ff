// When to start a program again that has ended: at once would burn the machine on one that dies at its start, never
// would lose a night's run to one bad page. No clock, no I/O.
#pragma once

#include <chrono>

#include "base/clock.h"

namespace lectern::provider {

struct RestartLimits {
  int restarts_max = 5;  // in a row, without an answer between them
  std::chrono::milliseconds first_delay{500};
  int delay_growth_max = 20;  // the longest delay, in first delays
};

class RestartPolicy {
 public:
  explicit RestartPolicy(RestartLimits limits) : limits_(limits) {}

  // It gave an answer: what was before does not count any more.
  void answered() { ended_ = 0; }
  // It has ended, or could not start.
  void ended(TimePoint now);
  // It cannot start and says why: trying again at once is of no use.
  void cannot_start(TimePoint now);

  // Too many ends in a row: those who wait are told so, and nobody waits before start_at().
  bool given_up() const { return ended_ > limits_.restarts_max; }
  // Not to be started before this moment.
  TimePoint start_at() const { return start_at_; }

 private:
  std::chrono::milliseconds longest() const { return limits_.first_delay * limits_.delay_growth_max; }

  RestartLimits limits_;
  int ended_ = 0;                          // in a row
  TimePoint start_at_ = TimePoint::min();  // the past: at once
};

}  // namespace lectern::provider
