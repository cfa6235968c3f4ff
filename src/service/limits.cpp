#include "service/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lectern::service {

double TokenBucket::tokens_at(TimePoint now) const {
  if (!at_) return burst_;
  const std::chrono::duration<double> passed = now - *at_;
  return std::min(burst_, tokens_ + std::max(0.0, passed.count()) * per_second_);
}

std::chrono::nanoseconds TokenBucket::take(TimePoint now) {
  tokens_ = tokens_at(now);
  at_ = now;
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return std::chrono::nanoseconds(0);
  }
  const std::chrono::duration<double> wait((1 - tokens_) / per_second_);
  return std::chrono::ceil<std::chrono::nanoseconds>(wait);
}

bool TokenBucket::full(TimePoint now) const {
  return tokens_at(now) >= burst_;
}

SubmitGate::Ticket& SubmitGate::Ticket::operator=(Ticket&& other) noexcept {
  if (this != &other) {
    release();
    gate_ = std::exchange(other.gate_, nullptr);
    key_ = std::move(other.key_);
  }
  return *this;
}

void SubmitGate::Ticket::release() {
  if (SubmitGate* gate = std::exchange(gate_, nullptr)) gate->leave(key_);
}

std::expected<SubmitGate::Ticket, Problem> SubmitGate::enter(const std::string& key, TimePoint now) {
  const auto mine = by_key_.find(key);
  if (under_way_ >= limits_.uploads_max || (mine != by_key_.end() && mine->second >= limits_.uploads_per_key_max)) {
    const int most = under_way_ >= limits_.uploads_max ? limits_.uploads_max : limits_.uploads_per_key_max;
    return std::unexpected(Problem{.code = ProblemCode::too_many_uploads,
                                   .detail = fmt::format("{} uploads are under way already; come back soon", most),
                                   .retry_after = 1});
  }
  if (limits_.per_second > 0) {
    constexpr std::size_t buckets_max = 1024;
    if (buckets_.size() > buckets_max) std::erase_if(buckets_, [now](const auto& one) { return one.second.full(now); });
    const double burst = limits_.burst > 0 ? limits_.burst : std::max(1.0, limits_.per_second);
    const auto wait = buckets_.try_emplace(key, limits_.per_second, burst).first->second.take(now);
    if (wait.count() > 0) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(wait).count();
      return std::unexpected(
          Problem{.code = ProblemCode::rate_limited,
                  .detail = fmt::format("at most {} jobs a second with this key", limits_.per_second),
                  .retry_after = static_cast<int>(std::min<std::int64_t>(seconds, 3600))});
    }
  }
  ++under_way_;
  ++by_key_[key];
  return Ticket(*this, key);
}

void SubmitGate::leave(const std::string& key) {
  --under_way_;
  if (--by_key_[key] == 0) by_key_.erase(key);
}

std::shared_ptr<void> Room::enter() {
  if (*inside_ >= most_) return {};
  ++*inside_;
  return {inside_.get(), [inside = inside_](void*) { --*inside; }};
}

}  // namespace lectern::service
