#include "provider/hedge.h"

#include <algorithm>

namespace lectern::provider {

namespace {

constexpr std::size_t recent_max = 200;
constexpr std::size_t recent_min = 20;
constexpr double quantile = 0.95;

}  // namespace

void HedgePolicy::answered(std::chrono::nanoseconds latency) {
  if (recent_.size() < recent_max) {
    recent_.push_back(latency);
    return;
  }
  recent_[next_] = latency;
  next_ = (next_ + 1) % recent_max;
}

std::optional<std::chrono::nanoseconds> HedgePolicy::wait() const {
  if (recent_.size() < recent_min) return std::nullopt;
  std::vector<std::chrono::nanoseconds> sorted = recent_;
  const auto nth = sorted.begin() + static_cast<std::ptrdiff_t>(quantile * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), nth, sorted.end());
  return *nth;
}

bool HedgePolicy::take() {
  if (static_cast<double>(taken_ + 1) > share_max_ * static_cast<double>(questions_)) return false;
  taken_ += 1;
  return true;
}

}  // namespace lectern::provider
