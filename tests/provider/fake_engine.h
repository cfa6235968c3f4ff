// An engine that does as the test says, in time that the test moves by hand; and a bench to run a fleet of them on.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/timers.h"
#include "provider/fleet.h"

namespace lectern::provider {

inline Failure failure_of(FailureReason reason, std::string message = "") {
  Failure failure;
  failure.reason = reason;
  failure.message = message.empty() ? std::string(to_string(reason)) : std::move(message);
  return failure;
}

// What the engine does with one request: says the pieces, one after `each` time, then ends.
struct Behaviour {
  std::chrono::nanoseconds time = std::chrono::seconds(1);  // until the end, pieces apart
  std::optional<Failure> failure;                           // instead of an answer
  std::vector<std::string> pieces;
  std::chrono::nanoseconds each{0};
  FinishReason finish = FinishReason::stop;
  std::optional<Usage> usage;
};

inline std::function<Behaviour(const Prompt&)> always(Behaviour behaviour) {
  return [behaviour](const Prompt&) { return behaviour; };
}
inline std::function<Behaviour(const Prompt&)> failing(FailureReason reason) {
  return always({.time = std::chrono::seconds(0), .failure = failure_of(reason)});
}
// The first `count` requests fail.
inline std::function<Behaviour(const Prompt&)> failing_first(int count, Behaviour failure) {
  auto left = std::make_shared<int>(count);
  return [left, failure](const Prompt&) { return (*left)-- > 0 ? failure : Behaviour{}; };
}

class FakeEngine final : public Provider {
 public:
  // Outlives the engine, which its fleet owns.
  struct Log {
    std::string name;
    std::function<Behaviour(const Prompt&)> script = [](const Prompt&) { return Behaviour{}; };
    int asked = 0;
    int in_flight = 0;
    int in_flight_max = 0;
    int cancelled = 0;
    std::vector<Prompt> prompts;
    std::function<LoadAnswer()> load;  // unset = it does not tell; set before the fleet is made
    int looks = 0;
  };
  FakeEngine(std::shared_ptr<Log> log, Timers& timers) : log_(std::move(log)), timers_(timers) {}

  std::string name() const override { return log_->name; }
  bool tells_load() const override { return log_->load != nullptr; }
  boost::asio::awaitable<LoadAnswer> load(CallOptions /*options*/) override { return tell_load(log_); }
  boost::asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) override {
    return run(log_, &timers_, std::move(prompt), std::move(options));
  }

 private:
  static boost::asio::awaitable<LoadAnswer> tell_load(std::shared_ptr<Log> log) {
    log->looks += 1;
    co_return log->load();
  }
  static boost::asio::awaitable<Answer> run(std::shared_ptr<Log> log, Timers* timers, Prompt prompt,
                                            CallOptions options) {
    log->asked += 1;
    log->in_flight += 1;
    log->in_flight_max = std::max(log->in_flight_max, log->in_flight);
    log->prompts.push_back(prompt);
    const Behaviour behaviour = log->script(prompt);
    Reply reply;
    reply.engine = log->name;
    reply.finish = behaviour.finish;
    reply.usage = behaviour.usage;
    std::optional<Failure> failure;
    for (const std::string& piece : behaviour.pieces) {
      co_await timers->wait_for(behaviour.each, options.cancellation);
      if (options.cancellation.requested()) break;
      if (options.on_sign) options.on_sign();
      reply.text += piece;
      if (options.on_text && !options.on_text(piece)) {
        reply.finish = FinishReason::cut;
        break;
      }
    }
    if (reply.finish != FinishReason::cut) {
      const TimePoint end = timers->clock().now() + std::chrono::duration_cast<TimePoint::duration>(behaviour.time);
      co_await timers->wait_until(std::min(end, options.deadline.when()), options.cancellation);
      if (options.cancellation.requested()) {
        failure = failure_of(FailureReason::cancelled);
        log->cancelled += 1;
      } else if (timers->clock().now() < end) {
        failure = failure_of(FailureReason::timed_out);
      } else {
        failure = behaviour.failure;
        if (reply.text.empty()) reply.text = "answer to " + prompt.user;
      }
    }
    log->in_flight -= 1;
    if (failure) co_return std::unexpected(*failure);
    co_return reply;
  }

  const std::shared_ptr<Log> log_;
  Timers& timers_;
};

class FleetBench {
 public:
  FleetBench(int engines, FleetOptions options, std::function<LoadAnswer()> load = {}) {
    std::vector<std::unique_ptr<Provider>> providers;
    for (int i = 0; i < engines; ++i) {
      logs.push_back(std::make_shared<FakeEngine::Log>());
      logs.back()->name = fmt::format("engine {}", i);
      logs.back()->load = load;
      providers.push_back(std::make_unique<FakeEngine>(logs.back(), timers));
    }
    fleet.emplace(std::move(providers), options, Fleet::Seams{.timers = timers, .random = random});
  }

  struct Asked {
    std::optional<Answer> answer;
    TimePoint ended;
  };
  // Asks, and runs what can run without time passing.
  std::shared_ptr<Asked> ask(std::string user, CallOptions options = {}) {
    auto asked = std::make_shared<Asked>();
    Prompt prompt;
    prompt.user = std::move(user);
    boost::asio::co_spawn(loop, fleet->invoke(std::move(prompt), std::move(options)),
                          [asked, this](std::exception_ptr, Answer answer) {
                            asked->answer.emplace(std::move(answer));
                            asked->ended = timers.clock().now();
                          });
    settle();
    return asked;
  }
  std::vector<std::shared_ptr<Asked>> ask_many(int count) {
    std::vector<std::shared_ptr<Asked>> out;
    for (int i = 0; i < count; ++i) out.push_back(ask(std::to_string(i)));
    return out;
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void pass(std::chrono::nanoseconds time) {
    const TimePoint end = now() + std::chrono::duration_cast<TimePoint::duration>(time);
    for (settle(); timers.next() <= end; settle()) timers.advance(timers.next() - now());
    timers.advance(end - now());
    settle();
  }
  TimePoint now() const { return timers.clock().now(); }
  Deadline within(std::chrono::nanoseconds time) const { return Deadline::after(time, timers.clock()); }
  int asked_in_all() const {
    int sum = 0;
    for (const auto& log : logs) sum += log->asked;
    return sum;
  }

  ManualTimers timers;
  SeededRandom random{1};
  boost::asio::io_context loop;
  std::vector<std::shared_ptr<FakeEngine::Log>> logs;
  std::optional<Fleet> fleet;
};

inline int answered(const std::vector<std::shared_ptr<FleetBench::Asked>>& asked) {
  return static_cast<int>(std::ranges::count_if(asked, [](const auto& a) { return a->answer && *a->answer; }));
}
inline int ended(const std::vector<std::shared_ptr<FleetBench::Asked>>& asked) {
  return static_cast<int>(std::ranges::count_if(asked, [](const auto& a) { return a->answer.has_value(); }));
}

}  // namespace lectern::provider
