// Time as a parameter: code that waits, expires or stamps takes a Clock, so that tests move time by hand.
#pragma once

#include <chrono>
#include <string>

namespace lectern {

using TimePoint = std::chrono::steady_clock::time_point;
using WallTime = std::chrono::system_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;  // for durations and deadlines; never jumps
  virtual WallTime wall() const = 0;  // for stamps that people read; may jump
};

const Clock& system_clock();

// Moves only when told to.
class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return now_; }
  WallTime wall() const override { return wall_; }
  void advance(std::chrono::nanoseconds by) {
    now_ += std::chrono::duration_cast<TimePoint::duration>(by);
    wall_ += std::chrono::duration_cast<WallTime::duration>(by);
  }
  void set_wall(WallTime wall) { wall_ = wall; }

 private:
  TimePoint now_{};
  WallTime wall_{};
};

// "2026-11-15T05:49:35.123Z"
std::string to_iso8601(WallTime time);

// A moment after which to give up; a value to pass down. The default one never passes.
class Deadline {
 public:
  Deadline() = default;
  static Deadline never() { return {}; }
  static Deadline at(TimePoint when) { return Deadline(when); }
  static Deadline after(std::chrono::nanoseconds timeout, const Clock& clock) {
    return Deadline(clock.now() + std::chrono::duration_cast<TimePoint::duration>(timeout));
  }

  bool passed(TimePoint now) const { return now >= when_; }
  TimePoint when() const { return when_; }
  std::chrono::nanoseconds left(TimePoint now) const {
    return passed(now) ? std::chrono::nanoseconds{0} : std::chrono::nanoseconds(when_ - now);
  }
  Deadline earlier(Deadline other) const { return Deadline(when_ < other.when_ ? when_ : other.when_); }
  bool operator==(const Deadline&) const = default;

 private:
  explicit Deadline(TimePoint when) : when_(when) {}
  TimePoint when_ = TimePoint::max();
};

}  // namespace lectern
