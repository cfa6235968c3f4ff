#include "base/places.h"

#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "base/async.h"

namespace lectern {
namespace {

// Somebody in the queue. A place and a cancellation may come at the same time, from two threads: the first counts.
class Waiter {
 public:
  void begin(std::function<void(bool)> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }
  // False: it was woken before.
  bool wake(bool with_place) {
    std::function<void(bool)> call;
    {
      const std::lock_guard lock(mutex_);
      call = std::exchange(wake_, nullptr);
    }
    if (!call) return false;
    call(with_place);
    return true;
  }

 private:
  std::mutex mutex_;  // guards wake_
  std::function<void(bool)> wake_;
};

}  // namespace

struct Places::State {
  explicit State(int count) : free(count) {}

  // Nothing is called under the lock: what is woken may come back for more.
  void leave() {
    for (;;) {
      std::shared_ptr<Waiter> next;
      {
        const std::lock_guard lock(mutex);
        if (queue.empty()) {
          ++free;
          return;
        }
        next = std::move(queue.front());
        queue.pop_front();
      }
      if (next->wake(true)) return;
    }
  }

  std::mutex mutex;  // guards all below
  int free;
  std::deque<std::shared_ptr<Waiter>> queue;
};

Places::Places(int count) : state_(std::make_shared<State>(count)) {}

boost::asio::awaitable<std::shared_ptr<void>> Places::enter(Cancellation cancellation) {
  const auto place_of = [](const std::shared_ptr<State>& state) {
    return std::shared_ptr<void>(state.get(), [state](void*) { state->leave(); });
  };
  const std::shared_ptr<State> state = state_;
  if (cancellation.requested()) co_return nullptr;
  const auto waiter = std::make_shared<Waiter>();
  std::shared_ptr<void> listening;
  auto start = [&state, &waiter, &cancellation, &listening](std::function<void(bool)> wake) {
    waiter->begin(std::move(wake));
    {
      const std::lock_guard lock(state->mutex);
      if (state->free == 0) {
        state->queue.push_back(waiter);
      } else {
        --state->free;
        waiter->wake(true);  // only posts
        return;
      }
    }
    listening = cancellation.on_request([waiter] { waiter->wake(false); });
  };
  if (co_await await_elsewhere<bool>(std::move(start))) co_return place_of(state);
  const std::lock_guard lock(state->mutex);
  std::erase(state->queue, waiter);
  co_return nullptr;
}

}  // namespace lectern
