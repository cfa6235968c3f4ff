// What happened so far, as GET /sim/stats tells it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "engine/sim/fault.h"

namespace lectern::sim {

class Stats {
 public:
  // Forgets all but what is going on now.
  void reset(TimePoint now);

  void arrived(TimePoint now, std::size_t body_bytes);
  void started(TimePoint now, double waited_s);
  // The number of running and of waiting jobs changed.
  void occupancy(TimePoint now, int running, int waiting);
  void answered(TimePoint now, int prompt_tokens, int completion_tokens);
  void refused(int status) { ++refused_[status]; }
  void faulted(FaultKind kind) { ++faults_[static_cast<std::size_t>(kind)]; }
  void cancelled() { ++cancelled_; }
  void died() { ++deaths_; }
  void connected() { ++connections_; }

  std::uint64_t requests() const { return requests_; }
  std::uint64_t prompt_tokens() const { return prompt_tokens_; }
  std::uint64_t completion_tokens() const { return completion_tokens_; }
  std::uint64_t answers() const { return answered_; }
  // Since the first request; 0 before it.
  double elapsed_s(TimePoint now) const;

  // What GET /sim/await waits for: "requests=3&running=0". Counters must have reached the number, what goes up and down
  // (in_flight, running, waiting, connections_open) must equal it.
  struct Condition {
    std::string name;
    std::uint64_t value = 0;
  };
  static Result<std::vector<Condition>> parse_conditions(std::string_view query);
  bool hold(const std::vector<Condition>& conditions, std::size_t connections_open) const;

  std::string json(TimePoint now, std::size_t connections_open);

 private:
  // One second of the run: how much slot time was used, how many requests came and were answered.
  struct Second {
    double busy_s = 0;
    int arrived = 0;
    int answered = 0;
  };
  struct Figure {
    std::uint64_t value = 0;
    bool is_counter = true;
  };
  std::optional<Figure> figure(std::string_view name, std::size_t connections_open) const;

  static constexpr std::size_t seconds_max = 3600;
  Second* second(double at_s);
  void integrate(TimePoint now);

  std::optional<TimePoint> first_;  // arrival
  TimePoint last_{};                // answer
  TimePoint integrated_to_{};
  int running_ = 0;
  int waiting_ = 0;
  int running_max_ = 0;
  int waiting_max_ = 0;
  double busy_s_ = 0;
  double waited_s_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t started_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t cancelled_ = 0;
  std::uint64_t deaths_ = 0;
  std::uint64_t connections_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t completion_tokens_ = 0;
  std::map<int, std::uint64_t> refused_;
  std::array<std::uint64_t, fault_kinds> faults_{};
  std::vector<Second> seconds_;
};

}  // namespace lectern::sim
