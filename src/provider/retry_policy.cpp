#include "provider/retry_policy.h"

#include <algorithm>

namespace lectern::provider {

namespace {

// As many as it takes to find an engine dead. Not added to the share but its lower bound: from the 25th question on the
// share alone decides.
constexpr double retries_at_start = 5;
constexpr double probes_counted = 3;

}  // namespace

std::chrono::nanoseconds backoff(int attempts_made, double uniform) {
  const int doublings = std::min(attempts_made - 1, 10);
  const auto longest = std::min<std::chrono::nanoseconds>(backoff_max, backoff_first * (1 << doublings));
  return std::chrono::nanoseconds(static_cast<std::int64_t>(static_cast<double>(longest.count()) * uniform));
}

std::optional<std::chrono::nanoseconds> retry_wait(const Failure& failure, const RetryQuestion& question) {
  if (!worth_retrying(failure.reason) || question.attempts_made >= question.attempts_max) return std::nullopt;
  auto wait = backoff(question.attempts_made, question.uniform);
  if (failure.retry_after && !question.elsewhere) wait = std::max<std::chrono::nanoseconds>(wait, *failure.retry_after);
  if (wait >= question.deadline.left(question.now)) return std::nullopt;
  return wait;
}

bool RetryBudget::take() {
  // Beside the questions themselves there are a probe or two.
  const double share = share_max_ * static_cast<double>(questions_) - probes_counted;
  const double allowed = share_max_ > 0 ? std::max(retries_at_start, share) : 0;
  if (static_cast<double>(taken_ + 1) > allowed) {
    refused_ += 1;
    return false;
  }
  taken_ += 1;
  return true;
}

}  // namespace lectern::provider
