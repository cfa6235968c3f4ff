#include "provider/hedged_call.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <array>
#include <mutex>
#include <optional>
#include <utility>

#include "base/channel.h"

namespace lectern::provider {

namespace asio = boost::asio;

namespace {

// Shared by the call and its two legs: the loser may end after the call has returned.
struct Race {
  std::array<Cancellation, 2> stop;
  Cancellation news;  // the first leg has said something, or has ended
  Channel<int> ended{2};

  std::mutex mutex;  // guards all below
  std::array<std::optional<Answer>, 2> answers;
  std::optional<int> speaker;  // whose text is passed on

  // True when `leg` is, or now becomes, the one that is heard. The other one is stopped.
  bool speaks(int leg) {
    {
      const std::lock_guard lock(mutex);
      if (speaker) return *speaker == leg;
      speaker = leg;
    }
    stop[static_cast<std::size_t>(1 - leg)].request();
    news.request();
    return true;
  }
  bool silent() {
    const std::lock_guard lock(mutex);
    return !speaker && !answers[0];
  }
  // Does the end of `leg` decide the race? An answer does, unless the other one is already heard; so does a failure of
  // the one that is heard.
  bool decided_by(int leg) {
    bool well = false;
    {
      const std::lock_guard lock(mutex);
      if (speaker) return *speaker == leg;
      well = answers[static_cast<std::size_t>(leg)]->has_value();
    }
    return well && speaks(leg);
  }
  // REQUIRES: the race is decided, or both legs have ended.
  Answer winner() {
    const std::lock_guard lock(mutex);
    if (speaker) return std::move(*answers[static_cast<std::size_t>(*speaker)]);
    if (!answers[1] || !answers[0]) return std::move(*answers[answers[0] ? 0 : 1]);
    return std::move(*answers[*answers[1] ? 1 : 0]);  // both failed: the first engine's reason
  }
};

asio::awaitable<void> run_leg(std::shared_ptr<FleetShared> shared, std::shared_ptr<Race> race, int leg, Place place,
                              Prompt prompt, CallOptions options) {
  options.cancellation = race->stop[static_cast<std::size_t>(leg)];
  if (options.on_text) {
    options.on_text = [race, leg, on_text = std::move(options.on_text)](std::string_view piece) {
      return race->speaks(leg) && on_text(piece);
    };
  }
  Answer answer = co_await ask_engine(shared, place, std::move(prompt), std::move(options));
  {
    const std::lock_guard lock(race->mutex);
    race->answers[static_cast<std::size_t>(leg)] = std::move(answer);
  }
  race->news.request();
  race->ended.try_send(leg);
}

// A place on another engine as soon as there is one: the question is older than those that wait, so it comes first.
// nullopt: something was heard of the first engine meanwhile.
asio::awaitable<std::optional<Place>> second_place(std::shared_ptr<FleetShared> shared, std::shared_ptr<Race> race,
                                                   std::uint64_t number, Place first, Deadline deadline) {
  const auto executor = co_await asio::this_coro::executor;
  const auto waiting = std::make_shared<Waiting>();
  waiting->number = number;
  waiting->failed = {first.engine};
  waiting->hedge = true;
  Effects effects;
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.enter(waiting, shared->now(), effects);
  }
  shared->act(effects, executor);
  const auto on_news = race->news.on_request([waiting] { waiting->woken.request(); });
  if (!waiting->woken.requested()) co_await shared->timers.wait_until(deadline.when(), waiting->woken);

  const bool wanted = race->silent();
  Effects given_back;
  std::optional<Place> place;
  {
    const std::lock_guard lock(shared->mutex);
    shared->state.leave(*waiting);
    place = waiting->place;
    if (place && !wanted) {
      Failure unused;
      unused.reason = FailureReason::cancelled;
      shared->state.finish(*place, std::unexpected(std::move(unused)), shared->now(), given_back);
      place.reset();
    }
  }
  shared->act(given_back, executor);
  co_return place;
}

}  // namespace

asio::awaitable<Answer> ask_hedged(std::shared_ptr<FleetShared> shared, HedgedCall call, std::shared_ptr<Heard> heard) {
  const auto executor = co_await asio::this_coro::executor;
  const auto race = std::make_shared<Race>();
  const auto on_cancel = call.options.cancellation.on_request([race] {
    for (Cancellation& stop : race->stop) stop.request();
  });
  heard->requests += 1;
  asio::co_spawn(executor, run_leg(shared, race, 0, call.place, call.prompt, call.options), asio::detached);
  co_await shared->timers.wait_for(call.wait, race->news);

  std::optional<Place> second;
  if (race->silent() && !call.options.cancellation.requested()) {
    second = co_await second_place(shared, race, call.number, call.place, call.options.deadline);
  }
  if (second) {
    heard->requests += 1;
    asio::co_spawn(executor, run_leg(shared, race, 1, *second, call.prompt, call.options), asio::detached);
  }

  const int first = *co_await race->ended.receive();
  if (second && !race->decided_by(first)) co_await race->ended.receive();
  co_return race->winner();
}

}  // namespace lectern::provider
