// How long an engine may say nothing at all before a question is taken from it: a server that sleeps, or a connection
// whose other end is gone, takes requests and never answers. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/clock.h"

namespace lectern::provider {

// What was heard of one engine, by whoever asked it: where others are answered, a question only queues.
class EngineEar {
 public:
  void heard(TimePoint now) { heard_at_ = std::max(heard_at_, now); }
  void answered(std::chrono::nanoseconds first_byte);

  TimePoint heard_at() const { return heard_at_; }
  // From asking to the first byte, on average; 0 = it has not answered anything yet.
  std::chrono::nanoseconds usual() const { return usual_; }

 private:
  TimePoint heard_at_ = TimePoint::min();
  std::chrono::nanoseconds usual_{0};
};

struct SilenceQuestion {
  std::chrono::nanoseconds usual{0};            // of the engine
  bool others = false;                          // is there another engine to ask?
  std::chrono::nanoseconds usual_of_others{0};  // of the slowest
  std::chrono::nanoseconds time{0};             // of the question, from when it was sent
};
// nullopt = as long as it likes. Four times what is usual and 30 s at least; half of the question's time where little
// is known (it has never answered, it may be loading) or little is won (there is nobody else to ask).
std::optional<std::chrono::nanoseconds> silence_max(const SilenceQuestion& question);

}  // namespace lectern::provider
