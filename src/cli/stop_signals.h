// SIGINT and SIGTERM as events of a loop.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <signal.h>

#include <functional>

namespace lectern::cli {

// Calls `on_signal` on the loop's thread with the number of signals that have come so far: 1 for the first.
class StopSignals {
 public:
  StopSignals(boost::asio::io_context& loop, std::function<void(int)> on_signal)
      : on_signal_(std::move(on_signal)), signals_(loop, SIGINT, SIGTERM) {
    wait();
  }
  // The loop ends only when nothing waits any more.
  void ignore() { signals_.cancel(); }

 private:
  void wait() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      on_signal_(++count_);
      wait();
    });
  }

  const std::function<void(int)> on_signal_;
  int count_ = 0;
  boost::asio::signal_set signals_;
};

}  // namespace lectern::cli
