#include "provider/fleet_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "provider/usage_estimate.h"

namespace lectern::provider {

namespace {

// Questions come in bursts as pages become ready: no break in being busy if it is shorter.
constexpr std::chrono::seconds short_break{1};
// Often enough to notice others; llama-server wants to be asked less than once a second.
constexpr std::chrono::seconds load_interval{2};
// A timeout is held against the engine only if it had this much of its usual time: the question may have spent its
// own time in our queue.
constexpr double fair_time = 1.5;

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

// The engine has read the request and found it wanting: it is at work.
bool shows_life(FailureReason reason) {
  return !counts_against_engine(reason) && reason != FailureReason::cancelled;
}

}  // namespace

FleetState::FleetState(std::vector<EngineKind> engines, FleetOptions options)
    : options_(options), budget_(options.retry_share_max), hedge_(options.hedge_share_max) {
  const Breaker::Options breaker{.failures_to_eject = options.failures_to_eject, .patience = options.patience};
  for (EngineKind& kind : engines) {
    std::optional<AdaptiveLimit> limit;
    if (options.parallel == 0) limit.emplace(AdaptiveLimit::Options{.max = options.parallel_max});
    engines_.push_back(Engine{.name = std::move(kind.name),
                              .limit = std::move(limit),
                              .breaker = Breaker(breaker),
                              .tells_load = kind.tells_load});
  }
}

std::uint64_t FleetState::begin_call(TimePoint now, Effects& effects) {
  calls_ += 1;
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    watch(i, effects);
    rest(i, now, effects);
    if (!engines_[i].tells_load || engines_[i].polled) continue;
    engines_[i].polled = true;
    effects.to_poll.push_back(i);
  }
  return questions_++;
}

bool FleetState::end_call() {
  calls_ -= 1;
  return calls_ == 0;
}

void FleetState::watch(std::size_t engine, Effects& effects) {
  if (!engines_[engine].breaker.ejected() || engines_[engine].watched) return;
  engines_[engine].watched = true;
  effects.to_watch.push_back(engine);
}

void FleetState::rest(std::size_t engine, TimePoint now, Effects& effects) {
  if (engines_[engine].pause.over(now) || engines_[engine].rested) return;
  engines_[engine].rested = true;
  effects.to_rest.push_back(engine);
}

std::optional<TimePoint> FleetState::rest_until(std::size_t index, TimePoint now) {
  Engine& engine = engines_[index];
  if (calls_ > 0 && !engine.pause.over(now)) return engine.pause.until();
  engine.rested = false;
  return std::nullopt;
}

void FleetState::enter(std::shared_ptr<Waiting> waiting, TimePoint now, Effects& effects) {
  waiting_.emplace(waiting->number, std::move(waiting));
  admit(now, effects);
}

void FleetState::leave(const Waiting& waiting) {
  waiting_.erase(waiting.number);
}

void FleetState::note_busy(TimePoint now) {
  if (now - busy_at_ > short_break) busy_since_ = now;
  busy_at_ = now;
}

void FleetState::admit(TimePoint now, Effects& effects) {
  if (!waiting_.empty()) note_busy(now);
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    Waiting& waiting = *next->second;
    const auto engine = choose(waiting.failed, static_cast<int>(waiting_.size()), now);
    if (waiting.hedge) {
      if (!engine || *engine == waiting.failed.front() || !hedge_.take()) {
        ++next;  // it loses nothing by waiting: the first engine may answer yet
        continue;
      }
      waiting.place = give_place(*engine, now);
      effects.changed = true;
    } else if (engine && !turn_to_try(waiting, *engine)) {
      ++next;
      continue;
    } else if (engine) {
      if (waiting.failed.empty()) {
        budget_.asked();
        hedge_.asked();
      } else {
        retries_ += 1;
      }
      waiting.place = give_place(*engine, now);
      effects.changed = true;
    } else if (const Failure* failure = no_hope(now, waiting.deadline)) {
      waiting.refusal = *failure;
    } else if (waiting.failed.empty()) {
      return;  // no room for those behind it either
    } else {
      ++next;  // it waits for another engine than the one that failed it
      continue;
    }
    effects.woken.push_back(next->second);
    next = waiting_.erase(next);
  }
}

// An engine that has refused is tried with one question at a time. Each time with another: the same one would have used
// up its attempts before there is room.
bool FleetState::turn_to_try(const Waiting& waiting, std::size_t engine) const {
  const auto refused = [engine](const Waiting& one) {
    return std::ranges::find(one.failed, engine) != one.failed.end();
  };
  if (!engines_[engine].pause.careful() || !refused(waiting)) return true;
  return std::ranges::none_of(waiting_, [&](const auto& one) { return !one.second->hedge && !refused(*one.second); });
}

std::optional<std::size_t> FleetState::choose(const std::vector<std::size_t>& avoid, int waiting, TimePoint now) const {
  if (options_.parallel > 0 && in_flight_ >= options_.parallel) return std::nullopt;
  const auto fresh = [&](std::size_t i) { return std::ranges::find(avoid, i) == avoid.end(); };
  bool others = false;  // is there an engine that has not failed on it?
  for (std::size_t i = 0; i < engines_.size(); ++i) others |= fresh(i) && open(engines_[i], now);
  std::vector<EngineLoad> loads;
  loads.reserve(engines_.size());
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const Engine& engine = engines_[i];
    const int in_flight = static_cast<int>(engine.asked_at.size());
    // A fixed limit tells nothing about what the engine can take at a time: what it has already delays the next.
    double answer_s = engine.limit ? engine.speed.latency_s() : (in_flight + 1) * engine.speed.pace_s();
    if (!engine.asked_at.empty()) answer_s = std::max(answer_s, seconds(now - engine.asked_at.begin()->second));
    const bool full = engine.pause.careful() && in_flight > 0;
    loads.push_back({.usable = open(engine, now) && !full && (fresh(i) || !others),
                     .in_flight = in_flight,
                     .others = engine.load.others,
                     .limit = limit_of(engine),
                     .answer_s = answer_s,
                     .pace_s = engine.speed.pace_s(),
                     .asked = engine.asked});
  }
  return choose_engine(loads, {.waiting = waiting, .busy_s = seconds(now - busy_since_)});
}

Place FleetState::give_place(std::size_t index, TimePoint now) {
  Engine& engine = engines_[index];
  Place place{.engine = index, .number = places_++, .since = now, .ticket = std::nullopt, .in_flight = 1};
  if (engine.limit) place.ticket = engine.limit->start(now);
  engine.asked += 1;
  engine.asked_at.emplace(place.number, now);
  place.in_flight = static_cast<int>(engine.asked_at.size());
  in_flight_ += 1;
  return place;
}

// Why nobody needs to wait any longer; null while there is hope.
const Failure* FleetState::no_hope(TimePoint now, Deadline deadline) const {
  const Failure* last = nullptr;
  TimePoint latest = TimePoint::min();
  for (const Engine& engine : engines_) {
    // A pause that cannot end in time is not waited for, nor a server that refuses for ever.
    const bool pauses = !engine.breaker.ejected() && engine.pause.careful();
    const bool too_long = pauses && !engine.pause.over(now) && deadline.passed(engine.pause.until());
    const TimePoint ends = too_long ? now
                           : pauses ? engine.pause.hope_ends(options_.patience)
                                    : engine.breaker.hope_ends();
    if (ends > now) return nullptr;
    // Of several the one that could still have come back has more to tell than the one whose key is wrong.
    if (last == nullptr || ends > latest) last = pauses ? &engine.pause.failure() : &*engine.breaker.failure();
    latest = std::max(latest, ends);
  }
  return last;
}

void FleetState::finish(const Place& place, const Answer& answer, TimePoint now, Effects& effects) {
  Engine& engine = engines_[place.engine];
  engine.asked_at.erase(place.number);
  in_flight_ -= 1;
  effects.changed = true;
  if (answer || shows_life(answer.error().reason)) engine.ear.heard(now);
  if (answer) {
    succeeded(engine, place, *answer, now);
  } else {
    failed(engine, place, answer.error(), now, effects);
  }
  admit(now, effects);
}

void FleetState::charge(std::int64_t prompt_tokens, std::int64_t completion_tokens) {
  prompt_tokens_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, prompt_tokens));
  completion_tokens_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, completion_tokens));
}

std::optional<TimePoint> FleetState::silent_at(const Place& place, Deadline deadline, TimePoint now) const {
  const Engine& engine = engines_[place.engine];
  SilenceQuestion question{.usual = engine.ear.usual(), .time = deadline.left(place.since)};
  for (const Engine& other : engines_) {
    if (&other == &engine) continue;
    question.others |= open(other, now);
    question.usual_of_others = std::max(question.usual_of_others, other.ear.usual());
  }
  const auto silence = silence_max(question);
  if (!silence) return std::nullopt;
  return std::max(place.since, engine.ear.heard_at()) + std::chrono::duration_cast<TimePoint::duration>(*silence);
}

void FleetState::succeeded(Engine& engine, const Place& place, const Reply& reply, TimePoint now) {
  engine.answered += 1;
  engine.earned = true;
  engine.pause.answered();
  if (reply.usage) charge(reply.usage->prompt_tokens, reply.usage->completion_tokens);
  const bool whole = reply.finish != FinishReason::cut;  // else it was us who made it short
  if (engine.limit && whole) engine.limit->answered(*place.ticket, reply.first_byte, now);
  if (engine.limit && !whole) engine.limit->ended(*place.ticket, now);
  if (whole) {
    engine.ear.answered(reply.first_byte.count() > 0 ? reply.first_byte : now - place.since);
    const int in_flight = std::max(place.in_flight, static_cast<int>(engine.asked_at.size()) + 1);
    engine.speed.answered(seconds(now - place.since), in_flight);
    hedge_.answered(now - place.since);
  }
  alive(engine, now);
}

void FleetState::failed(Engine& engine, const Place& place, const Failure& failure, TimePoint now, Effects& effects) {
  const std::size_t bytes = failure.partial_text.size() + failure.reasoning_bytes;
  if (bytes > 0) charge(place.prompt_tokens, estimate_text_tokens(bytes));  // paid for, though of no use
  if (failure.reason == FailureReason::cancelled) {
    if (engine.limit) engine.limit->ended(*place.ticket, now);
    return;
  }
  engine.failed += 1;
  engine.last_failure = failure.message;
  const bool unfair =
      failure.reason == FailureReason::timed_out && seconds(now - place.since) < fair_time * engine.speed.latency_s();
  if (engine.limit) {
    if (means_too_much_work(failure.reason) && !unfair) {
      engine.limit->refused(*place.ticket, now);
    } else {
      engine.limit->ended(*place.ticket, now);
    }
  }
  if (unfair) return;
  if (failure.reason == FailureReason::rate_limited || failure.reason == FailureReason::overloaded) {
    engine.pause.refused(failure, place.since, now);
    forgive(engine);
    rest(place.engine, now, effects);
  }
  if (shows_life(failure.reason)) return alive(engine, now);
  if (engine.breaker.failed(failure, now)) {
    forgive(engine);
    watch(place.engine, effects);
  }
}

// What an engine had in flight when it died, or had enough, may be asked again without counting: nobody asks it until
// it is back. Only once for each time it was of use, so that one that seems well and never answers a real question
// cannot make a storm of it.
void FleetState::forgive(Engine& engine) {
  if (!std::exchange(engine.earned, false)) return;
  engine.forgiven_before = places_;
}

void FleetState::alive(Engine& engine, TimePoint now) {
  // A server that leaves takes no connections and still answers what it has: whether it is back a probe finds out.
  if (engine.breaker.ejected() && nobody_there(*engine.breaker.failure())) return;
  back(engine, now);
}

void FleetState::back(Engine& engine, TimePoint now) {
  if (engine.breaker.answered() && engine.limit) engine.limit->come_back(now);
}

std::optional<std::chrono::nanoseconds> FleetState::retry(const Failure& failure, const Place& place,
                                                          const std::vector<std::size_t>& failed,
                                                          RetryQuestion question) {
  for (std::size_t i = 0; i < engines_.size(); ++i) {
    const bool fresh = i != place.engine && std::ranges::find(failed, i) == failed.end();
    question.elsewhere |= fresh && open(engines_[i], question.now);
  }
  // It has been ejected, so this costs each question one request to each such engine at most.
  if (needs_a_person(failure.reason) && question.elsewhere) return std::chrono::nanoseconds(0);
  // Nobody has heard the question, so it has not had an attempt: it waits with the others for the engine to come back.
  question.attempts_max = nobody_there(failure) ? question.attempts_made + 1 : options_.attempts_max;
  const auto wait = retry_wait(failure, question);
  if (!wait) return std::nullopt;
  if (place.number < engines_[place.engine].forgiven_before) return wait;
  return budget_.take() ? wait : std::nullopt;
}

std::optional<std::chrono::nanoseconds> FleetState::hedge_wait() const {
  if (!options_.hedge || engines_.size() < 2) return std::nullopt;
  return hedge_.wait();
}

std::optional<TimePoint> FleetState::next_look(std::size_t index, TimePoint now) {
  const Breaker& breaker = engines_[index].breaker;
  if (!breaker.ejected() || (calls_ == 0 && breaker.next_probe() > now)) return std::nullopt;
  const TimePoint hope_ends = breaker.hope_ends();
  return hope_ends > now ? std::min(breaker.next_probe(), hope_ends) : breaker.next_probe();
}

bool FleetState::probe_due(std::size_t index, TimePoint now) {
  Engine& engine = engines_[index];
  if (!engine.breaker.ejected() || now < engine.breaker.next_probe()) return false;
  engine.asked += 1;
  return true;
}

void FleetState::probed(std::size_t index, const Answer& answer, TimePoint now, Effects& effects) {
  Engine& engine = engines_[index];
  const bool well = answer || shows_life(answer.error().reason);
  (well ? engine.answered : engine.failed) += 1;
  if (well) {
    back(engine, now);
  } else {
    engine.last_failure = answer.error().message;
    if (engine.breaker.ejected()) engine.breaker.probe_failed(answer.error(), now);
  }
  effects.changed = true;
  admit(now, effects);
}

std::optional<TimePoint> FleetState::next_load_look(std::size_t index) const {
  const Engine& engine = engines_[index];
  if (!engine.tells_load || calls_ == 0) return std::nullopt;
  return engine.load_looked_at ? *engine.load_looked_at + load_interval : TimePoint::min();
}

std::optional<int> FleetState::begin_load_look(std::size_t index, TimePoint now) {
  Engine& engine = engines_[index];
  engine.load_looked_at = now;
  if (!engine.breaker.ejected()) return static_cast<int>(engine.asked_at.size());
  engine.load.others = 0;  // whoever else it had lost them, too
  return std::nullopt;
}

void FleetState::heard_load(std::size_t index, const LoadAnswer& answer, int in_flight_before, TimePoint now,
                            Effects& effects) {
  Engine& engine = engines_[index];
  engine.tells_load = answer.ask_again;
  engine.load_looked_at = now;
  // What began or ended while it was asked may or may not be in its figures: it is not taken for somebody else's.
  const int ours = std::max(in_flight_before, static_cast<int>(engine.asked_at.size()));
  engine.load = answer.figures ? hint_from(*answer.figures, ours) : LoadHint{};
  if (engine.limit) {
    if (engine.load.slots) engine.limit->cap(*engine.load.slots);
    engine.limit->hold_still(engine.load.crowded);
  }
  effects.changed = true;
  admit(now, effects);
}

std::string FleetState::why_waiting(TimePoint now) const {
  for (const Engine& engine : engines_) {
    if (open(engine, now)) return "all engines were busy with other questions until its time was up";
  }
  std::string text = "no engine came back before its time was up";
  for (const Engine& engine : engines_) {
    const Failure& failure = engine.breaker.ejected() ? *engine.breaker.failure() : engine.pause.failure();
    text += fmt::format("; {}", failure.message);
  }
  return text;
}

FleetReport FleetState::report() const {
  FleetReport out;
  for (const Engine& engine : engines_) {
    out.engines.push_back({.name = engine.name,
                           .ejected = engine.breaker.ejected(),
                           .in_flight = static_cast<int>(engine.asked_at.size()),
                           .limit = limit_of(engine),
                           .others = engine.load.others,
                           .asked = engine.asked,
                           .answered = engine.answered,
                           .failed = engine.failed,
                           .last_failure = engine.last_failure});
    if (engine.limit && !engine.breaker.ejected()) out.limit += engine.limit->limit();
  }
  if (options_.parallel > 0) out.limit = options_.parallel;
  out.limit = std::max(1, out.limit);
  out.in_flight = in_flight_;
  out.waiting = static_cast<int>(std::ranges::count_if(waiting_, [](const auto& w) { return !w.second->hedge; }));
  out.retries = retries_;
  out.retries_refused = budget_.refused();
  out.hedges = hedge_.taken();
  out.prompt_tokens = prompt_tokens_;
  out.completion_tokens = completion_tokens_;
  return out;
}

}  // namespace lectern::provider
