// Many engines that serve one model, as one provider: each kept exactly full, none overrun, retries that cannot turn
// into a storm. The decisions are pure and stand apart: adaptive_limit.h, retry_policy.h, breaker.h, balance.h,
// hedge.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "provider/provider.h"

namespace lectern::provider {

struct FleetShared;

struct FleetOptions {
  int parallel = 0;              // requests in flight over all engines; 0 = found for each engine while it works
  int parallel_max = 256;        // for each engine, when it is found
  int attempts_max = 2;          // for one question, over all engines; where nobody is there it has had none
  double retry_share_max = 0.2;  // of all questions so far: the fleet's retry budget
  int failures_to_eject = 5;     // in a row; one where nobody is there
  // While all engines are out, questions wait this long for one to come back (as long as their deadline allows while a
  // model loads). After that they fail at once, until one is back.
  std::chrono::milliseconds patience{30'000};
  bool hedge = false;  // ask a second engine about the slowest questions
  double hedge_share_max = 0.05;
};

struct EngineReport {
  std::string name;
  bool ejected = false;
  int in_flight = 0;
  int limit = 0;
  int others = 0;           // requests of other clients there, where it tells
  std::uint64_t asked = 0;  // requests sent, probes and hedges included
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;
  std::string last_failure;  // empty = none
};

struct FleetReport {
  std::vector<EngineReport> engines;
  int in_flight = 0;
  int limit = 0;    // of the engines that are not ejected together; at least 1
  int waiting = 0;  // questions that wait for a place
  std::uint64_t retries = 0;
  std::uint64_t retries_refused = 0;  // for want of budget
  std::uint64_t hedges = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;
};

// Questions wait for a place in the order they came. Not before an engine has room is a request built and sent.
class Fleet final : public Provider {
 public:
  // Both must outlive the event loops on which it is asked: a probe under way may be kept by its loop when the fleet is
  // gone, and with it the engines.
  struct Seams {
    Timers& timers;
    Random& random;
  };
  // REQUIRES: at least one engine.
  Fleet(std::vector<std::unique_ptr<Provider>> engines, FleetOptions options, Seams seams);
  ~Fleet() override;  // REQUIRES: no call is under way

  boost::asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) override;
  // All at once, as far as there is room. Pieces of several answers cannot be told apart, so `on_text` hears nothing.
  boost::asio::awaitable<std::vector<Answer>> batch_invoke(std::vector<Prompt> prompts, CallOptions options) override;
  bool supports_batch() const override;
  std::string name() const override;

  // Asks the engines for their load now, so that the first questions know it; a second at most. Later that is done
  // while questions are in flight.
  boost::asio::awaitable<void> look_at_load(Cancellation cancellation);

  FleetReport report() const;
  // Hears whenever the limit or what is in flight has changed; on the thread that changed it. For windows of prepared
  // work.
  void on_change(std::function<void()> callback);

 private:
  std::shared_ptr<FleetShared> shared_;  // also held by calls and probes under way
};

}  // namespace lectern::provider
