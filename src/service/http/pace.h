// How long a client may keep us waiting for its body: some grace, used up by waiting and earned back by bytes at a
// least rate. Only time spent waiting for the client counts, never time that we take ourselves.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"

namespace lectern::service::http {

class Pace {
 public:
  // REQUIRES: bytes_per_second_min > 0.
  Pace(std::chrono::nanoseconds grace, std::int64_t bytes_per_second_min)
      : grace_(grace), bytes_per_second_min_(bytes_per_second_min), left_(grace) {}

  // A wait begins now: when it must have ended.
  TimePoint deadline(TimePoint now) const { return now + std::chrono::duration_cast<TimePoint::duration>(left_); }
  void waited(std::chrono::nanoseconds time, std::int64_t bytes) {
    const std::chrono::nanoseconds earned = std::chrono::milliseconds(bytes * 1000 / bytes_per_second_min_);
    left_ = std::min(grace_, left_ - time + earned);  // what is earned cannot be saved up
  }

 private:
  std::chrono::nanoseconds grace_;
  std::int64_t bytes_per_second_min_;
  std::chrono::nanoseconds left_;
};

}  // namespace lectern::service::http
