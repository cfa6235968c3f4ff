// Whether the service lives, and whether it can do its work.
#pragma once

#include <chrono>
#include <optional>

#include "base/cancellation.h"
#include "base/timers.h"
#include "job/blobs.h"
#include "job/store.h"
#include "service/http/message.h"

namespace lectern::service {

// Asks the store and writes to the blobs, for /health/ready. Everybody may ask that, without a key, so it costs little
// however often it is asked: one look at a time, for all who wait for it, and its answer is kept for a while. One
// thread; all parts are borrowed.
class Readiness {
 public:
  Readiness(job::Store& store, job::Blobs& blobs, Timers& timers, std::chrono::nanoseconds memory)
      : store_(store), blobs_(blobs), timers_(timers), memory_(memory) {}

  struct Found {
    bool store = false;
    bool blobs = false;
  };
  boost::asio::awaitable<Found> look();

 private:
  boost::asio::awaitable<void> ask();

  job::Store& store_;
  job::Blobs& blobs_;
  Timers& timers_;
  const std::chrono::nanoseconds memory_;
  Found found_;
  TimePoint good_until_ = TimePoint::min();
  std::optional<Cancellation> asking_;  // requested when the look that is under way has ended
};

boost::asio::awaitable<http::Response> live(http::ExchangePtr exchange);
// 503 while the store or the blobs do not answer, or the server stops: nothing should be sent here then.
boost::asio::awaitable<http::Response> ready(Readiness* readiness, http::ExchangePtr exchange);

}  // namespace lectern::service
