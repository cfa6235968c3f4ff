#include "job/bell.h"

namespace lectern::job {

std::uint64_t Bell::mark() const {
  const std::lock_guard lock(mutex_);
  return rings_;
}

void Bell::ring() {
  std::list<Cancellation> woken;
  {
    const std::lock_guard lock(mutex_);
    ++rings_;
    woken.swap(waiting_);
  }
  for (Cancellation& one : woken) one.request();
}

boost::asio::awaitable<void> Bell::wait(std::uint64_t mark, TimePoint until, Timers& timers,
                                        Cancellation cancellation) {
  Cancellation woken;
  std::list<Cancellation> mine{woken};
  const auto place = mine.begin();
  {
    const std::lock_guard lock(mutex_);
    if (rings_ != mark) co_return;
    waiting_.splice(waiting_.end(), mine);
  }
  const auto token = cancellation.on_request([woken]() mutable { woken.request(); });
  co_await timers.wait_until(until, woken);
  const std::lock_guard lock(mutex_);
  // Without a ring since, the entry is still in waiting_; after one it went with the others.
  if (rings_ == mark) waiting_.erase(place);
}

}  // namespace lectern::job
