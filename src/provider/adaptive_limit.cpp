#include "provider/adaptive_limit.h"

#include <algorithm>
#include <cmath>

namespace lectern::provider {

namespace {

constexpr double nearly_all_growth = 0.77;  // of a limit's growth: nothing queued there
constexpr double same_throughput = 0.9;
constexpr double room_share = 0.85;  // in flight over the limit, from which on the limit was what held requests back
constexpr int cohort_min = 12;
constexpr int probe_cohort_min = 8;
constexpr std::size_t cohorts_to_remember = 8;  // of those that tell too little to be judged
constexpr int cohorts_to_grow = 3;              // when these leave it unclear the estimate decides
constexpr double answers_to_probe = 48;         // and two cohorts: then the estimate decides, or all stays as it was
constexpr double very_sure = 3;
constexpr double sure = Comparison::sure;
constexpr double reference_memory = 0.8;  // what the rounds so far weigh when a new one joins them
constexpr int hold_first = 4;             // rounds before the first probe
constexpr int hold_min = 12;
constexpr int hold_max = 32;
constexpr double probe_step = 0.125;
constexpr double latency_rise = 1.3;
constexpr double latency_doubled = 2;
constexpr double queueing_rise = 0.25;  // of the first byte's time, over the whole latency
constexpr double back_off = 0.7;

int scaled(int limit, double factor) {
  return static_cast<int>(std::lround(limit * factor));
}

}  // namespace

AdaptiveLimit::AdaptiveLimit(Options options)
    : options_(options), max_(options.max), limit_(std::clamp(options.start, 1, options.max)), base_(limit_) {
  move_to(limit_, Phase::first);
}

void AdaptiveLimit::pass_time(TimePoint now) {
  if (!begun_) {
    begun_ = true;
    origin_ = now;
  }
  const double at = std::max(area_at_, seconds(now));
  area_ += in_flight_ * (at - area_at_);
  area_at_ = at;
}

AdaptiveLimit::Ticket AdaptiveLimit::start(TimePoint now) {
  pass_time(now);
  in_flight_ += 1;
  Ticket ticket{.started = now, .area = area_, .epoch = epoch_, .cohort = -1};
  if (unsettled_ > 0) {
    unsettled_ -= 1;
    return ticket;
  }
  if (cohorts_.empty() || cohorts_.back().started == cohorts_.back().size) {
    forget_cohorts();
    const bool probing = phase_ == Phase::up || phase_ == Phase::down;
    Cohort cohort;
    cohort.size = std::max(limit_, probing ? probe_cohort_min : cohort_min);
    cohorts_.push_back(cohort);
  }
  Cohort& cohort = cohorts_.back();
  cohort.started += 1;
  cohort.running_since += seconds(now);
  ticket.cohort = cohorts_gone_ + static_cast<int>(cohorts_.size()) - 1;
  return ticket;
}

// A client that hardly ever fills the limit would leave one cohort after another that nobody judges. Only from the
// front, as tickets know their cohort by its number.
void AdaptiveLimit::forget_cohorts() {
  while (!cohorts_.empty()) {
    const Cohort& front = cohorts_.front();
    const bool ended = front.started == front.size && front.ended() == front.size;
    const bool useless =
        ended && (front.seen.count < 1 || (!front.tells_enough() && cohorts_.size() > cohorts_to_remember));
    if (!front.judged && !useless) return;
    cohorts_.pop_front();
    cohorts_gone_ += 1;
  }
}

// Null when it tells nothing.
AdaptiveLimit::Cohort* AdaptiveLimit::cohort_of(const Ticket& ticket) {
  if (ticket.epoch != epoch_ || ticket.cohort < cohorts_gone_) return nullptr;
  return &cohorts_[static_cast<std::size_t>(ticket.cohort - cohorts_gone_)];
}

void AdaptiveLimit::answered(const Ticket& ticket, std::chrono::nanoseconds first_byte, TimePoint now) {
  pass_time(now);
  in_flight_ -= 1;
  if (phase_ == Phase::come_back) {
    // One more place for every answer doubles the limit with each round.
    if (ticket.epoch == epoch_) limit_ += 1;
    if (limit_ >= come_back_to_) move_to(come_back_to_, Phase::hold);
    return;
  }
  Cohort* cohort = cohort_of(ticket);
  if (cohort == nullptr) return;
  cohort->running_since -= seconds(ticket.started);
  const double latency = std::chrono::duration<double>(now - ticket.started).count();
  const double in_flight = latency > 0 ? (area_ - ticket.area) / latency : limit_;
  if (latency <= 0 || in_flight < room_share * limit_) {
    cohort->dropped += 1;  // the client had no more to ask: it says nothing about the limit
  } else {
    cohort->seen.add(latency, std::chrono::duration<double>(first_byte).count(), in_flight);
  }
  judge(now);
}

void AdaptiveLimit::ended(const Ticket& ticket, TimePoint now) {
  pass_time(now);
  in_flight_ -= 1;
  if (Cohort* cohort = cohort_of(ticket)) {
    cohort->running_since -= seconds(ticket.started);
    cohort->dropped += 1;
  }
}

void AdaptiveLimit::refused(const Ticket& ticket, TimePoint now) {
  const int at = in_flight_;
  ended(ticket, now);
  if (seconds(ticket.started) <= backed_off_at_) return;  // it had been sent before the limit went down
  backed_off_at_ = seconds(now);
  rounds_to_hold_ = std::clamp(rounds_to_hold_ * 2, hold_min, hold_max);
  probes_ = 1;  // upwards, when the time comes
  up_step_ = probe_step;
  grown_.clear();
  const int lower = std::max(1, static_cast<int>(back_off * std::min(at, limit_)));
  if (base_ < limit_ && base_ <= at) return move_to(base_, Phase::hold);  // it was well before this trial
  base_ = lower;
  reference_ = {};
  move_to(lower, Phase::hold);
}

void AdaptiveLimit::cap(int slots) {
  max_ = std::clamp(slots, 1, options_.max);
  come_back_to_ = std::min(come_back_to_, max_);
  if (limit_ <= max_ && base_ <= max_) return;
  if (base_ > max_) {
    base_ = max_;
    reference_ = {};
  }
  grown_.clear();
  if (phase_ == Phase::first) return move_to(base_, Phase::first);
  settle(base_, Phase::down);
}

void AdaptiveLimit::hold_still(bool still) {
  still_ = still;
  if (!still || (phase_ != Phase::grow && phase_ != Phase::trim && phase_ != Phase::up)) return;
  grown_.clear();
  settle(base_, Phase::up);
}

void AdaptiveLimit::come_back(TimePoint now) {
  pass_time(now);
  come_back_to_ = std::max(base_, phase_ == Phase::come_back ? come_back_to_ : base_);
  base_ = come_back_to_;
  reference_ = {};
  move_to(std::min(std::max(options_.start, come_back_to_ / 8), come_back_to_), Phase::come_back);
  if (limit_ == come_back_to_) move_to(come_back_to_, Phase::hold);
}

void AdaptiveLimit::move_to(int limit, Phase phase) {
  limit_ = std::clamp(limit, 1, max_);
  phase_ = phase;
  epoch_ += 1;
  cohorts_.clear();
  cohorts_gone_ = 0;
  unsettled_ = phase == Phase::first ? 0 : std::max(0, limit_ - in_flight_);
  rounds_held_ = 0;
  risen_before_ = false;
  slowed_by_ = 0;
}

// Nearly all have ended, and some tell something.
bool AdaptiveLimit::over(const Cohort& cohort) {
  const bool ended = cohort.started == cohort.size && cohort.ended() >= cohort.size - cohort.size / 8;
  return ended && cohort.seen.count >= 1 && !cohort.judged;
}

// The cohorts of which nearly all requests have ended. Those that still run are the long ones: they enter with the time
// they have taken and half as much as the others' mean.
LatencySample AdaptiveLimit::ended_cohorts(TimePoint now, int& complete) const {
  LatencySample out;
  complete = 0;
  for (const Cohort& cohort : cohorts_) {
    if (!over(cohort)) continue;
    complete += cohort.tells_enough() ? 1 : 0;
    out.add(cohort.seen);
    const int running = cohort.size - cohort.ended();
    if (running == 0) continue;
    const double latency = (running * seconds(now) - cohort.running_since) / running + 0.5 * cohort.seen.mean();
    for (int i = 0; i < running; ++i) out.add(latency, cohort.seen.first_byte(), cohort.seen.in_flight());
  }
  return out;
}

LatencySample AdaptiveLimit::everything_seen() const {
  LatencySample out;
  for (const Cohort& cohort : cohorts_) out.add(cohort.seen);
  return out;
}

void AdaptiveLimit::judge(TimePoint now) {
  if (phase_ == Phase::grow || phase_ == Phase::up) {
    // Those that have ended so far are the quicker ones. If even they tell that more is not worth it, it is not.
    const LatencySample so_far = everything_seen();
    if (so_far.count >= std::max(6.0, limit_ / 4.0)) {
      const Comparison c = compare(reference_, so_far);
      if (!c.worth() && c.clear(very_sure)) {
        if (phase_ == Phase::grow)
          judge_grow(so_far, cohorts_to_grow);
        else
          judge_up(so_far, 2);
        return;
      }
    }
  }
  int complete = 0;
  const LatencySample trial = ended_cohorts(now, complete);
  if (complete == 0) return;
  switch (phase_) {
    case Phase::first:
      return judge_first(trial);
    case Phase::grow:
      return judge_grow(trial, complete);
    case Phase::trim:
      return judge_trim(trial, complete);
    case Phase::hold:
      return judge_hold(trial);
    case Phase::up:
      return judge_up(trial, complete);
    case Phase::down:
      return judge_down(trial, complete);
    case Phase::come_back:
      return;
  }
}

void AdaptiveLimit::accept(int limit, const LatencySample& seen) {
  base_ = limit;
  reference_ = seen;
}

void AdaptiveLimit::grow_or_hold() {
  grown_.push_back({base_, reference_});
  if (base_ >= ceiling()) return settle(base_, Phase::down);
  move_to(std::min(2 * base_, max_), Phase::grow);
}

void AdaptiveLimit::settle(int limit, Phase next_probe) {
  if (limit != base_) {
    base_ = limit;
    reference_ = {};
  }
  rounds_to_hold_ = hold_first;
  probes_ = next_probe == Phase::down ? 0 : 1;
  up_step_ = probe_step;
  move_to(base_, Phase::hold);
}

void AdaptiveLimit::judge_first(const LatencySample& trial) {
  accept(limit_, trial);
  grow_or_hold();
}

void AdaptiveLimit::judge_grow(const LatencySample& trial, int complete) {
  const Comparison c = compare(reference_, trial);
  if (!c.clear(sure) && complete < cohorts_to_grow) return;
  const double growth = std::exp(c.gain());
  const double limits = static_cast<double>(limit_) / base_;
  if (c.worth()) {
    const int places = scaled(base_, growth);
    if (c.gain() >= nearly_all_growth * std::log(limits) || places >= limit_) {
      accept(limit_, trial);
      return grow_or_hold();
    }
    // Some of it queued, or the engine slows down as it fills. If it has a fixed number of places, that many are
    // enough.
    upper_ = Level{limit_, trial};
    return move_to(std::max(places, base_ + 1), Phase::trim);
  }
  // With hindsight an earlier doubling may have brought nothing either.
  double best = trial.throughput();
  for (const Level& level : grown_) best = std::max(best, level.seen.throughput());
  for (const Level& level : grown_) {
    if (level.seen.throughput() < same_throughput * best) continue;
    accept(level.limit, level.seen);
    break;
  }
  const bool at_start = base_ == grown_.front().limit;
  const double more = std::clamp(trial.throughput() / reference_.throughput(), 1.0, 1.2);
  const int knee = scaled(base_, more);
  grown_.clear();
  if (at_start && base_ > 1) {  // it may lie below where the search began
    down_factor_ = 0.5;
    return move_to(scaled(base_, down_factor_), Phase::down);
  }
  settle(knee, Phase::down);
}

void AdaptiveLimit::judge_trim(const LatencySample& trial, int complete) {
  const Comparison c = compare(trial, upper_->seen);
  if (!c.clear(sure) && complete < cohorts_to_grow) return;
  if (c.worth() || !c.clear(sure)) {
    accept(upper_->limit, upper_->seen);
    return grow_or_hold();
  }
  grown_.clear();
  accept(limit_, trial);
  settle(limit_, Phase::down);
}

void AdaptiveLimit::judge_hold(const LatencySample& trial) {
  for (Cohort& cohort : cohorts_) cohort.judged = cohort.judged || over(cohort);
  forget_cohorts();
  if (slowed_by_ > 0) {
    // Less capacity, or longer pages? A smaller limit tells: it costs throughput only in the second case.
    down_factor_ = std::clamp(slowed_by_, 0.5, 1 - probe_step);
    reference_ = trial;
    return move_to(std::min(limit_ - 1, scaled(base_, down_factor_)), Phase::down);
  }
  if (reference_.count >= probe_cohort_min && limit_ > 1) {
    const double error = relative_error(reference_, trial);
    const double rise = std::log(trial.mean() / reference_.mean());
    const double queueing = (trial.first_byte() - reference_.first_byte()) / reference_.mean();
    const bool slower = rise > std::log(latency_rise) && rise > very_sure * error;
    const bool queues = queueing > queueing_rise && queueing > very_sure * error;
    if (slower || queues) {
      // One round of long pages looks the same: a second must confirm it, unless there is no doubt. What was seen so
      // far is a mixture of before and after, so the engine as it is now is measured from here on.
      if (risen_before_ || rise > std::log(latency_doubled)) {
        move_to(base_, Phase::hold);
        slowed_by_ = reference_.mean() / trial.mean();
      } else {
        risen_before_ = true;
      }
      return;
    }
    risen_before_ = false;
  }
  LatencySample merged = trial;
  if (reference_.count > 0) merged.add(reference_, reference_memory);
  reference_ = merged;
  rounds_held_ += trial.count / limit_;
  if (rounds_held_ >= rounds_to_hold_) probe();
}

// Mostly upwards, as a fallen capacity shows by itself in the latency.
void AdaptiveLimit::probe() {
  const bool down = probes_ % 3 == 0;
  probes_ += 1;
  rounds_to_hold_ = std::clamp(rounds_to_hold_ * 2, hold_min, hold_max);
  if (down && base_ > 1) {
    down_factor_ = 1 - std::max(probe_step, 0.7 / std::sqrt(base_));
    return move_to(std::min(base_ - 1, scaled(base_, down_factor_)), Phase::down);
  }
  if (!down && base_ < ceiling()) return move_to(step_up(), Phase::up);
  rounds_held_ = 0;
}

int AdaptiveLimit::step_up() const {
  const double step = std::max(up_step_ * base_, std::sqrt(base_));
  return std::max(base_ + 1, base_ + static_cast<int>(step));
}

void AdaptiveLimit::judge_up(const LatencySample& trial, int complete) {
  const Comparison c = compare(reference_, trial);
  const bool enough = complete >= 2 && trial.count >= answers_to_probe;
  if (!c.clear(sure) && !enough) return;
  if (c.worth() && (c.clear(sure) || c.likely())) {
    accept(limit_, trial);
    rounds_to_hold_ = hold_min;
    up_step_ = std::min(1.0, 2 * up_step_);  // there may be much more room
    if (base_ < ceiling()) return move_to(step_up(), Phase::up);
  } else {
    if (up_step_ > 0.5) {  // the last of several steps, and a large one: it may have been one too many
      rounds_to_hold_ = hold_first;
      probes_ = 0;
    }
    up_step_ = probe_step;
  }
  move_to(base_, Phase::hold);
}

void AdaptiveLimit::judge_down(const LatencySample& trial, int complete) {
  const Comparison c = compare(trial, reference_);
  const bool enough = complete >= 2 && trial.count >= answers_to_probe;
  if (!c.clear(sure) && !enough) return;
  const bool small_step = down_factor_ > 0.7;
  if (!c.worth() && (c.clear(sure) || c.queues() || (small_step && c.likely()))) {
    accept(limit_, trial);
    if (limit_ > 1) return move_to(std::min(limit_ - 1, scaled(limit_, down_factor_)), Phase::down);
    return settle(base_, Phase::up);
  }
  const double limits = static_cast<double>(base_) / limit_;
  if (!small_step && c.gain() + c.error < nearly_all_growth * std::log(limits)) {
    // A fixed number of places between the two?
    return settle(std::clamp(scaled(limit_, std::exp(c.gain())), limit_, base_), Phase::up);
  }
  move_to(base_, Phase::hold);
}

}  // namespace lectern::provider
