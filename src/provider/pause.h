// How long an engine that refuses for want of room (429, 503) is left alone: otherwise the questions behind the first
// are refused as well, one after another, within milliseconds. A pure state machine; its owner locks and wakes up.
#pragma once

#include "base/clock.h"
#include "provider/failure.h"

namespace lectern::provider {

class Pause {
 public:
  // It refused what was sent at `sent`. As long as it asked for (Retry-After), at least 0.5 s, doubled with every
  // refusal of what was sent after the one before, at most 10 s.
  void refused(const Failure& failure, TimePoint sent, TimePoint now);
  // A question was answered: it has room again. What it asked for still holds.
  void answered() { refusals_ = 0; }

  bool over(TimePoint now) const { return now >= until_; }
  TimePoint until() const { return until_; }  // TimePoint::min() = there was none
  // Nothing was answered since it refused: one question at a time, to see.
  bool careful() const { return refusals_ > 0; }
  // Until when questions should wait for it: so long after it began to refuse, or as long as it asked for.
  // TimePoint::max() while it does not refuse.
  TimePoint hope_ends(std::chrono::nanoseconds patience) const;
  // Of the last refusal. REQUIRES: there was one.
  const Failure& failure() const { return failure_; }

 private:
  TimePoint until_ = TimePoint::min();
  TimePoint asked_for_ = TimePoint::min();  // by Retry-After
  TimePoint since_ = TimePoint::min();      // of the first refusal since it last answered
  TimePoint began_ = TimePoint::min();      // of the last wave
  int refusals_ = 0;                        // waves of them, since it last answered
  Failure failure_;
};

}  // namespace lectern::provider
