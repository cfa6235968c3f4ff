#include "provider/pause.h"

#include <algorithm>

#include "provider/retry_policy.h"

namespace lectern::provider {

void Pause::refused(const Failure& failure, TimePoint sent, TimePoint now) {
  if (refusals_ == 0) since_ = now;
  std::chrono::nanoseconds wait{0};
  if (refusals_ == 0 || sent >= began_) {  // else it is of the same wave as the one before
    refusals_ += 1;
    began_ = now;
    wait = backoff(refusals_, 1);
  }
  if (failure.retry_after) {
    wait = std::max<std::chrono::nanoseconds>(wait, *failure.retry_after);
    asked_for_ = std::max(asked_for_, now + std::chrono::duration_cast<TimePoint::duration>(wait));
  }
  until_ = std::max(until_, now + std::chrono::duration_cast<TimePoint::duration>(wait));
  failure_ = failure;
}

TimePoint Pause::hope_ends(std::chrono::nanoseconds patience) const {
  if (refusals_ == 0) return TimePoint::max();
  return std::max(asked_for_, since_ + std::chrono::duration_cast<TimePoint::duration>(patience));
}

}  // namespace lectern::provider
