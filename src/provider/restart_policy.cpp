#include "provider/restart_policy.h"

#include <algorithm>

namespace lectern::provider {

void RestartPolicy::ended(TimePoint now) {
  ++ended_;
  const int doublings = std::min(ended_ - 1, 16);
  const std::chrono::milliseconds delay = given_up() ? longest() : limits_.first_delay * (1 << doublings);
  start_at_ = now + std::min(delay, longest());
}

void RestartPolicy::cannot_start(TimePoint now) {
  ended_ = limits_.restarts_max + 1;
  start_at_ = now + longest();
}

}  // namespace lectern::provider
