#include "document/pool_policy.h"

#include <algorithm>
#include <tuple>

namespace lectern::document {

std::optional<std::size_t> choose_renderer(std::span<const RendererView> renderers, DocumentId document) {
  // Smaller is better; the last member spreads nothing but makes the choice unique.
  const auto cost = [&](std::size_t i) {
    const RendererView& r = renderers[i];
    int rank = 3;
    if (r.started && r.document == document && document != 0) {
      rank = 0;
    } else if (r.started && r.document == 0) {
      rank = 1;
    } else if (!r.started) {
      rank = 2;
    }
    return std::tuple(rank, r.last_used, i);
  };
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < renderers.size(); ++i) {
    if (renderers[i].busy) continue;
    if (!best || cost(i) < cost(*best)) best = i;
  }
  return best;
}

std::optional<std::size_t> choose_waiting(std::span<const WaitingCall> waiting, DocumentId document) {
  if (waiting.empty()) return std::nullopt;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (document != 0 && waiting[i].document == document) return i;
    if (waiting[i].overtaken >= overtaken_max) break;  // nobody may pass this one any more
  }
  return 0;
}

bool should_recycle(const RendererMemory& memory, const RecycleRule& rule) {
  if (memory.rss_now <= rule.threshold_bytes || memory.rss_now * 2 <= memory.rss_at_first * 3) return false;
  const bool small = memory.rss_now <= 2 * rule.threshold_bytes;
  return memory.pages >= (small ? pages_between_small_recycles : pages_between_recycles) ||
         memory.rss_now > rule.limit_bytes / 2;
}

namespace {
constexpr int tries_in_a_row = 3;
constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds longest_pause{30};
}  // namespace

bool StartPolicy::may_try(std::chrono::steady_clock::time_point now) const {
  return failures_ < tries_in_a_row || now >= again_at_;
}

void StartPolicy::note_failure(std::chrono::steady_clock::time_point now) {
  ++failures_;
  const int doublings = std::clamp(failures_ - tries_in_a_row, 0, 5);
  again_at_ = now + std::min(longest_pause, first_pause * (1 << doublings));
}

}  // namespace lectern::document
