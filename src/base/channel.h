// A bounded queue between coroutines, also of different threads: senders wait when it is full, receivers wait when it
// is empty. close() flows downstream: what was sent before it is still received, then receivers get nullopt. One
// channel is one hop; its capacity is the bound on what can pile up there. (Boost 1.81's own experimental channel drops
// what is buffered when it is closed, so it cannot serve.)
#pragma once

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace lectern {

template <class T>
class Channel {
 public:
  explicit Channel(std::size_t capacity) : capacity_(capacity) {}
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // False when the channel is closed; the value is then dropped.
  boost::asio::awaitable<bool> send(T value) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (closed_) co_return false;
        if (items_.size() < capacity_) {
          put(std::move(value));
          co_return true;
        }
      }
      co_await wait(senders_, [this] { return closed_ || items_.size() < capacity_; });
    }
  }

  // nullopt once the channel is closed and empty.
  boost::asio::awaitable<std::optional<T>> receive() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (!items_.empty()) {
          std::optional<T> value = std::move(items_.front());
          items_.pop_front();
          wake_one(senders_);
          co_return value;
        }
        if (closed_) co_return std::nullopt;
      }
      co_await wait(receivers_, [this] { return closed_ || !items_.empty(); });
    }
  }

  // Without waiting: false when full or closed.
  bool try_send(T value) {
    const std::lock_guard lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    put(std::move(value));
    return true;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    while (!senders_.empty()) wake_one(senders_);
    while (!receivers_.empty()) wake_one(receivers_);
  }

 private:
  using Waiters = std::deque<std::function<void()>>;

  // REQUIRES: mutex_ is held, for these two. Waking only posts, so nothing runs under the lock.
  void put(T value) {
    items_.push_back(std::move(value));
    wake_one(receivers_);
  }
  static void wake_one(Waiters& waiters) {
    if (waiters.empty()) return;
    auto wake = std::move(waiters.front());
    waiters.pop_front();
    wake();
  }

  // Suspends until woken, or not at all if `ready` came true between the caller's look and now.
  template <class Ready>
  boost::asio::awaitable<void> wait(Waiters& waiters, Ready ready) {
    auto initiate = [this, &waiters, ready](auto handler) {
      auto shared = std::make_shared<decltype(handler)>(std::move(handler));  // std::function copies; handlers cannot
      auto executor = boost::asio::get_associated_executor(*shared);
      auto wake = [shared, executor] { boost::asio::post(executor, [shared] { std::move (*shared)(); }); };
      const std::lock_guard lock(mutex_);
      if (ready()) {
        wake();
      } else {
        waiters.push_back(wake);
      }
    };
    const auto token = boost::asio::use_awaitable;
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(std::move(initiate), token);
  }

  const std::size_t capacity_;
  std::mutex mutex_;     // guards all below
  std::deque<T> items_;  // at most capacity_
  bool closed_ = false;
  Waiters senders_;
  Waiters receivers_;
};

}  // namespace lectern
