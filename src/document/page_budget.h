// One time limit for a page, not one for every call: what looking at it took is taken off the time for drawing it.
// Safe from any thread.
#pragma once

#include <chrono>
#include <map>
#include <mutex>

namespace lectern::document {

class PageBudget {
 public:
  explicit PageBudget(std::chrono::milliseconds per_page) : per_page_(per_page) {}

  std::chrono::milliseconds for_inspecting() const { return per_page_; }
  // What is left after the last inspection, but never less than a quarter of the limit. Drawing the same page again
  // costs nothing more: only inspections count.
  std::chrono::milliseconds for_rendering(int page_number) const;
  void inspected(int page_number, std::chrono::milliseconds took);

 private:
  const std::chrono::milliseconds per_page_;
  mutable std::mutex mutex_;
  std::map<int, std::chrono::milliseconds> slow_;  // guarded by mutex_; pages whose inspection took long; bounded
};

}  // namespace lectern::document
