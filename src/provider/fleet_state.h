// What a fleet knows: who waits, who is being asked what, how each engine does. Every change says what must follow
// from it (Effects); whoever holds the lock lets go of it first and then acts. Not safe from several threads by itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/random.h"
#include "provider/adaptive_limit.h"
#include "provider/balance.h"
#include "provider/breaker.h"
#include "provider/engine_load.h"
#include "provider/fleet.h"
#include "provider/hedge.h"
#include "provider/pause.h"
#include "provider/retry_policy.h"
#include "provider/silence.h"

namespace lectern::provider {

// The right to ask an engine once. Each is given back, by finish().
struct Place {
  std::size_t engine = 0;
  std::uint64_t number = 0;
  TimePoint since;
  std::optional<AdaptiveLimit::Ticket> ticket;  // none when the limit is fixed
  int in_flight = 1;                            // on the engine, this one included, when it began
  std::int64_t prompt_tokens = 0;               // about so many, for answers that do not tell
};

// A question that waits for a place. Guarded like the state, except for `woken`.
struct Waiting {
  std::uint64_t number = 0;         // of the question: the order of arrival
  Deadline deadline;                // of the question
  std::vector<std::size_t> failed;  // engines that have failed on it; of a hedge, the one that is being asked
  bool hedge = false;               // the question has a place already and wants a second one
  std::optional<Place> place;       // one of these two, once it waits no more
  std::optional<Failure> refusal;
  Cancellation woken;
};

struct Effects {
  std::vector<std::shared_ptr<Waiting>> woken;
  std::vector<std::size_t> to_watch;  // engines that are ejected and that nobody probes yet
  std::vector<std::size_t> to_rest;   // engines that pause and that nobody waits for yet
  std::vector<std::size_t> to_poll;   // engines that tell their load and that nobody asks for it yet
  bool changed = false;               // the limit, or what is in flight
};

class FleetState {
 public:
  struct EngineKind {
    std::string name;
    bool tells_load = false;
  };
  FleetState(std::vector<EngineKind> engines, FleetOptions options);

  // A call of invoke() begins and ends. Ejected engines are probed only while there are calls.
  std::uint64_t begin_call(TimePoint now, Effects& effects);
  // True when it was the last.
  bool end_call();

  // Queues a question, and gives it a place at once if there is room.
  void enter(std::shared_ptr<Waiting> waiting, TimePoint now, Effects& effects);
  // It gives up waiting; nothing happens if it waits no more.
  void leave(const Waiting& waiting);
  // Something came of the engine, for whichever question.
  void heard(std::size_t engine, TimePoint now) { engines_[engine].ear.heard(now); }
  // When the engine will have been silent for too long, if nothing comes of it; nullopt = that cannot be said yet.
  std::optional<TimePoint> silent_at(const Place& place, Deadline deadline, TimePoint now) const;
  // What became of asking. A failure of kind `cancelled` says nothing about the engine.
  void finish(const Place& place, const Answer& answer, TimePoint now, Effects& effects);
  // May the question be asked again, and after which wait? `failed` are the engines that had failed on it before.
  std::optional<std::chrono::nanoseconds> retry(const Failure& failure, const Place& place,
                                                const std::vector<std::size_t>& failed, RetryQuestion question);

  // How long to wait before a second engine is asked as well; nullopt = it will not be.
  std::optional<std::chrono::nanoseconds> hedge_wait() const;

  // Of an ejected engine. When to look at it again; nullopt = nobody needs to, now.
  std::optional<TimePoint> next_look(std::size_t engine, TimePoint now);
  bool probe_due(std::size_t engine, TimePoint now);
  void probed(std::size_t engine, const Answer& answer, TimePoint now, Effects& effects);
  void watch_ended(std::size_t engine) { engines_[engine].watched = false; }
  // Of an engine that pauses: until when; nullopt = nobody needs to wait for it, now.
  std::optional<TimePoint> rest_until(std::size_t engine, TimePoint now);
  void rest_ended(std::size_t engine) { engines_[engine].rested = false; }
  // The engine's own load figures, asked for while there are calls. When to ask next; nullopt = not at all, now.
  std::optional<TimePoint> next_load_look(std::size_t engine) const;
  // What is in flight there, to be told with the figures; nullopt = it is away.
  std::optional<int> begin_load_look(std::size_t engine, TimePoint now);
  void heard_load(std::size_t engine, const LoadAnswer& answer, int in_flight_before, TimePoint now, Effects& effects);
  void poll_ended(std::size_t engine) { engines_[engine].polled = false; }
  // Time has passed: a pause, or hope, may have ended for those who wait.
  void admit(TimePoint now, Effects& effects);

  FleetReport report() const;
  // Why nobody was asked, for whom it took too long.
  std::string why_waiting(TimePoint now) const;

 private:
  struct Engine {
    std::string name;
    std::optional<AdaptiveLimit> limit;  // none = fixed for all together
    Breaker breaker;
    Pause pause;
    EngineEar ear;
    EngineSpeed speed;
    std::map<std::uint64_t, TimePoint> asked_at;  // of what is in flight; the oldest first
    bool watched = false;
    bool rested = false;  // somebody waits for the end of its pause
    // Places with smaller numbers were lost together: to ask again what they had does not count against the budget.
    std::uint64_t forgiven_before = 0;
    bool earned = true;  // it has answered a question since that was last granted
    bool tells_load = false;
    bool polled = false;
    std::optional<TimePoint> load_looked_at;
    LoadHint load;
    std::uint64_t asked = 0;
    std::uint64_t answered = 0;
    std::uint64_t failed = 0;
    std::string last_failure;
  };

  int limit_of(const Engine& engine) const { return engine.limit ? engine.limit->limit() : options_.parallel; }
  std::optional<std::size_t> choose(const std::vector<std::size_t>& avoid, int waiting, TimePoint now) const;
  bool turn_to_try(const Waiting& waiting, std::size_t engine) const;
  Place give_place(std::size_t engine, TimePoint now);
  bool open(const Engine& engine, TimePoint now) const { return !engine.breaker.ejected() && engine.pause.over(now); }
  const Failure* no_hope(TimePoint now, Deadline deadline) const;
  void note_busy(TimePoint now);
  void charge(std::int64_t prompt_tokens, std::int64_t completion_tokens);
  void succeeded(Engine& engine, const Place& place, const Reply& reply, TimePoint now);
  void failed(Engine& engine, const Place& place, const Failure& failure, TimePoint now, Effects& effects);
  void alive(Engine& engine, TimePoint now);
  void back(Engine& engine, TimePoint now);
  void forgive(Engine& engine);
  void watch(std::size_t engine, Effects& effects);
  void rest(std::size_t engine, TimePoint now, Effects& effects);

  const FleetOptions options_;
  std::vector<Engine> engines_;
  std::map<std::uint64_t, std::shared_ptr<Waiting>> waiting_;  // by the order of their questions
  std::uint64_t questions_ = 0;
  std::uint64_t places_ = 0;
  int calls_ = 0;
  int in_flight_ = 0;
  TimePoint busy_since_{};  // questions have waited without a break since then
  TimePoint busy_at_{};     // when some last did
  RetryBudget budget_;
  std::uint64_t retries_ = 0;
  HedgePolicy hedge_;
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t completion_tokens_ = 0;
};

}  // namespace lectern::provider
