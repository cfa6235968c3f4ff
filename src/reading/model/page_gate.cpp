#include "reading/model/page_gate.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

namespace lectern::reading {

boost::asio::awaitable<PageGate::Place> PageGate::enter() {
  const auto executor = co_await boost::asio::this_coro::executor;
  {
    const std::lock_guard lock(executor_mutex_);
    executor_ = executor;
  }
  if (waiting_.empty() && inside_ < std::max(1, pages_max_())) {
    ++inside_;
    co_return Place(shared_from_this());
  }
  // Shared with waiting_: whoever admits the waiter takes it out of the queue before the coroutine runs on.
  auto waiter = std::make_shared<Waiter>(executor);
  waiting_.push_back(waiter);
  co_await waiter->wait();
  co_return Place(shared_from_this());
}

void PageGate::changed() {
  std::optional<boost::asio::any_io_executor> executor;
  {
    const std::lock_guard lock(executor_mutex_);
    executor = executor_;
  }
  if (executor) boost::asio::post(*executor, [self = shared_from_this()] { self->admit(); });
}

void PageGate::left() {
  --inside_;
  admit();
}

void PageGate::admit() {
  const int most = std::max(1, pages_max_());
  while (inside_ < most && !waiting_.empty()) {
    ++inside_;
    waiting_.front()->wake(true);
    waiting_.pop_front();
  }
}

}  // namespace lectern::reading
