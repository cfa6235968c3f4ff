// Waiting as a parameter: code that backs off, probes or hedges takes Timers, so that tests move time by hand.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/cancellation.h"
#include "base/clock.h"

namespace lectern {

// All calls are safe from any thread; coroutines resume on their own executor.
class Timers {
 public:
  virtual ~Timers() = default;
  virtual const Clock& clock() const = 0;
  // Returns when the moment has come or `cancellation` was requested, whichever is first.
  virtual boost::asio::awaitable<void> wait_until(TimePoint when, Cancellation cancellation) = 0;
  boost::asio::awaitable<void> wait_for(std::chrono::nanoseconds time, Cancellation cancellation);
};

// Real time.
class SystemTimers final : public Timers {
 public:
  const Clock& clock() const override { return system_clock(); }
  boost::asio::awaitable<void> wait_until(TimePoint when, Cancellation cancellation) override;
};

// Time that moves only when told to: advance() lets those return whose moment has come, in the order of their moments.
class ManualTimers final : public Timers {
 public:
  const Clock& clock() const override { return clock_; }
  boost::asio::awaitable<void> wait_until(TimePoint when, Cancellation cancellation) override;

  void advance(std::chrono::nanoseconds by);
  int waiting() const;
  // The next moment that somebody waits for; TimePoint::max() when nobody does.
  TimePoint next() const;

 private:
  ManualClock clock_;
  mutable std::mutex mutex_;                                 // guards all below
  std::multimap<TimePoint, std::function<void()>> waiting_;  // equal moments in the order they came
};

}  // namespace lectern
