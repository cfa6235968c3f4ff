#include "provider/fleet.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <mutex>
#include <utility>

#include "base/run_all.h"
#include "provider/fleet_shared.h"
#include "provider/hedged_call.h"

namespace lectern::provider {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds probe_time{10};
constexpr std::chrono::seconds load_time{2};        // llama-server answers between two steps of its model
constexpr std::chrono::seconds first_load_time{1};  // while everybody waits for it

// One call of invoke() for as long as it lives: engines that are out are probed only while somebody asks.
class Call {
 public:
  Call(std::shared_ptr<FleetShared> shared, asio::any_io_executor executor) : shared_(std::move(shared)) {
    Effects effects;
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->idle.requested()) shared_->idle = {};
      number_ = shared_->state.begin_call(shared_->now(), effects);
    }
    shared_->act(effects, executor);
  }
  ~Call() {
    Cancellation idle;
    {
      const std::lock_guard lock(shared_->mutex);
      if (!shared_->state.end_call()) return;
      idle = shared_->idle;
    }
    idle.request();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  std::uint64_t number() const { return number_; }

 private:
  const std::shared_ptr<FleetShared> shared_;
  std::uint64_t number_ = 0;
};

Failure cancelled_failure() {
  Failure failure;
  failure.reason = FailureReason::cancelled;
  failure.message = "cancelled";
  return failure;
}

std::unexpected<Failure> timed_out(std::string message) {
  Failure failure;
  failure.reason = FailureReason::timed_out;
  failure.message = std::move(message);
  return std::unexpected(std::move(failure));
}

asio::awaitable<std::expected<Place, Failure>> wait_for_place(std::shared_ptr<FleetShared> shared,
                                                              std::shared_ptr<Waiting> waiting, CallOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  if (options.cancellation.requested()) co_return std::unexpected(cancelled_failure());
  if (options.deadline.passed(shared->now())) co_return timed_out("its time was up before any engine was asked");
  Effects effects;
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.enter(waiting, shared->now(), effects);
  }
  shared->act(effects, executor);
  const auto on_cancel = options.cancellation.on_request([waiting] { waiting->woken.request(); });
  if (!waiting->woken.requested()) co_await shared->timers.wait_until(options.deadline.when(), waiting->woken);

  Effects given_back;
  std::expected<Place, Failure> out = std::unexpected(cancelled_failure());
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.leave(*waiting);
    if (waiting->place && options.cancellation.requested()) {
      shared->state.finish(*waiting->place, std::unexpected(cancelled_failure()), shared->now(), given_back);
    } else if (waiting->place) {
      out = *waiting->place;
    } else if (waiting->refusal) {
      out = std::unexpected(*waiting->refusal);
    } else if (!options.cancellation.requested()) {
      out = timed_out(shared->state.why_waiting(shared->now()));
    }
  }
  shared->act(given_back, executor);
  co_return out;
}

// Asks the engine of `place`, and perhaps a second one. `heard` is set when some of the text was passed on.
asio::awaitable<Answer> attempt(std::shared_ptr<FleetShared> shared, std::uint64_t question, Place place, Prompt prompt,
                                CallOptions options, std::shared_ptr<Heard> heard) {
  std::optional<std::chrono::nanoseconds> hedge_wait;
  {
    const std::lock_guard lock(shared->mutex);
    hedge_wait = shared->state.hedge_wait();
  }
  if (options.on_text) {
    options.on_text = [on_text = std::move(options.on_text), heard](std::string_view piece) {
      heard->text = true;
      return on_text(piece);
    };
  }
  if (hedge_wait) {
    auto hedged = HedgedCall{
        .number = question, .wait = *hedge_wait, .place = place, .prompt = std::move(prompt), .options = options};
    co_return co_await ask_hedged(shared, std::move(hedged), heard);
  }
  heard->requests += 1;
  co_return co_await ask_engine(shared, place, std::move(prompt), std::move(options));
}

asio::awaitable<Answer> ask(std::shared_ptr<FleetShared> shared, Prompt prompt, CallOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  const Call call(shared, executor);
  shared->remember_model(prompt.model);
  const auto heard = std::make_shared<Heard>();
  std::vector<std::size_t> failed;
  for (int attempts = 1;; ++attempts) {
    const auto waiting = std::make_shared<Waiting>();
    waiting->number = call.number();
    waiting->deadline = options.deadline;
    waiting->failed = failed;
    const std::expected<Place, Failure> place = co_await wait_for_place(shared, waiting, options);
    if (!place) co_return std::unexpected(place.error());
    if (heard->text && options.on_restart) options.on_restart();
    heard->text = false;

    Answer answer = co_await attempt(shared, call.number(), *place, prompt, options, heard);
    if (answer) answer->attempts = heard->requests;
    if (answer || options.cancellation.requested()) co_return answer;

    std::optional<std::chrono::nanoseconds> wait;
    {
      const std::lock_guard lock(shared->mutex);
      const RetryQuestion question{.attempts_made = attempts,
                                   .deadline = options.deadline,
                                   .now = shared->now(),
                                   .uniform = shared->random.uniform()};
      wait = shared->state.retry(answer.error(), *place, failed, question);
    }
    if (!wait) co_return answer;
    // That engine is closed to all: it does not count.
    if (needs_a_person(answer.error().reason) || nobody_there(answer.error())) attempts -= 1;
    failed.push_back(place->engine);
    co_await shared->timers.wait_for(*wait, options.cancellation);
  }
}

asio::awaitable<void> ask_one_of_many(std::shared_ptr<FleetShared> shared, Prompt prompt, CallOptions options,
                                      std::shared_ptr<std::vector<std::optional<Answer>>> answers, std::size_t index) {
  (*answers)[index] = co_await ask(std::move(shared), std::move(prompt), std::move(options));
}

asio::awaitable<std::vector<Answer>> ask_many(std::shared_ptr<FleetShared> shared, std::vector<Prompt> prompts,
                                              CallOptions options) {
  const std::size_t count = prompts.size();
  const auto answers = std::make_shared<std::vector<std::optional<Answer>>>(count);
  options.on_text = nullptr;
  options.on_restart = nullptr;
  std::vector<asio::awaitable<void>> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(ask_one_of_many(shared, std::move(prompts[i]), options, answers, i));
  }
  co_await run_all(std::move(all));
  std::vector<Answer> out;
  out.reserve(count);
  for (std::optional<Answer>& answer : *answers) out.push_back(std::move(*answer));
  co_return out;
}

// Marks the engine as unwatched also when the loop is destroyed under the coroutine.
struct Watch {
  std::shared_ptr<FleetShared> shared;
  std::size_t engine;
  ~Watch() {
    const std::lock_guard lock(shared->mutex);
    shared->state.watch_ended(engine);
  }
};

// Probes an ejected engine until it is back, or nobody asks anything any more.
asio::awaitable<void> watch_engine(std::shared_ptr<FleetShared> shared, std::size_t engine) {
  const auto executor = co_await asio::this_coro::executor;
  const Watch watch{shared, engine};
  for (;;) {
    std::optional<TimePoint> when;
    Cancellation idle;
    {
      const std::lock_guard lock(shared->mutex);
      when = shared->state.next_look(engine, shared->now());
      idle = shared->idle;
    }
    if (!when || shared->closing.requested()) co_return;
    if (*when > shared->now()) co_await shared->timers.wait_until(*when, idle);
    if (shared->closing.requested()) co_return;

    bool probe = false;
    Effects hope_ended;
    {
      const std::lock_guard lock(shared->mutex);
      probe = shared->state.probe_due(engine, shared->now());
      if (!probe) shared->state.admit(shared->now(), hope_ended);
    }
    shared->act(hope_ended, executor);
    if (!probe) continue;

    CallOptions options{.deadline = Deadline::after(probe_time, shared->timers.clock()),
                        .cancellation = shared->closing};
    Answer answer = refuse_abort(co_await shared->engines[engine]->invoke(shared->probe_prompt(), std::move(options)),
                                 shared->engines[engine]->name());
    if (shared->closing.requested()) co_return;  // the clock may be gone
    Effects effects;
    {
      const std::lock_guard lock(shared->mutex);
      shared->state.probed(engine, answer, shared->now(), effects);
    }
    shared->act(effects, executor);
  }
}

struct Rest {
  std::shared_ptr<FleetShared> shared;
  std::size_t engine;
  ~Rest() {
    const std::lock_guard lock(shared->mutex);
    shared->state.rest_ended(engine);
  }
};

// Lets those who wait go on when the engine's pause is over.
asio::awaitable<void> await_rest(std::shared_ptr<FleetShared> shared, std::size_t engine) {
  const auto executor = co_await asio::this_coro::executor;
  const Rest rest{shared, engine};
  for (;;) {
    std::optional<TimePoint> when;
    Cancellation idle;
    {
      const std::lock_guard lock(shared->mutex);
      when = shared->state.rest_until(engine, shared->now());
      idle = shared->idle;
    }
    if (!when) co_return;
    co_await shared->timers.wait_until(*when, idle);
    if (shared->closing.requested()) co_return;
    Effects effects;
    {
      const std::lock_guard lock(shared->mutex);
      shared->state.admit(shared->now(), effects);
    }
    shared->act(effects, executor);
  }
}

// Asks an engine for its load once.
asio::awaitable<void> look_at_load(std::shared_ptr<FleetShared> shared, std::size_t engine, int in_flight,
                                   std::chrono::seconds time, Cancellation cancellation) {
  const auto executor = co_await asio::this_coro::executor;
  CallOptions options{.deadline = Deadline::after(time, shared->timers.clock()), .cancellation = cancellation};
  const LoadAnswer answer = co_await shared->engines[engine]->load(std::move(options));
  if (cancellation.requested()) co_return;  // clock and listeners may be gone
  Effects effects;
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.heard_load(engine, answer, in_flight, shared->now(), effects);
  }
  shared->act(effects, executor);
}

struct Poll {
  std::shared_ptr<FleetShared> shared;
  std::size_t engine;
  ~Poll() {
    const std::lock_guard lock(shared->mutex);
    shared->state.poll_ended(engine);
  }
};

// Asks it now and then, for as long as anybody asks it anything else.
asio::awaitable<void> poll_load(std::shared_ptr<FleetShared> shared, std::size_t engine) {
  const Poll poll{shared, engine};
  for (;;) {
    std::optional<TimePoint> when;
    Cancellation idle;
    {
      const std::lock_guard lock(shared->mutex);
      when = shared->state.next_load_look(engine);
      idle = shared->idle;
    }
    if (!when || shared->closing.requested()) co_return;
    if (*when > shared->now()) co_await shared->timers.wait_until(*when, idle);
    if (idle.requested() || shared->closing.requested()) co_return;
    std::optional<int> in_flight;
    {
      const std::lock_guard lock(shared->mutex);
      in_flight = shared->state.begin_load_look(engine, shared->now());
    }
    if (in_flight) co_await look_at_load(shared, engine, *in_flight, load_time, idle);
  }
}

}  // namespace

void FleetShared::act(const Effects& effects, const asio::any_io_executor& executor) {
  for (const auto& waiting : effects.woken) waiting->woken.request();
  for (const std::size_t engine : effects.to_watch) {
    asio::co_spawn(executor, watch_engine(shared_from_this(), engine), asio::detached);
  }
  for (const std::size_t engine : effects.to_rest) {
    asio::co_spawn(executor, await_rest(shared_from_this(), engine), asio::detached);
  }
  for (const std::size_t engine : effects.to_poll) {
    asio::co_spawn(executor, poll_load(shared_from_this(), engine), asio::detached);
  }
  if (!effects.changed) return;
  std::shared_ptr<const std::function<void()>> callback;
  {
    const std::lock_guard lock(mutex);
    callback = on_change;
  }
  if (callback && *callback) (*callback)();
}

Fleet::Fleet(std::vector<std::unique_ptr<Provider>> engines, FleetOptions options, Seams seams)
    : shared_(std::make_shared<FleetShared>(std::move(engines), options, seams.timers, seams.random)) {}

Fleet::~Fleet() {
  on_change(nullptr);
  shared_->closing.request();
}

asio::awaitable<Answer> Fleet::invoke(Prompt prompt, CallOptions options) {
  return ask(shared_, std::move(prompt), std::move(options));
}

asio::awaitable<std::vector<Answer>> Fleet::batch_invoke(std::vector<Prompt> prompts, CallOptions options) {
  return ask_many(shared_, std::move(prompts), std::move(options));
}

bool Fleet::supports_batch() const {
  return true;
}

std::string Fleet::name() const {
  std::string text;
  for (const auto& engine : shared_->engines) text += (text.empty() ? "" : ", ") + engine->name();
  return text;
}

asio::awaitable<void> Fleet::look_at_load(Cancellation cancellation) {
  std::vector<asio::awaitable<void>> all;
  for (std::size_t i = 0; i < shared_->engines.size(); ++i) {
    if (!shared_->engines[i]->tells_load()) continue;
    all.push_back(provider::look_at_load(shared_, i, 0, first_load_time, cancellation));
  }
  return run_all(std::move(all));
}

FleetReport Fleet::report() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->state.report();
}

void Fleet::on_change(std::function<void()> callback) {
  const std::lock_guard lock(shared_->mutex);
  shared_->on_change = std::make_shared<const std::function<void()>>(std::move(callback));
}

}  // namespace lectern::provider
