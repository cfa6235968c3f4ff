#include "provider/fleet.h"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "fake_engine.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

TEST(Fleet, AnswersAndReports) {
  FleetBench bench(1, {});
  bench.logs[0]->script = always({.time = 2s, .usage = Usage{.prompt_tokens = 10, .completion_tokens = 3}});
  const auto asked = bench.ask("one");
  FleetReport report = bench.fleet->report();
  EXPECT_EQ(report.in_flight, 1);
  EXPECT_EQ(report.limit, 4);
  EXPECT_EQ(report.engines[0].in_flight, 1);
  bench.pass(2s);
  ASSERT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ((*asked->answer)->text, "answer to one");
  EXPECT_EQ((*asked->answer)->attempts, 1);
  report = bench.fleet->report();
  EXPECT_EQ(report.in_flight, 0);
  EXPECT_EQ(report.engines[0].name, "engine 0");
  EXPECT_EQ(report.engines[0].asked, 1U);
  EXPECT_EQ(report.engines[0].answered, 1U);
  EXPECT_EQ(report.prompt_tokens, 10U);
  EXPECT_EQ(report.completion_tokens, 3U);
  EXPECT_EQ(bench.fleet->name(), "engine 0");
}

TEST(Fleet, ParallelOneIsStrictlySequentialAndInOrder) {
  FleetBench bench(2, {.parallel = 1});
  std::vector<std::string> order;
  for (const auto& log : bench.logs) {
    log->script = [&order](const Prompt& prompt) {
      order.push_back(prompt.user);
      return Behaviour{};
    };
  }
  const auto asked = bench.ask_many(5);
  EXPECT_EQ(bench.asked_in_all(), 1);
  EXPECT_EQ(bench.fleet->report().waiting, 4);
  bench.pass(5s);
  EXPECT_EQ(answered(asked), 5);
  EXPECT_EQ(order, (std::vector<std::string>{"0", "1", "2", "3", "4"}));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(asked[static_cast<std::size_t>(i)]->ended - TimePoint{}, (i + 1) * 1s);
}

TEST(Fleet, AFixedNumberIsSharedByAllEngines) {
  FleetBench bench(2, {.parallel = 6});
  const auto asked = bench.ask_many(20);
  EXPECT_EQ(bench.logs[0]->in_flight, 3);
  EXPECT_EQ(bench.logs[1]->in_flight, 3);
  EXPECT_EQ(bench.fleet->report().limit, 6);
  bench.pass(4s);
  EXPECT_EQ(answered(asked), 20);
  EXPECT_LE(bench.logs[0]->in_flight_max + bench.logs[1]->in_flight_max, 8);
}

TEST(Fleet, TheLimitGrowsAndThoseWhoPrepareWorkHearOfIt) {
  FleetBench bench(1, {});
  int changes = 0;
  int limit_seen = 0;
  bench.fleet->on_change([&] {
    changes += 1;
    limit_seen = bench.fleet->report().limit;
  });
  const auto asked = bench.ask_many(400);
  EXPECT_EQ(bench.logs[0]->in_flight, 4);
  bench.pass(60s);
  EXPECT_EQ(answered(asked), 400);
  EXPECT_GE(bench.logs[0]->in_flight_max, 32);
  EXPECT_GE(limit_seen, 32);
  EXPECT_GE(changes, 400);
}

TEST(Fleet, BatchKeepsTheOrderAndCostsOneBadPromptOnlyItself) {
  FleetBench bench(2, {.parallel = 2});
  for (const auto& log : bench.logs) {
    log->script = [](const Prompt& prompt) {
      Behaviour behaviour{.time = prompt.user == "a" ? 3s : 1s};
      if (prompt.user == "b") behaviour.failure = failure_of(FailureReason::bad_image);
      return behaviour;
    };
  }
  std::vector<Prompt> prompts;
  for (const char* user : {"a", "b", "c", "d"}) prompts.push_back({.user = user});
  std::optional<std::vector<Answer>> answers;
  asio::co_spawn(bench.loop, bench.fleet->batch_invoke(std::move(prompts), {}),
                 [&](std::exception_ptr, std::vector<Answer> out) { answers = std::move(out); });
  bench.pass(10s);
  ASSERT_TRUE(answers);
  ASSERT_EQ(answers->size(), 4U);
  EXPECT_EQ((*answers)[0]->text, "answer to a");
  EXPECT_EQ((*answers)[1].error().reason, FailureReason::bad_image);
  EXPECT_EQ((*answers)[2]->text, "answer to c");
  EXPECT_EQ((*answers)[3]->text, "answer to d");
  EXPECT_TRUE(bench.fleet->supports_batch());
}

TEST(Fleet, AWaitingQuestionIsCancelledAtOnceAndFreesItsTurn) {
  FleetBench bench(1, {.parallel = 1});
  const auto first = bench.ask("first");
  Cancellation cancellation;
  const auto second = bench.ask("second", {.cancellation = cancellation});
  const auto third = bench.ask("third");
  cancellation.request();
  bench.settle();
  ASSERT_TRUE(second->answer);
  EXPECT_EQ(second->answer->error().reason, FailureReason::cancelled);
  EXPECT_EQ(bench.fleet->report().waiting, 1);
  bench.pass(2s);
  EXPECT_TRUE(first->answer->has_value());
  EXPECT_TRUE(third->answer->has_value());
  EXPECT_EQ(bench.logs[0]->asked, 2);
}

TEST(Fleet, CancellingAQuestionUnderWayReachesTheEngine) {
  FleetBench bench(1, {});
  Cancellation cancellation;
  const auto asked = bench.ask("one", {.cancellation = cancellation});
  cancellation.request();
  bench.settle();
  EXPECT_EQ(asked->answer->error().reason, FailureReason::cancelled);
  EXPECT_EQ(bench.logs[0]->cancelled, 1);
  EXPECT_EQ(bench.fleet->report().in_flight, 0);
}

TEST(Fleet, TheDeadlineEndsWaitingForAPlace) {
  FleetBench bench(1, {.parallel = 1});
  bench.logs[0]->script = always({.time = 10s});
  const auto first = bench.ask("first");
  const auto second = bench.ask("second", {.deadline = bench.within(3s)});
  bench.pass(3s);
  ASSERT_TRUE(second->answer);
  EXPECT_EQ(second->answer->error().reason, FailureReason::timed_out);
  EXPECT_FALSE(first->answer);
  const auto late = bench.ask("late", {.deadline = bench.within(0s)});
  EXPECT_EQ(late->answer->error().reason, FailureReason::timed_out);
  EXPECT_EQ(bench.logs[0]->asked, 1);
  bench.pass(7s);
}

TEST(Fleet, AFailedQuestionIsAskedAgainElsewhere) {
  FleetBench bench(2, {});
  bench.logs[0]->script = failing(FailureReason::engine_failed);
  const auto asked = bench.ask("one");
  bench.pass(5s);
  ASSERT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ((*asked->answer)->engine, "engine 1");
  EXPECT_EQ((*asked->answer)->attempts, 2);
  EXPECT_EQ(bench.fleet->report().retries, 1U);
  EXPECT_EQ(bench.fleet->report().engines[0].last_failure, "engine failed");
}

TEST(Fleet, AttemptsHaveAnEnd) {
  FleetBench bench(1, {.attempts_max = 3, .failures_to_eject = 100});
  bench.logs[0]->script = failing(FailureReason::overloaded);
  const auto asked = bench.ask("one");
  bench.pass(60s);
  EXPECT_EQ(asked->answer->error().reason, FailureReason::overloaded);
  EXPECT_EQ(bench.logs[0]->asked, 3);
}

TEST(Fleet, WhatCannotGetBetterIsAskedOnce) {
  for (const auto reason : {FailureReason::bad_request, FailureReason::too_long, FailureReason::bad_image}) {
    FleetBench bench(2, {});
    for (const auto& log : bench.logs) log->script = failing(reason);
    const auto asked = bench.ask("one");
    EXPECT_EQ(asked->answer->error().reason, reason);
    EXPECT_EQ(bench.asked_in_all(), 1);
  }
}

TEST(Fleet, RetryAfterIsHonouredWithinTheDeadline) {
  FleetBench bench(1, {});
  Failure busy = failure_of(FailureReason::rate_limited);
  busy.retry_after = 7s;
  bench.logs[0]->script = failing_first(1, {.time = 0s, .failure = busy});
  const auto patient = bench.ask("patient", {.deadline = bench.within(60s)});
  bench.pass(6900ms);
  EXPECT_EQ(bench.logs[0]->asked, 1);
  bench.pass(100ms);
  EXPECT_EQ(bench.logs[0]->asked, 2);
  bench.pass(1s);
  EXPECT_TRUE(patient->answer->has_value());

  bench.logs[0]->script = always({.time = 0s, .failure = busy});
  const auto hurried = bench.ask("hurried", {.deadline = bench.within(5s)});
  ASSERT_TRUE(hurried->answer) << "a wait that cannot end in time is not begun";
  EXPECT_EQ(hurried->answer->error().reason, FailureReason::rate_limited);
}

TEST(Fleet, AReplyThatTheServerGaveUpOnIsAskedAgainAndTheListenerHearsOfTheNewStart) {
  FleetBench bench(1, {});
  bench.logs[0]->script =
      failing_first(1, {.time = 0s, .pieces = {"half ", "an answer"}, .finish = FinishReason::abort});
  std::string heard;
  int restarts = 0;
  CallOptions options;
  options.on_text = [&](std::string_view piece) {
    heard += piece;
    return true;
  };
  options.on_restart = [&] {
    restarts += 1;
    heard.clear();
  };
  const auto asked = bench.ask("one", options);
  bench.pass(10s);
  ASSERT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ((*asked->answer)->text, "answer to one");
  EXPECT_EQ(restarts, 1);
  EXPECT_EQ(heard, "");
  EXPECT_EQ(bench.fleet->report().engines[0].failed, 1U);
}

TEST(Fleet, AListenerThatHeardNothingIsNotRestarted) {
  FleetBench bench(1, {});
  bench.logs[0]->script = failing_first(1, {.time = 0s, .failure = failure_of(FailureReason::engine_failed)});
  int restarts = 0;
  CallOptions options;
  options.on_text = [](std::string_view) { return true; };
  options.on_restart = [&] { restarts += 1; };
  const auto asked = bench.ask("one", options);
  bench.pass(10s);
  EXPECT_TRUE(asked->answer->has_value());
  EXPECT_EQ(restarts, 0);
}

TEST(Fleet, TheRetryBudgetHoldsForAllQuestionsTogether) {
  FleetBench bench(1, {.parallel = 8, .attempts_max = 5, .failures_to_eject = 1000});
  bench.logs[0]->script = failing(FailureReason::engine_failed);
  const auto asked = bench.ask_many(200);
  bench.pass(600s);
  EXPECT_EQ(ended(asked), 200);
  EXPECT_LE(bench.logs[0]->asked, 240);
  EXPECT_GE(bench.logs[0]->asked, 230);
  EXPECT_GT(bench.fleet->report().retries_refused, 100U);
}

TEST(Fleet, ADeadServerIsHardlyCalledAndQuestionsFailAfterPatience) {
  FleetBench bench(1, {});
  bench.logs[0]->script = failing(FailureReason::unreachable);
  const auto asked = bench.ask_many(60);
  bench.pass(29s);
  EXPECT_TRUE(bench.fleet->report().engines[0].ejected);
  EXPECT_GE(bench.fleet->report().waiting, 50) << "it may come back";
  bench.pass(3s);
  EXPECT_EQ(ended(asked), 60);
  EXPECT_EQ(answered(asked), 0);
  EXPECT_LE(bench.logs[0]->asked, 60 * 1.2);
  for (const auto& a : asked) EXPECT_EQ(a->answer->error().reason, FailureReason::unreachable);

  const int before = bench.logs[0]->asked;
  const auto late = bench.ask("late");
  ASSERT_TRUE(late->answer) << "after patience they fail at once";
  EXPECT_EQ(late->answer->error().reason, FailureReason::unreachable);
  EXPECT_LE(bench.logs[0]->asked, before + 1);
}

TEST(Fleet, AnEngineThatComesBackGetsItsQuestions) {
  FleetBench bench(1, {.parallel_max = 64});
  auto dead = std::make_shared<bool>(false);
  bench.logs[0]->script = [dead](const Prompt&) {
    return *dead ? Behaviour{.time = 0s, .failure = failure_of(FailureReason::connection_lost)} : Behaviour{};
  };
  const auto asked = bench.ask_many(2000);
  bench.pass(15s);
  const int limit_before = bench.fleet->report().limit;
  EXPECT_GE(limit_before, 32);
  *dead = true;
  bench.pass(20s);
  EXPECT_TRUE(bench.fleet->report().engines[0].ejected);
  *dead = false;
  const int before = answered(asked);
  bench.pass(10s);
  EXPECT_FALSE(bench.fleet->report().engines[0].ejected);
  EXPECT_EQ(bench.fleet->report().limit, limit_before);
  EXPECT_GT(answered(asked), before);
  bench.pass(120s);
  EXPECT_EQ(answered(asked), 2000) << "what was in flight when it died was asked again";
}

TEST(Fleet, ProbesAreSmallTextQuestionsAtGrowingIntervals) {
  FleetBench bench(1, {.failures_to_eject = 2});
  bench.logs[0]->script = failing(FailureReason::unreachable);
  std::vector<TimePoint> probes;
  bench.logs[0]->script = [&](const Prompt& prompt) {
    if (prompt.parameters.tokens_max == 1) probes.push_back(bench.now());
    return Behaviour{.time = 0s, .failure = failure_of(FailureReason::unreachable)};
  };
  Prompt prompt;
  prompt.model = "a model";
  prompt.images.push_back({.bytes = std::make_shared<const std::vector<std::uint8_t>>(10)});
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(bench.loop, bench.fleet->invoke(prompt, {.deadline = bench.within(100s)}), asio::detached);
  }
  bench.pass(25s);
  ASSERT_GE(probes.size(), 6U);
  EXPECT_EQ(probes[1] - probes[0], 1s);
  EXPECT_EQ(probes[2] - probes[1], 2s);
  EXPECT_EQ(probes[3] - probes[2], 4s);
  EXPECT_EQ(probes[4] - probes[3], 5s);
  EXPECT_EQ(probes[5] - probes[4], 5s);
  EXPECT_TRUE(bench.logs[0]->prompts.back().images.empty());
  EXPECT_EQ(bench.logs[0]->prompts.back().model, "a model");
  bench.pass(10s);
}

TEST(Fleet, AWrongKeyFailsThoseWhoWaitAtOnce) {
  FleetBench bench(1, {.parallel = 1});
  bench.logs[0]->script = always({.time = 100ms, .failure = failure_of(FailureReason::unauthorized, "wrong key")});
  const auto asked = bench.ask_many(50);
  bench.pass(500ms);
  EXPECT_EQ(ended(asked), 50);
  EXPECT_EQ(bench.logs[0]->asked, 1);
  for (const auto& a : asked) EXPECT_EQ(a->answer->error().message, "wrong key");
}

TEST(Fleet, AModelThatLoadsIsWaitedForUntilTheDeadline) {
  FleetBench bench(1, {});
  auto loading = std::make_shared<bool>(true);
  bench.logs[0]->script = [loading](const Prompt&) {
    return *loading ? Behaviour{.time = 0s, .failure = failure_of(FailureReason::loading)} : Behaviour{};
  };
  const auto asked = bench.ask_many(20);
  const auto hurried = bench.ask("hurried", {.deadline = bench.within(60s)});
  bench.pass(200s);
  EXPECT_EQ(hurried->answer->error().reason, FailureReason::timed_out);
  EXPECT_NE(hurried->answer->error().message.find("loading"), std::string::npos);
  EXPECT_GE(bench.fleet->report().waiting, 15);
  *loading = false;
  bench.pass(20s);
  EXPECT_GE(answered(asked), 15);
}

TEST(Fleet, AnEjectedEngineLeavesItsWorkToTheOthers) {
  FleetBench bench(2, {});
  bench.logs[0]->script = failing(FailureReason::unreachable);
  const auto asked = bench.ask_many(100);
  bench.pass(60s);
  EXPECT_EQ(answered(asked), 100);
  EXPECT_TRUE(bench.fleet->report().engines[0].ejected);
  EXPECT_LE(bench.logs[0]->asked, 30);
}

TEST(Fleet, NobodyIsProbedWhileNobodyAsks) {
  FleetBench bench(1, {.attempts_max = 1});
  bench.logs[0]->script = failing(FailureReason::engine_failed);
  const auto asked = bench.ask_many(5);
  EXPECT_EQ(ended(asked), 5);
  EXPECT_TRUE(bench.fleet->report().engines[0].ejected);
  bench.pass(600s);
  EXPECT_EQ(bench.logs[0]->asked, 5);
  bench.logs[0]->script = always({});
  const auto refused = bench.ask("refused");
  EXPECT_FALSE(refused->answer->has_value()) << "patience was over, but a probe is on its way";
  bench.pass(1s);
  EXPECT_FALSE(bench.fleet->report().engines[0].ejected);
  const auto again = bench.ask("again");
  bench.pass(1s);
  EXPECT_TRUE(again->answer->has_value());
}

TEST(Fleet, DestroyingItEndsItsProbes) {
  FleetBench bench(1, {.attempts_max = 1});
  bench.logs[0]->script = [](const Prompt& prompt) {
    if (prompt.parameters.tokens_max == 1) return Behaviour{.time = 1h};
    return Behaviour{.time = 0s, .failure = failure_of(FailureReason::engine_failed)};
  };
  const auto asked = bench.ask_many(5);
  const auto waiting = bench.ask("waiting", {.deadline = bench.within(2s)});
  bench.pass(3s);
  EXPECT_TRUE(waiting->answer);
  EXPECT_EQ(bench.logs[0]->in_flight, 1) << "a probe hangs";
  bench.fleet.reset();
  bench.settle();
  EXPECT_EQ(bench.logs[0]->in_flight, 0);
  EXPECT_EQ(bench.logs[0]->cancelled, 1);
}

TEST(Fleet, TooMuchWorkLowersTheLimit) {
  FleetBench bench(1, {});
  bench.logs[0]->script = failing_first(1, {.time = 100ms, .failure = failure_of(FailureReason::overloaded)});
  const auto asked = bench.ask_many(4);
  EXPECT_EQ(bench.fleet->report().limit, 4);
  bench.pass(100ms);
  EXPECT_EQ(bench.fleet->report().limit, 2);
  bench.pass(20s);
  EXPECT_EQ(answered(asked), 4);
}

TEST(Fleet, AQuestionThatSpentItsTimeInOurQueueIsNotHeldAgainstTheEngine) {
  FleetBench bench(1, {.parallel = 1, .attempts_max = 1, .failures_to_eject = 1});
  bench.ask("first");
  bench.pass(1s);
  bench.ask("second");
  const auto third = bench.ask("third", {.deadline = bench.within(1500ms)});  // half a second of it for the engine
  bench.pass(2s);
  EXPECT_EQ(third->answer->error().reason, FailureReason::timed_out);
  EXPECT_FALSE(bench.fleet->report().engines[0].ejected);
}

// Answers at once, on the asker's loop; every seventh question is bad.
class PromptEngine final : public Provider {
 public:
  std::string name() const override { return "prompt"; }
  asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) override {
    return run(&in_flight_, &in_flight_max_, std::move(prompt), std::move(options));
  }
  int in_flight_max() const { return in_flight_max_; }

 private:
  static asio::awaitable<Answer> run(std::atomic<int>* in_flight, std::atomic<int>* in_flight_max, Prompt prompt,
                                     CallOptions options) {
    const int now = ++*in_flight;
    for (int seen = *in_flight_max; seen < now && !in_flight_max->compare_exchange_weak(seen, now);) {
    }
    co_await asio::post(asio::use_awaitable);
    --*in_flight;
    if (options.cancellation.requested()) co_return std::unexpected(failure_of(FailureReason::cancelled));
    if (prompt.user.size() % 7 == 0) co_return std::unexpected(failure_of(FailureReason::bad_image));
    Reply reply;
    reply.text = prompt.user;
    reply.finish = FinishReason::stop;
    co_return reply;
  }
  std::atomic<int> in_flight_{0};
  std::atomic<int> in_flight_max_{0};
};

TEST(Fleet, ManyThreadsMayAskAtOnce) {
  constexpr int threads = 4;
  constexpr int questions = 300;
  SystemTimers timers;
  SystemRandom random;
  auto engine = std::make_unique<PromptEngine>();
  const PromptEngine& watched = *engine;
  std::vector<std::unique_ptr<Provider>> engines;
  engines.push_back(std::move(engine));
  Fleet fleet(std::move(engines), {.parallel = 5}, {.timers = timers, .random = random});
  std::atomic<int> changes{0};
  fleet.on_change([&] { changes += fleet.report().in_flight >= 0 ? 1 : 0; });
  std::atomic<int> right{0};
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      asio::io_context loop;
      std::vector<Cancellation> cancellations(questions);
      for (int i = 0; i < questions; ++i) {
        const std::string user(static_cast<std::size_t>(1 + i % 20), 'x');
        const bool bad = user.size() % 7 == 0;
        const bool gone = i % 11 == 0;
        Prompt prompt;
        prompt.user = user;
        CallOptions options;
        options.cancellation = cancellations[static_cast<std::size_t>(i)];
        asio::co_spawn(loop, fleet.invoke(std::move(prompt), std::move(options)),
                       [&right, user, bad, gone](std::exception_ptr, Answer answer) {
                         const bool as_expected =
                             answer ? answer->text == user && !bad
                                    : bad || (gone && answer.error().reason == FailureReason::cancelled);
                         right += as_expected ? 1 : 0;
                       });
      }
      for (std::size_t i = 0; i < questions; i += 11) {
        asio::post(loop, [&cancellations, i] { cancellations[i].request(); });
      }
      loop.run();
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(right, threads * questions);
  EXPECT_LE(watched.in_flight_max(), 5);
  EXPECT_EQ(fleet.report().in_flight, 0);
  EXPECT_EQ(fleet.report().waiting, 0);
  EXPECT_GT(changes, 0);
}

class HedgedFleet : public testing::Test {
 protected:
  HedgedFleet() : bench_(2, {.parallel = 8, .hedge = true}) {
    const auto warm_up = bench_.ask_many(100);  // a second each: so that p95 is known, and five hedges are allowed
    bench_.pass(60s);
    EXPECT_EQ(answered(warm_up), 100);
    before_ = bench_.asked_in_all();
  }
  void script(Behaviour first, Behaviour second) {
    // Whoever is asked first is the slow one, whichever engine that is.
    auto count = std::make_shared<int>(0);
    for (const auto& log : bench_.logs) {
      log->script = [count, first, second](const Prompt&) { return (*count)++ == 0 ? first : second; };
    }
  }
  FleetBench bench_;
  int before_ = 0;
};

TEST_F(HedgedFleet, TheFirstAnswerWinsAndTheLoserIsCancelled) {
  script({.time = 100s}, {.time = 500ms});
  const auto asked = bench_.ask("slow");
  bench_.pass(900ms);
  EXPECT_EQ(bench_.asked_in_all() - before_, 1);
  bench_.pass(600ms);
  ASSERT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ((*asked->answer)->attempts, 2);
  EXPECT_EQ(bench_.asked_in_all() - before_, 2);
  EXPECT_EQ(bench_.logs[0]->cancelled + bench_.logs[1]->cancelled, 1);
  EXPECT_EQ(bench_.fleet->report().in_flight, 0);
  EXPECT_EQ(bench_.fleet->report().hedges, 1U);
}

TEST_F(HedgedFleet, OnlyOneAnswerIsHeard) {
  script({.time = 0s, .pieces = {"slow ", "and ", "late"}, .each = 1400ms},
         {.time = 0s, .pieces = {"quick ", "and ", "well"}, .each = 300ms});
  std::string heard;
  int restarts = 0;
  CallOptions options;
  options.on_text = [&](std::string_view piece) {
    heard += piece;
    return true;
  };
  options.on_restart = [&] { restarts += 1; };
  const auto asked = bench_.ask("slow", options);
  bench_.pass(10s);
  ASSERT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ(heard, (*asked->answer)->text);
  EXPECT_EQ(heard, "quick and well");
  EXPECT_EQ(restarts, 0);
  EXPECT_EQ(bench_.fleet->report().in_flight, 0);
}

TEST_F(HedgedFleet, AnAnswerThatHasBegunIsNotHedged) {
  script({.time = 0s, .pieces = {"a ", "long ", "answer"}, .each = 900ms}, {.time = 100ms});
  CallOptions options;
  options.on_text = [](std::string_view) { return true; };
  const auto asked = bench_.ask("slow", options);
  bench_.pass(10s);
  EXPECT_EQ((*asked->answer)->text, "a long answer");
  EXPECT_EQ(bench_.asked_in_all() - before_, 1);
}

TEST_F(HedgedFleet, AFailedHedgeDoesNotCostTheAnswer) {
  script({.time = 3s}, {.time = 0s, .failure = failure_of(FailureReason::engine_failed)});
  const auto asked = bench_.ask("slow");
  bench_.pass(4s);
  ASSERT_TRUE(asked->answer);
  EXPECT_TRUE(asked->answer->has_value());
}

TEST_F(HedgedFleet, CancellingEndsBoth) {
  script({.time = 100s}, {.time = 100s});
  Cancellation cancellation;
  const auto asked = bench_.ask("slow", {.cancellation = cancellation});
  bench_.pass(2s);
  EXPECT_EQ(bench_.logs[0]->in_flight + bench_.logs[1]->in_flight, 2);
  cancellation.request();
  bench_.settle();
  EXPECT_EQ(asked->answer->error().reason, FailureReason::cancelled);
  EXPECT_EQ(bench_.logs[0]->cancelled + bench_.logs[1]->cancelled, 2);
  EXPECT_EQ(bench_.fleet->report().in_flight, 0);
}

TEST_F(HedgedFleet, AHedgeWaitsForAPlaceAndComesFirst) {
  script({.time = 100s}, {.time = 900ms});
  const auto slow = bench_.ask("slow");
  const auto busy = bench_.ask_many(20);  // when the slow one's time has come there is no room anywhere
  bench_.pass(1700ms);
  EXPECT_EQ(bench_.asked_in_all() - before_, 1 + 7 + 7);
  EXPECT_EQ(bench_.fleet->report().waiting, 6) << "the hedge is not one more question";
  EXPECT_EQ(bench_.fleet->report().hedges, 0U);
  bench_.pass(200ms);
  EXPECT_EQ(bench_.fleet->report().hedges, 1U) << "the first free place is its own";
  bench_.pass(900ms);
  ASSERT_TRUE(slow->answer && *slow->answer);
  EXPECT_EQ((*slow->answer)->attempts, 2);
  bench_.pass(30s);
  EXPECT_EQ(answered(busy), 20);
  EXPECT_EQ(bench_.fleet->report().in_flight, 0);
}

TEST_F(HedgedFleet, HedgesStayWithinTheirShare) {
  auto time = std::make_shared<std::chrono::nanoseconds>(1s);
  for (const auto& log : bench_.logs) {
    log->script = [time](const Prompt&) { return Behaviour{.time = *time += 100ms}; };  // each slower than all before
  }
  for (int i = 0; i < 100; ++i) {
    const auto asked = bench_.ask("slower");
    bench_.pass(60s);
    EXPECT_TRUE(asked->answer->has_value());
  }
  EXPECT_EQ(bench_.fleet->report().hedges, 10U);  // of 200 questions
  EXPECT_EQ(bench_.asked_in_all() - before_, 110);
}

TEST(Fleet, HedgingIsOffByDefault) {
  FleetBench bench(2, {.parallel = 8});
  bench.ask_many(100);
  bench.pass(60s);
  const int before = bench.asked_in_all();
  for (const auto& log : bench.logs) log->script = always({.time = 20s});
  bench.ask("slow");
  bench.pass(100s);
  EXPECT_EQ(bench.asked_in_all(), before + 1);
}

LoadAnswer slots(int count, int busy) {
  return {.figures = LoadFigures{.slots = count, .running = busy, .waiting = std::nullopt}};
}
LoadAnswer gauges(int running, int waiting) {
  return {.figures = LoadFigures{.slots = std::nullopt, .running = running, .waiting = waiting}};
}
void look(FleetBench& bench) {
  asio::co_spawn(bench.loop, bench.fleet->look_at_load({}), asio::detached);
  bench.settle();
}

TEST(FleetLoad, AnEngineWithOneSlotNeverGetsTwoQuestions) {
  FleetBench bench(1, {}, [] { return slots(1, 0); });
  look(bench);
  EXPECT_EQ(bench.fleet->report().limit, 1);
  const auto asked = bench.ask_many(60);
  bench.pass(100s);
  EXPECT_EQ(answered(asked), 60);
  EXPECT_EQ(bench.logs[0]->in_flight_max, 1);
}

TEST(FleetLoad, IsAskedForEveryTwoSecondsWhileAnybodyAsks) {
  FleetBench bench(2, {.parallel = 1}, [] { return gauges(0, 0); });
  bench.pass(100s);
  EXPECT_EQ(bench.logs[0]->looks, 0);
  bench.logs[0]->script = always({.time = 9s});
  const auto asked = bench.ask("long");
  bench.pass(9s);
  EXPECT_TRUE(asked->answer);
  EXPECT_EQ(bench.logs[0]->looks, 5) << "at 0, 2, 4, 6 and 8 s";
  EXPECT_EQ(bench.logs[1]->looks, 5) << "others may have filled it meanwhile";
  bench.pass(100s);
  EXPECT_EQ(bench.logs[0]->looks, 5);
  EXPECT_EQ(bench.timers.waiting(), 0);
  bench.ask("again");
  EXPECT_EQ(bench.logs[0]->looks, 6);
  bench.pass(9s);
}

TEST(FleetLoad, WhoeverDoesNotTellIsAskedOnce) {
  FleetBench bench(1, {}, [] { return LoadAnswer{.figures = std::nullopt, .ask_again = false}; });
  bench.logs[0]->script = always({.time = 60s});
  bench.ask("long");
  bench.pass(60s);
  bench.ask("long");
  bench.pass(60s);
  EXPECT_EQ(bench.logs[0]->looks, 1);
  EXPECT_EQ(bench.fleet->report().limit, 4);
}

TEST(FleetLoad, WhatOthersAskOfAnEngineCounts) {
  FleetBench bench(2, {.parallel = 4}, [] { return gauges(0, 0); });
  bench.logs[0]->load = [] { return gauges(20, 4); };
  look(bench);
  EXPECT_EQ(bench.fleet->report().engines[0].others, 24);
  bench.ask_many(12);
  bench.pass(1s);
  EXPECT_EQ(bench.logs[0]->asked, 0) << "the other one has nobody else";
  bench.logs[0]->load = [] { return gauges(0, 0); };
  bench.pass(3s);
  bench.ask_many(20);
  bench.pass(10s);
  EXPECT_GT(bench.logs[0]->asked, 5) << "they have left";
}

TEST(FleetLoad, NobodyPushesIntoAQueueOfOthers) {
  // Room for many, but another client's requests wait there all the time.
  FleetBench bench(1, {}, [] { return gauges(40, 5); });
  look(bench);
  const auto asked = bench.ask_many(400);
  bench.pass(30s);
  EXPECT_EQ(bench.fleet->report().limit, 4);
  bench.logs[0]->load = [&bench] { return gauges(bench.logs[0]->in_flight, 0); };
  bench.pass(300s);
  EXPECT_EQ(answered(asked), 400);
  EXPECT_GT(bench.fleet->report().limit, 8) << "they have left";
}

TEST(FleetLoad, OurOwnQueueDoesNotHoldUsBack) {
  FleetBench bench(1, {}, [] { return gauges(0, 0); });
  bench.logs[0]->load = [&bench] { return gauges(1, bench.logs[0]->in_flight - 1); };
  bench.ask_many(400);
  bench.pass(60s);
  EXPECT_GT(bench.fleet->report().limit, 8) << "throughput decides, not the gauge";
}

}  // namespace
}  // namespace lectern::provider
