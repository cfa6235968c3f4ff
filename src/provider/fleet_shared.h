// What the coroutines of one fleet share: the engines, the state behind its lock, the way to act on its effects.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/random.h"
#include "base/timers.h"
#include "provider/fleet_state.h"
#include "provider/provider.h"

namespace lectern::provider {

// Shared by calls and probes under way, which may end a little after the fleet is gone.
struct FleetShared : std::enable_shared_from_this<FleetShared> {
  FleetShared(std::vector<std::unique_ptr<Provider>> providers, FleetOptions options, Timers& the_timers,
              Random& the_random);

  TimePoint now() const { return timers.clock().now(); }
  // REQUIRES: the lock is not held. Callbacks run here.
  void act(const Effects& effects, const boost::asio::any_io_executor& executor);
  void remember_model(const std::string& model);
  Prompt probe_prompt();

  const std::vector<std::unique_ptr<Provider>> engines;
  Timers& timers;
  Cancellation closing;  // the fleet is being destroyed

  std::mutex mutex;  // guards all below; never held across a wait
  Random& random;
  FleetState state;
  Cancellation idle;  // requested when the last call has ended; a new one when the next begins
  std::string model;  // that was last asked for: probes ask for it, too
  std::shared_ptr<const std::function<void()>> on_change;
};

// Asks the engine of `place` once and gives the place back.
boost::asio::awaitable<Answer> ask_engine(std::shared_ptr<FleetShared> shared, Place place, Prompt prompt,
                                          CallOptions options);

// A reply that the server gave up on is no answer.
Answer refuse_abort(Answer answer, const std::string& engine);

}  // namespace lectern::provider
