// How much there is to do, as Prometheus wants it, of a server or a worker. Counting a million tasks takes a while even
// by an index: the store is asked now and then, however often somebody looks, and more seldom the longer it takes.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "job/store.h"
#include "telemetry/metrics.h"

namespace lectern::service {

// How long what was counted in so much time is good enough: so that counting takes at most a twentieth of the time of
// one of the store's threads; no less than 2 s, no more than 5 min.
std::chrono::nanoseconds figures_last(std::chrono::nanoseconds counting_took);

// Lives on one loop.
class QueueWatch {
 public:
  // Both are borrowed.
  QueueWatch(job::Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Asks the store, unless what is known is new enough or somebody is asking already.
  boost::asio::awaitable<void> look();
  // What is known. Of a store that did not answer only that.
  void write(telemetry::MetricsText& text) const;

 private:
  job::Store& store_;
  const Clock& clock_;
  bool asking_ = false;
  std::optional<TimePoint> good_until_;     // nothing = never asked
  std::optional<job::QueueFigures> known_;  // nothing = it did not answer
  job::Millis at_ = 0;                      // by the store's clock
};

}  // namespace lectern::service
