#include "provider/fleet_shared.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "provider/usage_estimate.h"

namespace lectern::provider {

namespace asio = boost::asio;

namespace {

std::vector<FleetState::EngineKind> kinds_of(const std::vector<std::unique_ptr<Provider>>& engines) {
  std::vector<FleetState::EngineKind> kinds;
  for (const auto& engine : engines) kinds.push_back({.name = engine->name(), .tells_load = engine->tells_load()});
  return kinds;
}

}  // namespace

FleetShared::FleetShared(std::vector<std::unique_ptr<Provider>> providers, FleetOptions options, Timers& the_timers,
                         Random& the_random)
    : engines(std::move(providers)), timers(the_timers), random(the_random), state(kinds_of(engines), options) {}

void FleetShared::remember_model(const std::string& name) {
  const std::lock_guard lock(mutex);
  model = name;
}

// Small, but really answered by the model: a server's health page may be well while its engine is not.
Prompt FleetShared::probe_prompt() {
  Prompt prompt;
  prompt.user = "Say yes.";
  prompt.parameters.tokens_max = 1;
  const std::lock_guard lock(mutex);
  prompt.model = model;
  return prompt;
}

Answer refuse_abort(Answer answer, const std::string& engine) {
  if (!answer || answer->finish != FinishReason::abort) return answer;
  Failure failure;
  failure.reason = FailureReason::engine_failed;
  failure.message = fmt::format("{} gave up on the request (it is going to sleep or shutting down)", engine);
  failure.reply_started = !answer->text.empty();
  failure.partial_text = std::move(answer->text);
  return std::unexpected(std::move(failure));
}

namespace {

// Of one request to an engine; shared with its watcher, which may end a little later.
struct Request {
  Cancellation ended;  // requested by the asker
  Cancellation stop;   // ends the request
  std::atomic<bool> silent{false};
  std::chrono::nanoseconds silence{0};  // set before `silent` is
};

constexpr std::chrono::seconds silence_interval{30};  // between two looks while nothing can be said

// Takes the question from an engine that says nothing any more.
asio::awaitable<void> watch_silence(std::shared_ptr<FleetShared> shared, std::shared_ptr<Request> request, Place place,
                                    Deadline deadline) {
  TimePoint look = place.since + silence_interval;
  for (;;) {
    co_await shared->timers.wait_until(look, request->ended);
    if (request->ended.requested() || shared->closing.requested()) co_return;
    const TimePoint now = shared->now();
    std::optional<TimePoint> silent_at;
    {
      const std::lock_guard lock(shared->mutex);
      silent_at = shared->state.silent_at(place, deadline, now);
    }
    if (silent_at && *silent_at <= now) break;
    look = silent_at.value_or(now + silence_interval);
  }
  request->silence = shared->now() - place.since;
  request->silent = true;
  request->stop.request();
}

Answer refuse_silence(Answer answer, const Request& request, const std::string& engine) {
  if (answer || !request.silent || answer.error().reason != FailureReason::cancelled) return answer;
  answer.error().reason = FailureReason::timed_out;
  answer.error().message =
      fmt::format("{} took a request and has said nothing to anybody since; given up after {} s (does it sleep?)",
                  engine, std::chrono::duration_cast<std::chrono::seconds>(request.silence).count());
  return answer;
}

// A server that does not tell what its answer cost is charged for what can be seen of it.
void estimate_usage(Reply& reply, const Place& place) {
  if (reply.usage) return;
  reply.usage = Usage{.prompt_tokens = place.prompt_tokens,
                      .completion_tokens = estimate_text_tokens(reply.text.size() + reply.reasoning.size()),
                      .estimated = true};
}

}  // namespace

asio::awaitable<Answer> ask_engine(std::shared_ptr<FleetShared> shared, Place place, Prompt prompt,
                                   CallOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  Provider& engine = *shared->engines[place.engine];
  place.prompt_tokens = estimate_prompt_tokens(prompt);
  const auto request = std::make_shared<Request>();
  const auto on_cancel = options.cancellation.on_request([request] { request->stop.request(); });
  options.cancellation = request->stop;
  options.on_sign = [shared, index = place.engine] {
    if (shared->closing.requested()) return;  // a hedge's loser: the clock may be gone
    const std::lock_guard lock(shared->mutex);
    shared->state.heard(index, shared->now());
  };
  asio::co_spawn(executor, watch_silence(shared, request, place, options.deadline), asio::detached);
  Answer answer = refuse_abort(co_await engine.invoke(std::move(prompt), std::move(options)), engine.name());
  request->ended.request();
  answer = refuse_silence(std::move(answer), *request, engine.name());
  if (answer) estimate_usage(*answer, place);
  if (shared->closing.requested()) co_return answer;  // a hedge's loser: clock and listeners may be gone
  Effects effects;
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.finish(place, answer, shared->now(), effects);
  }
  shared->act(effects, executor);
  co_return answer;
}

}  // namespace lectern::provider
