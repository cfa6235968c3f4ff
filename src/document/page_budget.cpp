#include "document/page_budget.h"

#include <algorithm>

namespace lectern::document {
namespace {

constexpr std::size_t slow_pages_max = 1'000;
constexpr int slow_share = 10;  // an inspection counts when it took more than this part of the limit
constexpr int least_share = 4;

}  // namespace

std::chrono::milliseconds PageBudget::for_rendering(int page_number) const {
  const std::lock_guard lock(mutex_);
  const auto found = slow_.find(page_number);
  if (found == slow_.end()) return per_page_;
  return std::max(per_page_ - found->second, per_page_ / least_share);
}

void PageBudget::inspected(int page_number, std::chrono::milliseconds took) {
  const std::lock_guard lock(mutex_);
  slow_.erase(page_number);
  if (took <= per_page_ / slow_share) return;
  if (slow_.size() >= slow_pages_max) slow_.erase(slow_.begin());  // pages are read in order: the lowest is done
  slow_[page_number] = took;
}

}  // namespace lectern::document
