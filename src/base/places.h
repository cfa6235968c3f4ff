// A fixed number of places, for work of which only so much may go on at once. Whoever comes first is served first;
// whoever does not want to wait any more leaves the queue. Safe from any thread; coroutines resume on their own
// executor, which runs them on one thread at a time.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>

#include "base/cancellation.h"

namespace lectern {

class Places {
 public:
  explicit Places(int count);

  // A place, which is free again when the pointer is dropped; null: cancelled while it was waited for. A place may be
  // given back after the Places themselves are gone.
  boost::asio::awaitable<std::shared_ptr<void>> enter(Cancellation cancellation);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the places that were given out
};

}  // namespace lectern
