// One question, and after a while a second engine asked the same: the first of them to say something wins, the other
// is cancelled for real. Only the winner's text is passed on.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "provider/fleet_shared.h"

namespace lectern::provider {

// Of one question, over all its attempts.
struct Heard {
  std::atomic<bool> text{false};  // some was passed on in the present attempt
  std::atomic<int> requests{0};   // how often somebody was asked
};

struct HedgedCall {
  std::uint64_t number;           // of the question
  std::chrono::nanoseconds wait;  // before the second engine is asked
  Place place;                    // of the first
  Prompt prompt;
  CallOptions options;
};

boost::asio::awaitable<Answer> ask_hedged(std::shared_ptr<FleetShared> shared, HedgedCall call,
                                          std::shared_ptr<Heard> heard);

}  // namespace lectern::provider
