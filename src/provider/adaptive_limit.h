// How many requests one engine is given at a time, found while it works. No engine tells its knee and none refuses
// work (they queue it), so the limit is raised while the answers per second rise with it, and no further.
//
// The answers per second at a limit are estimated by Little's law: requests in flight over their mean latency. Two
// limits are compared by elasticity, the growth of throughput against the growth of the limit (both as logarithms): 1
// means that the engine had room, 0 that the added requests only queue. A pure state machine; its owner locks.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "provider/latency_sample.h"

namespace lectern::provider {

class AdaptiveLimit {
 public:
  struct Options {
    int start = 4;
    int max = 256;
  };
  // Handed out with each request and given back with its end.
  struct Ticket {
    TimePoint started;
    double area = 0;  // requests in flight, summed over time, when it started
    std::uint32_t epoch = 0;
    int cohort = -1;  // -1 = it tells nothing: the engine had not settled yet
  };

  explicit AdaptiveLimit(Options options);

  int limit() const { return limit_; }
  int in_flight() const { return in_flight_; }
  int cohorts() const { return static_cast<int>(cohorts_.size()); }  // that are remembered; bounded by what runs

  [[nodiscard]] Ticket start(TimePoint now);
  // Each ticket ends by one of these three.
  void answered(const Ticket& ticket, std::chrono::nanoseconds first_byte, TimePoint now);
  void refused(const Ticket& ticket, TimePoint now);  // the engine had too much work: 429, 503, timeout, out of memory
  void ended(const Ticket& ticket, TimePoint now);    // in a way that tells nothing about load

  // The engine works on no more than this at a time: there is nothing to be found above it.
  void cap(int slots);
  // While `still`, the limit may go down but not up: others queue there.
  void hold_still(bool still);

  // The engine was away: begins low again and doubles with every round until it is where it was.
  void come_back(TimePoint now);

 private:
  enum class Phase : std::uint8_t {
    first,     // at the start limit, before anything is known
    grow,      // twice the base is on trial
    trim,      // a limit between the base and `upper_`, which had grown less than its limit, is on trial
    hold,      // the base, until the next probe
    up,        // a little more than the base is on trial
    down,      // less than the base is on trial
    come_back  // doubling to what it was
  };
  // Requests that started one after another at one limit, judged together once nearly all have ended: the first to end
  // are the short ones, so taking them as they come would flatter the engine.
  struct Cohort {
    int size = 0;
    int started = 0;
    int dropped = 0;           // ended without telling anything
    bool judged = false;       // it counts no more
    double running_since = 0;  // sum of the start times of those that run
    LatencySample seen;

    int ended() const { return static_cast<int>(seen.count) + dropped; }
    bool tells_enough() const { return 2 * static_cast<int>(seen.count) >= size; }
  };

  double seconds(TimePoint now) const { return std::chrono::duration<double>(now - origin_).count(); }
  void pass_time(TimePoint now);
  Cohort* cohort_of(const Ticket& ticket);
  static bool over(const Cohort& cohort);
  void forget_cohorts();
  void move_to(int limit, Phase phase);
  void judge(TimePoint now);
  LatencySample ended_cohorts(TimePoint now, int& complete) const;
  LatencySample everything_seen() const;

  void judge_first(const LatencySample& trial);
  void judge_grow(const LatencySample& trial, int complete);
  void judge_trim(const LatencySample& trial, int complete);
  void judge_hold(const LatencySample& trial);
  void judge_up(const LatencySample& trial, int complete);
  void judge_down(const LatencySample& trial, int complete);
  void accept(int limit, const LatencySample& seen);
  void grow_or_hold();
  void settle(int limit, Phase next_probe);
  void probe();
  int step_up() const;
  int ceiling() const { return still_ ? base_ : max_; }

  const Options options_;
  int max_;
  bool still_ = false;
  TimePoint origin_{};  // of the first request
  bool begun_ = false;
  int limit_;
  int in_flight_ = 0;
  double area_ = 0;
  double area_at_ = 0;
  double backed_off_at_ = -1;

  Phase phase_ = Phase::first;
  std::uint32_t epoch_ = 0;
  int unsettled_ = 0;  // starts still to come that fill the engine up to the new limit: they tell nothing
  std::deque<Cohort> cohorts_;
  int cohorts_gone_ = 0;  // of this epoch, before the first in `cohorts_`

  int base_;  // the limit in force when no other is on trial
  LatencySample reference_;
  struct Level {
    int limit;
    LatencySample seen;
  };
  std::vector<Level> grown_;    // the limits passed while doubling
  std::optional<Level> upper_;  // of trim
  double down_factor_ = 0.5;
  double up_step_ = 0;
  double rounds_held_ = 0;
  int rounds_to_hold_ = 0;
  bool risen_before_ = false;  // the last round took longer than those before it
  double slowed_by_ = 0;       // latency before over latency now, when the engine has become slower
  int probes_ = 0;
  int come_back_to_ = 0;
};

}  // namespace lectern::provider
