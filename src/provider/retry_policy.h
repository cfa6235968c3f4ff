// When a failed question is asked again. Pure: moments and random numbers come in, waits come out.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "provider/failure.h"

namespace lectern::provider {

inline constexpr std::chrono::milliseconds backoff_first{500};
inline constexpr std::chrono::milliseconds backoff_max{10'000};

// Full jitter: anything between nothing and 0.5 s, doubled with each attempt after the first, at most 10 s. `uniform`
// is in [0, 1). REQUIRES: attempts_made >= 1.
std::chrono::nanoseconds backoff(int attempts_made, double uniform);

struct RetryQuestion {
  int attempts_made = 1;
  int attempts_max = 2;
  Deadline deadline;  // of the question, over all attempts
  TimePoint now;
  double uniform = 0;
  bool elsewhere = false;  // another engine than the one that failed can be asked
};
// How long to wait before asking again; nullopt = do not. What the server asked for (Retry-After) is a lower bound,
// unless another is asked. A wait that would not end before the deadline is not begun.
std::optional<std::chrono::nanoseconds> retry_wait(const Failure& failure, const RetryQuestion& question);

// So that retries cannot turn into a storm: over all questions of a fleet at most this share of them, or a few while
// there have been few questions.
class RetryBudget {
 public:
  explicit RetryBudget(double share_max) : share_max_(share_max) {}

  void asked() { questions_ += 1; }  // a question, for the first time
  // False when nothing is left.
  [[nodiscard]] bool take();

  std::uint64_t taken() const { return taken_; }
  std::uint64_t refused() const { return refused_; }

 private:
  const double share_max_;
  std::uint64_t questions_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t refused_ = 0;
};

}  // namespace lectern::provider
