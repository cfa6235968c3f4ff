// Tells waiting coroutines that something may have changed. A mark taken before looking makes sure that no ring is
// missed.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <list>
#include <mutex>

#include "base/cancellation.h"
#include "base/timers.h"

namespace lectern::job {

// Safe from any thread.
class Bell {
 public:
  std::uint64_t mark() const;
  void ring();
  // Until a ring after `mark`, the moment `until`, or the cancellation, whichever is first.
  boost::asio::awaitable<void> wait(std::uint64_t mark, TimePoint until, Timers& timers, Cancellation cancellation);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::uint64_t rings_ = 0;
  std::list<Cancellation> waiting_;
};

}  // namespace lectern::job
