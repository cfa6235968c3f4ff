#include "base/timers.h"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <utility>

namespace lectern {

namespace asio = boost::asio;

asio::awaitable<void> Timers::wait_for(std::chrono::nanoseconds time, Cancellation cancellation) {
  const TimePoint when = clock().now() + std::chrono::duration_cast<TimePoint::duration>(time);
  co_await wait_until(when, std::move(cancellation));
}

asio::awaitable<void> SystemTimers::wait_until(TimePoint when, Cancellation cancellation) {
  const auto executor = co_await asio::this_coro::executor;
  // Shared with the callback, which may still be in another thread's hands when this coroutine has gone on.
  const auto timer = std::make_shared<asio::steady_timer>(executor, when);
  const auto token = cancellation.on_request(
      [timer, executor] { asio::post(executor, [timer] { timer->expires_at(TimePoint::min()); }); });
  boost::system::error_code ignored;  // "cancelled" is how the callback wakes us
  co_await timer->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<void> ManualTimers::wait_until(TimePoint when, Cancellation cancellation) {
  std::shared_ptr<void> registration;
  auto initiate = [this, when, &cancellation, &registration](auto handler) {
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));  // std::function copies; handlers cannot
    auto executor = asio::get_associated_executor(*shared);
    auto woken = std::make_shared<std::atomic<bool>>(false);
    auto wake = [shared, executor, woken] {
      if (woken->exchange(true)) return;
      asio::post(executor, [shared] { std::move (*shared)(); });
    };
    {
      const std::lock_guard lock(mutex_);
      if (when > clock_.now()) {
        waiting_.emplace(when, wake);
      } else {
        wake();
      }
    }
    registration = cancellation.on_request(wake);
  };
  const auto token = asio::use_awaitable;
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(std::move(initiate), token);
}

void ManualTimers::advance(std::chrono::nanoseconds by) {
  const std::lock_guard lock(mutex_);
  clock_.advance(by);
  while (!waiting_.empty() && waiting_.begin()->first <= clock_.now()) {
    waiting_.begin()->second();
    waiting_.erase(waiting_.begin());
  }
}

int ManualTimers::waiting() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(waiting_.size());
}

TimePoint ManualTimers::next() const {
  const std::lock_guard lock(mutex_);
  return waiting_.empty() ? TimePoint::max() : waiting_.begin()->first;
}

}  // namespace lectern
