// Which engine gets the next question. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lectern::provider {

// What an engine's answers tell about its speed; all zero until the first.
class EngineSpeed {
 public:
  void answered(double latency_s, double in_flight);

  double latency_s() const { return latency_s_; }
  // From one answer to the next, under the load it had.
  double pace_s() const { return pace_s_; }

 private:
  double latency_s_ = 0;
  double pace_s_ = 0;
};

struct EngineLoad {
  bool usable = true;  // not ejected, and not to be avoided
  int in_flight = 0;
  int others = 0;       // requests of other clients there, where it tells
  int limit = 1;        // has room while less is in flight
  double answer_s = 0;  // expected from asking to the answer; 0 = nobody knows yet
  double pace_s = 0;    // from one answer to the next; 0 = nobody knows yet
  std::uint64_t asked = 0;
};

struct Backlog {
  int waiting = 1;    // questions without a place, this one included
  double busy_s = 0;  // how long there have been such questions without a break
};

// nullopt = better wait: no engine has room, or only such a slow one that the others will have answered all before it
// has answered this.
std::optional<std::size_t> choose_engine(std::span<const EngineLoad> engines, Backlog backlog);

}  // namespace lectern::provider
