#include "provider/breaker.h"

#include <algorithm>
#include <utility>

namespace lectern::provider {

void Breaker::remember(const Failure& failure, TimePoint now) {
  failure_ = failure;
  // An engine that loads its model is on its way: patience begins anew when it gives up on that.
  if (failure.reason == FailureReason::loading) hopeful_since_ = now;
}

bool Breaker::failed(const Failure& failure, TimePoint now) {
  if (!counts_against_engine(failure.reason)) return false;
  remember(failure, now);
  failures_ += 1;
  const bool enough =
      failures_ >= options_.failures_to_eject || needs_a_person(failure.reason) || nobody_there(failure);
  if (ejected_ || !enough) return false;
  ejected_ = true;
  hopeful_since_ = now;
  probe_wait_ = options_.probe_first;
  next_probe_ = now + std::chrono::duration_cast<TimePoint::duration>(probe_wait_);
  return true;
}

bool Breaker::answered() {
  failures_ = 0;
  failure_.reset();
  return std::exchange(ejected_, false);
}

void Breaker::probe_failed(const Failure& failure, TimePoint now) {
  remember(failure, now);
  probe_wait_ = std::min(2 * probe_wait_, options_.probe_longest);
  next_probe_ = now + std::chrono::duration_cast<TimePoint::duration>(probe_wait_);
}

TimePoint Breaker::hope_ends() const {
  if (!ejected_ || failure_->reason == FailureReason::loading) return TimePoint::max();
  if (needs_a_person(failure_->reason)) return TimePoint::min();
  return hopeful_since_ + std::chrono::duration_cast<TimePoint::duration>(options_.patience);
}

}  // namespace lectern::provider
