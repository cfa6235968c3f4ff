#include "provider/fleet_shared.h"

#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include <utility>

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

asio::awaitable<Answer> ask_engine(std::shared_ptr<FleetShared> shared, Place place, Prompt prompt,
                                   CallOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  Provider& engine = *shared->engines[place.engine];
  Answer answer = refuse_abort(co_await engine.invoke(std::move(prompt), std::move(options)), engine.name());
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
