// A fleet whose engines are full, asleep, closed to us or only seem well.
#include <gtest/gtest.h>

#include "fake_engine.h"

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

// Refuses everything until `until`, at once.
std::function<Behaviour(const Prompt&)> full_until(const FleetBench& bench, TimePoint until, Failure failure) {
  return [&bench, until, failure](const Prompt&) {
    return bench.now() < until ? Behaviour{.time = 1ms, .failure = failure} : Behaviour{};
  };
}

TEST(FleetTrouble, AWaveOf429IsWaitedOutByAll) {
  for (const int parallel : {0, 8, 32}) {
    SCOPED_TRACE(parallel);
    FleetBench bench(1, {.parallel = parallel});
    Failure busy = failure_of(FailureReason::rate_limited);
    busy.retry_after = 20s;
    bench.logs[0]->script = full_until(bench, bench.now() + 20s, busy);
    std::vector<std::shared_ptr<FleetBench::Asked>> asked;
    for (int i = 0; i < 200; ++i) asked.push_back(bench.ask("page", {.deadline = bench.within(300s)}));
    bench.pass(19s);
    EXPECT_EQ(ended(asked), 0);
    EXPECT_LE(bench.logs[0]->asked, std::max(4, parallel)) << "those that were in flight";
    bench.pass(280s);
    EXPECT_EQ(answered(asked), 200);
  }
}

TEST(FleetTrouble, AFullQueueWithoutRetryAfterCostsNoPage) {
  for (const int parallel : {0, 8, 32}) {
    SCOPED_TRACE(parallel);
    FleetBench bench(1, {.parallel = parallel});
    bench.logs[0]->script = full_until(bench, bench.now() + 10s, failure_of(FailureReason::overloaded));
    const auto asked = bench.ask_many(200);
    bench.pass(400s);
    EXPECT_EQ(answered(asked), 200) << "after the first wave one at a time finds out whether there is room";
  }
}

TEST(FleetTrouble, AServerThatRefusesForEverIsWaitedForOnlySoLong) {
  for (const int parallel : {0, 8, 32}) {
    SCOPED_TRACE(parallel);
    FleetBench bench(1, {.parallel = parallel});
    bench.logs[0]->script = always({.time = 1ms, .failure = failure_of(FailureReason::overloaded)});
    const auto asked = bench.ask_many(200);
    bench.pass(45s);  // patience, and the pause that it ends in
    EXPECT_EQ(ended(asked), 200);
    EXPECT_EQ(answered(asked), 0);
    EXPECT_LE(bench.logs[0]->asked, 1.2 * 200);
    const auto later = bench.ask_many(10);
    bench.pass(25s);
    EXPECT_EQ(ended(later), 10);
  }
}

TEST(FleetTrouble, AnEngineThatIsFullLeavesItsQuestionsToTheOthersAtOnce) {
  FleetBench bench(2, {});
  Failure busy = failure_of(FailureReason::rate_limited);
  busy.retry_after = 200s;
  bench.logs[0]->script = always({.time = 0s, .failure = busy});
  const auto asked = bench.ask_many(60);
  bench.pass(2s);
  EXPECT_GE(answered(asked), 4) << "nobody waits for what the first engine asked for";
  bench.pass(28s);
  EXPECT_EQ(answered(asked), 60);
  EXPECT_LE(bench.logs[0]->asked, 4);
  EXPECT_EQ(bench.logs[1]->asked, 60);
}

TEST(FleetTrouble, APauseThatOutlastsTheDeadlineIsNotWaitedFor) {
  FleetBench bench(1, {.parallel = 1});
  Failure busy = failure_of(FailureReason::rate_limited, "come back tomorrow");
  busy.retry_after = 24h;
  bench.logs[0]->script = always({.time = 0s, .failure = busy});
  bench.ask("first", {.deadline = bench.within(60s)});
  const auto second = bench.ask("second", {.deadline = bench.within(60s)});
  ASSERT_TRUE(second->answer);
  EXPECT_EQ(second->answer->error().message, "come back tomorrow");
  EXPECT_EQ(bench.logs[0]->asked, 1);
}

TEST(FleetTrouble, APauseEndsAlsoWhenNobodyAskedMeanwhile) {
  FleetBench bench(1, {.attempts_max = 1});
  Failure busy = failure_of(FailureReason::overloaded);
  busy.retry_after = 20s;
  bench.logs[0]->script = failing_first(1, {.time = 0s, .failure = busy});
  const auto first = bench.ask("first");
  EXPECT_FALSE(first->answer->has_value());
  bench.pass(5s);
  const auto second = bench.ask("second");
  bench.pass(10s);
  EXPECT_EQ(bench.logs[0]->asked, 1);
  bench.pass(6s);
  EXPECT_EQ(bench.logs[0]->asked, 2);
  EXPECT_TRUE(second->answer->has_value());
}

TEST(FleetTrouble, OneEngineWithAWrongKeyLeavesTheOthersTheirWork) {
  for (const auto reason : {FailureReason::unauthorized, FailureReason::unknown_model, FailureReason::quota}) {
    SCOPED_TRACE(to_string(reason));
    FleetBench bench(2, {.attempts_max = 1});
    bench.logs[0]->script = failing(reason);
    const auto asked = bench.ask_many(50);
    bench.pass(60s);
    EXPECT_EQ(answered(asked), 50);
    EXPECT_TRUE(bench.fleet->report().engines[0].ejected);
  }
}

TEST(FleetTrouble, WhenAllKeysAreWrongEachEngineIsAskedOnce) {
  FleetBench bench(2, {.parallel = 1});
  for (const auto& log : bench.logs) log->script = failing(FailureReason::unauthorized);
  const auto asked = bench.ask_many(10);
  EXPECT_EQ(ended(asked), 10);
  EXPECT_EQ(bench.asked_in_all(), 2);
  for (const auto& a : asked) EXPECT_EQ(a->answer->error().reason, FailureReason::unauthorized);
}

// Nobody listens there until `until`.
std::function<Behaviour(const Prompt&)> away_until(const FleetBench& bench, TimePoint until) {
  return [&bench, until](const Prompt&) {
    return bench.now() < until ? Behaviour{.time = 0s, .failure = failure_of(FailureReason::unreachable)} : Behaviour{};
  };
}

TEST(FleetTrouble, WhereNobodyListensTheFirstPagesWaitAsLongAsAll) {
  for (const int pages : {1, 3, 12, 100}) {
    for (const int attempts : {1, 2}) {
      SCOPED_TRACE(fmt::format("{} pages, {} attempts", pages, attempts));
      FleetBench bench(1, {.attempts_max = attempts});
      bench.logs[0]->script = failing(FailureReason::unreachable);
      const auto asked = bench.ask_many(pages);
      bench.pass(29s);
      EXPECT_EQ(ended(asked), 0);
      bench.pass(2s);
      EXPECT_EQ(ended(asked), pages);
      for (const auto& a : asked) EXPECT_EQ(a->answer->error().reason, FailureReason::unreachable);
      const int probes = 9;
      EXPECT_LE(bench.logs[0]->asked, std::min(pages, 4) + probes) << "those that were in flight, and probes";
    }
  }
}

TEST(FleetTrouble, AnEngineThatStartsWithinPatienceReadsEveryPage) {
  for (const int pages : {1, 3, 100}) {
    SCOPED_TRACE(pages);
    FleetBench bench(1, {.attempts_max = 1});
    bench.logs[0]->script = away_until(bench, bench.now() + 20s);
    const auto asked = bench.ask_many(pages);
    bench.pass(100s);
    EXPECT_EQ(answered(asked), pages);
    EXPECT_LE(bench.logs[0]->asked, pages + 4 + 8) << "those that were in flight when it was found away, and probes";
  }
}

TEST(FleetTrouble, WithoutPatiencePagesFailAtOnce) {
  FleetBench bench(1, {.patience = 0ms});
  bench.logs[0]->script = failing(FailureReason::unreachable);
  const auto asked = bench.ask_many(10);
  bench.pass(500ms);
  EXPECT_EQ(ended(asked), 10);
}

TEST(FleetTrouble, AProxyWithoutItsEngineCostsAttempts) {
  FleetBench bench(1, {.attempts_max = 3});
  Failure of_proxy = failure_of(FailureReason::unreachable, "502");
  of_proxy.http_status = 502;
  bench.logs[0]->script = always({.time = 0s, .failure = of_proxy});
  const auto asked = bench.ask("page");
  bench.pass(10s);
  ASSERT_TRUE(asked->answer) << "it may be this page that its engine dies of";
  EXPECT_EQ(bench.logs[0]->asked, 3);
}

TEST(FleetTrouble, AServerThatLeavesAndAnswersWhatItHasIsNotAskedMeanwhile) {
  FleetBench bench(1, {.parallel = 16});
  const TimePoint closed = bench.now() + 500ms;
  int refused = 0;
  bench.logs[0]->script = [&, asked = std::make_shared<int>(0)](const Prompt&) {
    if (bench.now() >= closed + 20s) return Behaviour{};
    if (bench.now() < closed) return Behaviour{.time = 1s + (*asked)++ * 100ms};
    refused += 1;
    return Behaviour{.time = 0s, .failure = failure_of(FailureReason::unreachable)};
  };
  const auto asked = bench.ask_many(100);
  bench.pass(10s);
  EXPECT_EQ(answered(asked), 16) << "what it had";
  EXPECT_LE(refused, 1 + 5) << "one that found the door closed, and probes";
  bench.pass(60s);
  EXPECT_EQ(answered(asked), 100);
}

TEST(FleetTrouble, AnEngineThatIsThereOnlyForProbesStaysWithinTheRetryBudget) {
  FleetBench bench(1, {});
  int probes = 0;
  bench.logs[0]->script = [&probes](const Prompt& prompt) {
    if (prompt.parameters.tokens_max != 1)
      return Behaviour{.time = 0s, .failure = failure_of(FailureReason::unreachable)};
    probes += 1;
    return Behaviour{.time = 100ms};
  };
  const auto asked = bench.ask_many(300);
  bench.pass(900s);
  EXPECT_EQ(ended(asked), 300);
  EXPECT_GT(probes, 20);
  EXPECT_LE(bench.logs[0]->asked - probes, 365) << "a fifth more, and what was in flight the first time";
}

TEST(FleetTrouble, AnEngineThatOnlyAnswersProbesStaysWithinTheRetryBudget) {
  FleetBench bench(1, {});
  int probes = 0;
  bench.logs[0]->script = [&probes](const Prompt& prompt) {
    if (prompt.parameters.tokens_max != 1)
      return Behaviour{.time = 0s, .failure = failure_of(FailureReason::engine_failed)};
    probes += 1;
    return Behaviour{.time = 100ms};
  };
  const auto asked = bench.ask_many(300);
  bench.pass(600s);
  EXPECT_EQ(ended(asked), 300);
  EXPECT_GT(probes, 20);
  EXPECT_LE(bench.logs[0]->asked - probes, 365) << "a fifth more, and what was in flight the first time";
}

TEST(FleetTrouble, AnEngineThatFallsAsleepLosesItsQuestionsToTheOthers) {
  FleetBench bench(2, {.parallel = 8});
  bench.ask_many(20);
  bench.pass(60s);
  bench.logs[0]->script = always({.time = 1000h});
  std::vector<std::shared_ptr<FleetBench::Asked>> asked;
  for (int i = 0; i < 40; ++i) asked.push_back(bench.ask("page", {.deadline = bench.within(300s)}));
  bench.pass(29s);
  EXPECT_EQ(bench.logs[0]->cancelled, 0);
  bench.pass(20s);
  EXPECT_EQ(answered(asked), 40);
  EXPECT_GT(bench.logs[0]->cancelled, 0);
  EXPECT_NE(bench.fleet->report().engines[0].last_failure.find("engine 0 took a request"), std::string::npos);
}

TEST(FleetTrouble, AnEngineThatWasAsleepFromTheStartLeavesTimeToAskAnother) {
  FleetBench bench(2, {});
  bench.logs[0]->script = always({.time = 1000h});
  std::vector<std::shared_ptr<FleetBench::Asked>> asked;
  for (int i = 0; i < 40; ++i) asked.push_back(bench.ask("page", {.deadline = bench.within(300s)}));
  bench.pass(100s);
  EXPECT_EQ(bench.logs[0]->cancelled, 0) << "it may be loading its model";
  bench.pass(100s);
  EXPECT_EQ(answered(asked), 40);
}

TEST(FleetTrouble, TheFirstAnswerOfTheOnlyEngineMayTakeItsTime) {
  FleetBench bench(1, {});
  bench.logs[0]->script = always({.time = 290s});
  const auto asked = bench.ask("page", {.deadline = bench.within(300s)});
  bench.pass(300s);
  EXPECT_TRUE(asked->answer->has_value());
  EXPECT_EQ(bench.logs[0]->asked, 1);
}

TEST(FleetTrouble, AQuestionThatQueuesWhereOthersAreAnsweredIsLeftThere) {
  FleetBench bench(2, {.parallel = 32});
  bench.ask_many(40);
  bench.pass(60s);
  // One place each: the last of sixteen waits for 128 s.
  for (const auto& log : bench.logs) {
    auto free_at = std::make_shared<TimePoint>();
    log->script = [&bench, free_at](const Prompt&) {
      *free_at = std::max(*free_at, bench.now()) + 8s;
      return Behaviour{.time = *free_at - bench.now()};
    };
  }
  const int before = bench.asked_in_all();
  const auto asked = bench.ask_many(32);
  bench.pass(200s);
  EXPECT_EQ(answered(asked), 32);
  EXPECT_EQ(bench.asked_in_all() - before, 32);
}

TEST(FleetTrouble, AnAnswerThatGoesOnSlowlyIsNotSilence) {
  FleetBench bench(2, {});
  bench.ask_many(8);
  bench.pass(60s);
  const int before = bench.asked_in_all();
  for (const auto& log : bench.logs) log->script = always({.time = 0s, .pieces = {"a", "b", "c", "d"}, .each = 25s});
  const auto asked = bench.ask("page");  // nobody listens to the text: thinking looks the same
  bench.pass(110s);
  EXPECT_TRUE(asked->answer && *asked->answer);
  EXPECT_EQ(bench.asked_in_all() - before, 1);
}

TEST(FleetTrouble, AnswersThatDoNotTellWhatTheyCostAreEstimated) {
  FleetBench bench(1, {.attempts_max = 1});
  bench.logs[0]->script = always({.time = 0s, .pieces = {"twelve bytes", "twelve bytes"}});
  CallOptions options;
  options.on_text = [](std::string_view) { return false; };  // as for a loop
  const auto cut = bench.ask("eight by", options);
  bench.pass(1s);
  ASSERT_TRUE(cut->answer && *cut->answer);
  EXPECT_EQ((*cut->answer)->usage, (Usage{.prompt_tokens = 2, .completion_tokens = 3, .estimated = true}));
  EXPECT_EQ(bench.fleet->report().prompt_tokens, 2U);
  EXPECT_EQ(bench.fleet->report().completion_tokens, 3U);

  Failure lost = failure_of(FailureReason::connection_lost);
  lost.partial_text = "sixteen bytes...";
  lost.reasoning_bytes = 400;
  bench.logs[0]->script = always({.time = 0s, .failure = lost});
  bench.ask("eight by");
  bench.pass(1s);
  EXPECT_EQ(bench.fleet->report().prompt_tokens, 4U);
  EXPECT_EQ(bench.fleet->report().completion_tokens, 3U + 104U);

  bench.logs[0]->script = failing(FailureReason::connection_lost);
  bench.ask("eight by");
  bench.pass(1s);
  EXPECT_EQ(bench.fleet->report().prompt_tokens, 4U) << "nothing came: nobody knows";
}

}  // namespace
}  // namespace lectern::provider
