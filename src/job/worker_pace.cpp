#include "job/worker_pace.h"

#include <algorithm>

namespace lectern::job {
namespace {

using std::chrono::milliseconds;

constexpr Millis sweep_interval = 1'000;
constexpr Millis sweep_interval_least = 50;
constexpr Millis backoff_first = 100;
constexpr Millis backoff_most = 2'000;

}  // namespace

milliseconds renew_interval(const Policy& policy) {
  return milliseconds(policy.lease / 3);
}

milliseconds sweep_after_outage(const Policy& policy) {
  return milliseconds(policy.lease / 2);
}

milliseconds next_sweep(double uniform, std::optional<Millis> next_wake, Millis now) {
  const auto by_chance = static_cast<Millis>(static_cast<double>(sweep_interval) * (0.75 + uniform / 2));
  if (!next_wake) return milliseconds(by_chance);
  return milliseconds(std::clamp(*next_wake - now, sweep_interval_least, by_chance));
}

milliseconds store_backoff(int failures, double uniform) {
  const Millis most = backoff(failures, backoff_first, backoff_most);
  return milliseconds(most / 2 + static_cast<Millis>(static_cast<double>(most) / 2 * uniform));
}

bool may_pass(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::overloaded:
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
      return true;
    case ErrorKind::invalid_input:
    case ErrorKind::not_found:
    case ErrorKind::conflict:
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      return false;
  }
  return false;
}

}  // namespace lectern::job
