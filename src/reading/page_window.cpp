#include "reading/page_window.h"

namespace lectern::reading {

PageWindow::PageWindow(boost::asio::any_io_executor executor, std::function<int()> pages_max)
    : executor_(std::move(executor)), pages_max_(std::move(pages_max)) {}

boost::asio::awaitable<PageWindow::Place> PageWindow::enter(int document_index) {
  if (closed_) co_return Place();
  if (has_room() && waiting_.empty()) {
    ++inside_;
    co_return Place(*this);
  }
  // Shared with waiting_: whoever admits the waiter takes it out of the map before the coroutine runs on.
  auto waiter = std::make_shared<Waiter>(executor_);
  waiting_.emplace(document_index, waiter);
  if (!co_await waiter->wait()) co_return Place();
  co_return Place(*this);
}

void PageWindow::close() {
  closed_ = true;
  for (const auto& [document, waiter] : waiting_) waiter->wake(false);
  waiting_.clear();
}

void PageWindow::leave() {
  --inside_;
  admit();
}

void PageWindow::admit() {
  while (!waiting_.empty() && has_room()) {
    const auto first = waiting_.begin();
    ++inside_;
    first->second->wake(true);
    waiting_.erase(first);
  }
}

}  // namespace lectern::reading
