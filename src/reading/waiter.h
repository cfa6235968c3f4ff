// A coroutine that waits for another one on the same event loop thread to let it go on.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace lectern::reading {

// Not thread safe. wait() is called once; wake() any number of times, before or after.
class Waiter {
 public:
  explicit Waiter(const boost::asio::any_io_executor& executor)
      : timer_(executor, boost::asio::steady_timer::time_point::max()) {}

  // What wake() said.
  boost::asio::awaitable<bool> wait() {
    if (!woken_) {
      boost::system::error_code ignored;  // waking is a cancellation of the timer
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    co_return go_on_;
  }
  void wake(bool go_on) {
    woken_ = true;
    go_on_ = go_on;
    timer_.cancel();
  }

 private:
  boost::asio::steady_timer timer_;  // never expires
  bool woken_ = false;
  bool go_on_ = false;
};

}  // namespace lectern::reading
