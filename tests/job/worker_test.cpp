#include "job/worker.h"

#include <gmock/gmock.h>

#include "job/worker_bench.h"

namespace lectern::job {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TEST_F(WorkerTest, DoesAJobFromSplitToAssembleWithoutWaiting) {
  const auto& one = start();
  submit("a");
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_THAT(handler.begun, ElementsAre("split", "page 1", "page 2", "page 3", "assemble"));
  EXPECT_EQ(database.tables.jobs.at("a").job.pages, (Counts{.ok = 3}));
  EXPECT_EQ(one.worker->figures().committed, 5);
  EXPECT_EQ(one.worker->figures().in_hand, 0);
}

TEST_F(WorkerTest, NeverHoldsMoreThanItHasRoomFor) {
  handler.pages = 10;
  const auto& one = start(3);
  submit("a");
  handler.at_once = false;
  submit("b");
  EXPECT_EQ(handler.working, 1);
  handler.end("split");
  settle();
  EXPECT_EQ(handler.working, 3);
  EXPECT_EQ(one.worker->figures().in_hand, 3);
  handler.end("page 2");
  settle();
  EXPECT_EQ(handler.working, 3);
  EXPECT_EQ(handler.begun.back(), "page 4");
  EXPECT_EQ(handler.working_most, 3);
}

TEST_F(WorkerTest, FinishedTasksAreCommittedTogether) {
  handler.pages = 8;
  handler.at_once = false;
  start(8);
  submit("a");
  handler.end("split");
  settle();
  ASSERT_EQ(handler.working, 8);
  const int before = database.writes;
  for (int page = 1; page <= 7; ++page) handler.end("page " + std::to_string(page));
  settle();
  EXPECT_EQ(database.tables.jobs.at("a").job.pages.ok, 7);
  // The first outcome may go alone; those that end meanwhile go together. Claims write, too.
  EXPECT_LE(database.writes - before, 7) << "not a transaction for each";
}

TEST_F(WorkerTest, LeasesAreRenewedAllAtOnceAndOutliveTheirTime) {
  handler.pages = 5;
  handler.at_once = false;
  start(5);
  submit("a");
  handler.end("split");
  settle();
  pass(1min);
  EXPECT_EQ(handler.working, 5);
  EXPECT_THAT(handler.cancelled, IsEmpty());
  EXPECT_EQ(task("page 3").token, 1) << "still the first lease";
  EXPECT_GT(task("page 3").lease_until, 0);
  for (int page = 1; page <= 5; ++page) handler.end("page " + std::to_string(page));
  settle();
  handler.end("assemble");
  settle();
  EXPECT_EQ(phase("a"), Phase::succeeded);
}

TEST_F(WorkerTest, ACancelledJobStopsWorkInHand) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  handler.end("split");
  settle();
  ASSERT_EQ(handler.working, 3);
  ASSERT_TRUE(call(store.cancel("a", "not wanted any more")));
  pass(4s);
  EXPECT_EQ(handler.working, 0);
  EXPECT_THAT(handler.cancelled, UnorderedElementsAre("page 1", "page 2", "page 3"));
  EXPECT_THAT(handler.refusals, UnorderedElementsAre("page 1", "page 2", "page 3")) << "what they wrote is removed";
  EXPECT_EQ(one.worker->figures().in_hand, 0);
  EXPECT_EQ(one.worker->figures().lost, 3);
}

TEST_F(WorkerTest, ACommitOfACancelledJobIsRefusedAndTold) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  handler.end("split");
  settle();
  ASSERT_TRUE(call(store.cancel("a", "not wanted any more")));
  handler.end("page 2");
  settle();
  EXPECT_THAT(handler.refusals, ElementsAre("page 2"));
  EXPECT_EQ(one.worker->figures().cancelled, 1);
}

TEST_F(WorkerTest, TasksOfADeadWorkerAreDoneByAnother) {
  submit("a");
  ASSERT_EQ(call(store.claim({.worker = "dead", .kinds = {StepKind::split}, .room = 1}))->size(), 1U);
  start();
  pass(9s);
  EXPECT_THAT(handler.begun, IsEmpty());
  pass(3s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
}

TEST_F(WorkerTest, AWorkerThatWasTakenForDeadIsRefused) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  ASSERT_EQ(handler.working, 1);
  // As if it had been stopped (SIGSTOP) for longer than its lease: somebody else swept and took the task.
  task("split").token += 2;
  task("split").worker = "other";
  handler.end("split");
  settle();
  EXPECT_EQ(one.worker->figures().late, 1);
  EXPECT_THAT(handler.refusals, ElementsAre("split"));
  EXPECT_EQ(one.worker->figures().in_hand, 0);
}

TEST_F(WorkerTest, ALostAnswerToACommitIsNotAFailure) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  database.lost_answers = 1;
  handler.at_once = true;
  handler.end("split");
  settle();
  EXPECT_EQ(task("split").state, TaskState::done);
  EXPECT_EQ(one.worker->figures().committed, 0) << "it does not know yet";
  pass(1s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_EQ(one.worker->figures().committed, 5);
  EXPECT_EQ(one.worker->figures().late, 0);
  EXPECT_THAT(handler.refusals, IsEmpty());
}

// The leases were there, and nobody knew: their end would have been counted as a death each time.
TEST_F(WorkerTest, ALostAnswerToAClaimCostsThePageNothing) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  for (int cut = 1; cut <= 3; ++cut) {
    database.lost_answers = 2;  // of the commit, whose last try is answered; then of the claim
    handler.end(cut == 1 ? "split" : "page " + std::to_string(cut - 1));
    pass(5s);
  }
  for (const char* page : {"page 1", "page 2", "page 3"}) {
    EXPECT_EQ(task(page).token, 1) << page << " is still in its first lease";
    EXPECT_EQ(task(page).losses, 0);
    EXPECT_EQ(std::ranges::count(handler.begun, page), 1);
  }
  pass(1min);
  handler.at_once = true;
  handler.end("page 3");
  settle();
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_EQ(one.worker->figures().late + one.worker->figures().lost, 0);
}

TEST_F(WorkerTest, WhatAWorkerTookUpAfterALostAnswerIsRenewedAndCountsAgainstItsRoom) {
  handler.at_once = false;
  handler.pages = 6;
  const auto& one = start(2);
  submit("a");
  bool cut = false;
  database.before_write = [this, &cut](Ledger&) -> Status {
    // From the claim that follows the split on.
    const bool claimed = std::ranges::any_of(database.tables.tasks, [](const auto& entry) {
      return entry.second.kind == StepKind::read && entry.second.state == TaskState::leased;
    });
    if (claimed && !cut) database.lost_answers = 3;
    cut = cut || claimed;
    return {};
  };
  handler.end("split");
  settle();
  EXPECT_EQ(handler.working, 0) << "two pages are leased, and nobody works on them";
  pass(1s);
  EXPECT_EQ(handler.working, 2);
  EXPECT_EQ(one.worker->figures().in_hand, 2);
  pass(1min);
  EXPECT_THAT(handler.begun, ElementsAre("split", "page 1", "page 2"));
  EXPECT_EQ(task("page 1").token, 1);
}

TEST_F(WorkerTest, AnOutageOfTheStoreLosesNothing) {
  handler.at_once = false;
  const auto& one = start();
  submit("a");
  handler.end("split");
  settle();
  ASSERT_EQ(handler.working, 3);
  database.away = true;
  handler.end("page 1");
  pass(2min);  // leases have long run out
  EXPECT_EQ(handler.working, 2) << "work goes on";
  EXPECT_LT(database.refused, 700) << "but the store is not hammered";
  database.away = false;
  pass(20s);
  EXPECT_EQ(database.tables.jobs.at("a").job.pages.ok, 1);
  EXPECT_EQ(task("page 2").token, 1) << "the lease was taken up again before anybody swept";
  handler.at_once = true;
  handler.end("page 2");
  handler.end("page 3");
  settle();
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_EQ(one.worker->figures().late + one.worker->figures().lost, 0);
}

TEST_F(WorkerTest, WorkIsFoundAgainAfterAnOutage) {
  start();
  database.away = true;
  pass(1min);
  database.away = false;
  submit("a");
  pass(3s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
}

TEST_F(WorkerTest, ALostRingCostsAFewSecondsAtMost) {
  start();
  Database::Listener listener = std::exchange(database.listener, {});
  submit("a");
  EXPECT_THAT(handler.begun, IsEmpty());
  database.listener = std::move(listener);
  pass(6s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
}

TEST_F(WorkerTest, ATaskThatSaysAgainIsDoneAgainWhenItsMomentComes) {
  handler.outcomes["page 2"] = {.ending = Ending::again, .error = "the engine is away"};
  start();
  submit("a");
  EXPECT_EQ(phase("a"), Phase::running);
  handler.outcomes.clear();
  pass(900ms);
  EXPECT_EQ(phase("a"), Phase::running);
  pass(6s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_EQ(std::ranges::count(handler.begun, "page 2"), 2);
}

TEST_F(WorkerTest, AHandlerThatThrowsCostsItsTaskOnly) {
  handler.throws = true;
  start();
  submit("a");
  EXPECT_EQ(phase("a"), Phase::running);
  EXPECT_EQ(task("split").error, "internal error: a bug");
  handler.throws = false;
  pass(10s);
  EXPECT_EQ(phase("a"), Phase::succeeded);
}

TEST_F(WorkerTest, AnOutcomeThatCannotBeStoredDoesNotHoldUpTheOthers) {
  handler.at_once = false;
  start();
  submit("a");
  handler.end("split");
  settle();
  database.before_write = [](Ledger& ledger) -> Status {
    const auto tasks = ledger.job_tasks("a", StepKind::read, 0, 10);
    for (const Task& one : *tasks) {
      if (one.number == 2 && one.state == TaskState::done) return fail(ErrorKind::internal, "not UTF-8");
    }
    return {};
  };
  handler.at_once = true;
  for (int page = 1; page <= 3; ++page) handler.end("page " + std::to_string(page));
  settle();
  EXPECT_EQ(phase("a"), Phase::succeeded);
  EXPECT_EQ(database.tables.jobs.at("a").job.pages, (Counts{.ok = 2, .failed = 1}));
  EXPECT_EQ(task("page 2").error, "its result could not be stored: not UTF-8");
}

TEST_F(WorkerTest, OneSuspectAtATime) {
  handler.at_once = false;
  handler.pages = 2;
  start(4);
  submit("a");
  handler.end("split");
  // Both pages are suspects before the worker looks.
  database.before_write = [this](Ledger&) -> Status {
    for (auto& [id, task] : database.tables.tasks) task.alone = task.kind == StepKind::read;
    return {};
  };
  settle();
  EXPECT_THAT(handler.begun, ElementsAre("split", "page 1"));
  database.before_write = {};
  handler.end("page 1");
  settle();
  EXPECT_THAT(handler.begun, ElementsAre("split", "page 1", "page 2")) << "without waiting for anything else";
}

TEST_F(WorkerTest, AStoppedWorkerFinishesWhatItHasAndTakesNothingNew) {
  handler.at_once = false;
  auto& one = start();
  submit("a");
  one.stop.request();
  settle();
  EXPECT_FALSE(one.ended);
  pass(10s);
  handler.end("split");
  settle();
  EXPECT_TRUE(one.ended);
  EXPECT_THAT(handler.begun, ElementsAre("split"));
  EXPECT_EQ(task("page 1").state, TaskState::ready) << "the commit opened the next step for others";
}

TEST_F(WorkerTest, WhatIsNotDoneWithinTheGraceIsGivenBackAtOnce) {
  handler.at_once = false;
  auto& one = start(4, 5s);
  submit("a");
  handler.end("split");
  settle();
  one.stop.request();
  pass(4s);
  EXPECT_THAT(handler.cancelled, IsEmpty());
  handler.end("page 2");
  pass(2s);
  EXPECT_TRUE(one.ended);
  EXPECT_THAT(handler.cancelled, UnorderedElementsAre("page 1", "page 3"));
  EXPECT_EQ(task("page 1").state, TaskState::ready);
  EXPECT_EQ(task("page 1").attempts, 0) << "a deploy is not a failure";
  EXPECT_EQ(task("page 2").state, TaskState::done);
  handler.at_once = true;
  start();
  EXPECT_EQ(phase("a"), Phase::succeeded) << "another worker need not wait for any lease";
}

TEST_F(WorkerTest, AHandlerThatDoesNotListenCannotKeepItsTask) {
  handler.at_once = false;
  handler.deaf = true;
  auto& one = start(4, 5s);
  submit("a");
  one.stop.request();
  pass(6s);
  EXPECT_FALSE(one.ended) << "its handler still runs";
  EXPECT_EQ(task("split").state, TaskState::ready) << "but others can have the task";
  handler.end("split");
  settle();
  EXPECT_TRUE(one.ended);
  EXPECT_THAT(handler.refusals, ElementsAre("split"));
}

TEST_F(WorkerTest, ASecondStopEndsTheGrace) {
  handler.at_once = false;
  auto& one = start();
  submit("a");
  one.stop.request();
  settle();
  EXPECT_FALSE(one.ended);
  one.stop_now.request();
  settle();
  EXPECT_TRUE(one.ended);
  EXPECT_EQ(task("split").state, TaskState::ready);
}

TEST_F(WorkerTest, AWorkerThatEndsDoesNotWaitForeverForAStoreThatIsAway) {
  handler.at_once = false;
  auto& one = start(4, 5s);
  submit("a");
  database.away = true;
  one.stop.request();
  pass(5s);
  EXPECT_FALSE(one.ended);
  pass(5s);
  EXPECT_TRUE(one.ended);
  database.away = false;
  handler.at_once = true;
  start();
  pass(12s);
  EXPECT_EQ(phase("a"), Phase::succeeded) << "the lease ran out";
}

TEST_F(WorkerTest, AnIdleWorkerStopsAtOnce) {
  auto& one = start();
  one.stop.request();
  settle();
  EXPECT_TRUE(one.ended);
  EXPECT_EQ(one.failure, nullptr);
}

TEST_F(WorkerTest, ManyWorkersDoEachTaskOnce) {
  handler.pages = 50;
  for (int i = 0; i < 4; ++i) start(3);
  for (const char* id : {"a", "b", "c", "d"}) submit(id);
  for (const char* id : {"a", "b", "c", "d"}) EXPECT_EQ(phase(id), Phase::succeeded);
  EXPECT_EQ(handler.begun.size(), 4U * 52);
}

}  // namespace
}  // namespace lectern::job
