#include "job/decide.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lectern::job {
namespace {

constexpr Millis start = 1'000'000;
const Policy policy;

Task leased_task(JobDesk& desk) {
  Task task = desk.changes.new_tasks.at(0);
  task.id = 1;
  desk.changes = {};
  lease(task, "worker", desk.now, policy);
  return task;
}

Outcome split_into(const Task& task, std::vector<int> pages) {
  return {.task = task.id, .token = task.token, .pages = pages, .pages_total = static_cast<int>(pages.size())};
}

std::vector<std::string> event_kinds(const JobDesk& desk) {
  std::vector<std::string> kinds;
  for (const Event& event : desk.changes.events) kinds.push_back(event.kind);
  return kinds;
}

TEST(PlanClaim, OfATenantTheHighestPriorityGoesFirst) {
  const auto takes = plan_claim({{"a", 0, 0}, {"a", 5, 0}, {"a", -5, 0}}, 4);
  EXPECT_EQ(takes, (std::vector<Take>{{"a", 5, 4}}));
}

TEST(PlanClaim, ATenantsPriorityDoesNotStarveAnother) {
  const auto takes = plan_claim({{"modest", 0, 0}, {"urgent", 100, 2}}, 4);
  EXPECT_EQ(takes, (std::vector<Take>{{"modest", 0, 3}, {"urgent", 100, 1}}));
}

TEST(PlanClaim, TenantsWithLeastInHandCatchUpFirst) {
  const auto takes = plan_claim({{"busy", 0, 6}, {"idle", 0, 0}, {"some", 0, 2}}, 6);
  // idle takes 2 to reach some's 2, then both share the other four.
  EXPECT_EQ(takes, (std::vector<Take>{{"idle", 0, 4}, {"some", 0, 2}}));
}

TEST(PlanClaim, NothingComesOfNoRoomOrNoLanes) {
  EXPECT_TRUE(plan_claim({}, 5).empty());
  EXPECT_TRUE(plan_claim({{"a", 0, 0}}, 0).empty());
}

TEST(Unheard, IsWhatAWorkerHoldsWithoutKnowing) {
  const auto task = [](std::int64_t id, std::int64_t token, TaskState state = TaskState::leased) {
    Task made{.id = id};
    made.state = state;
    made.token = token;
    return made;
  };
  const std::vector<Task> leased = {task(1, 1), task(2, 5), task(3, 2), task(4, 1, TaskState::done)};
  const std::vector<Held> known = {{1, 1}, {2, 4}, {9, 1}};
  EXPECT_EQ(unheard(leased, known), (std::vector<Held>{{2, 5}, {3, 2}}))
      << "an older lease of the same task is another";
  EXPECT_TRUE(unheard({}, known).empty());
}

TEST(Accept, AJobBeginsWithSplitAndHasDeliverOnlyForAWebhook) {
  const JobDesk plain = accept({.id = "j"}, start, policy);
  EXPECT_FALSE(plain.has(StepKind::deliver));
  ASSERT_EQ(plain.changes.new_tasks.size(), 1U);
  EXPECT_EQ(plain.changes.new_tasks[0].kind, StepKind::split);
  EXPECT_TRUE(plain.changes.work);
  EXPECT_TRUE(accept({.id = "j", .webhook = "https://example.org"}, start, policy).has(StepKind::deliver));
}

TEST(Commit, SplitOpensReadWithItsPages) {
  JobDesk desk = accept({.id = "j", .tenant = "t", .priority = 3}, start, policy);
  Task task = leased_task(desk);
  EXPECT_EQ(commit(desk, task, split_into(task, {2, 5})), Verdict::accepted);
  ASSERT_EQ(desk.changes.new_tasks.size(), 2U);
  EXPECT_EQ(desk.changes.new_tasks[1].number, 5);
  EXPECT_EQ(desk.changes.new_tasks[1].tenant, "t");
  EXPECT_EQ(desk.changes.new_tasks[1].priority, 3);
  EXPECT_EQ(desk.step(StepKind::read).total, 2);
  EXPECT_EQ(desk.view.job.phase, Phase::running);
  EXPECT_EQ(event_kinds(desk), (std::vector<std::string>{"job.running", "step.running", "step.succeeded"}));
}

TEST(Commit, ADocumentWithoutPagesGoesStraightToAssembly) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  commit(desk, task, split_into(task, {}));
  ASSERT_EQ(desk.changes.new_tasks.size(), 1U);
  EXPECT_EQ(desk.changes.new_tasks[0].kind, StepKind::assemble);
  EXPECT_EQ(desk.step(StepKind::read).phase, Phase::succeeded);
}

TEST(Commit, AFailedSplitFailsTheJobAndStillDeliversTheNews) {
  JobDesk desk = accept({.id = "j", .webhook = "https://example.org"}, start, policy);
  Task task = leased_task(desk);
  commit(desk, task, {.task = 1, .token = 1, .ending = Ending::failed, .error = "not a document"});
  EXPECT_EQ(desk.view.job.phase, Phase::failed);
  EXPECT_EQ(desk.view.job.error, "not a document");
  EXPECT_EQ(desk.step(StepKind::read).phase, Phase::cancelled);
  ASSERT_EQ(desk.changes.new_tasks.size(), 1U);
  EXPECT_EQ(desk.changes.new_tasks[0].kind, StepKind::deliver);
}

TEST(Commit, ADeliveryTellsWhatTheReceiverSaid) {
  JobDesk desk = accept({.id = "j", .webhook = "https://example.org"}, start, policy);
  Task split = leased_task(desk);
  commit(desk, split, {.task = 1, .token = 1, .ending = Ending::failed, .error = "not a document"});
  Task delivery = leased_task(desk);
  ASSERT_EQ(delivery.kind, StepKind::deliver);
  commit(desk, delivery,
         {.task = 1, .token = 1, .ending = Ending::again, .error = "busy", .detail = R"({"status":503})"});
  lease(delivery, "worker", start, policy);
  commit(desk, delivery, {.task = 1, .token = 2, .ending = Ending::done, .detail = R"({"status":204})"});
  EXPECT_EQ(event_kinds(desk),
            (std::vector<std::string>{"step.running", "deliver.again", "deliver.done", "step.succeeded"}));
  EXPECT_NE(desk.changes.events[1].data.find("503"), std::string::npos);
  EXPECT_NE(desk.changes.events[2].data.find("204"), std::string::npos);
  EXPECT_EQ(desk.view.job.phase, Phase::failed) << "the job's own end is not touched";
}

TEST(Commit, ADeliveryThatFailedMayBeSignedLater) {
  JobDesk desk = accept({.id = "j", .secret = "whsec", .webhook = "https://example.org"}, start, policy);
  Task split = leased_task(desk);
  commit(desk, split, split_into(split, {}));
  Task assemble = leased_task(desk);
  commit(desk, assemble, {.task = 1, .token = 1});
  ASSERT_EQ(desk.view.job.phase, Phase::succeeded);
  Task delivery = leased_task(desk);
  commit(desk, delivery, {.task = 1, .token = 1, .ending = Ending::failed, .error = "gone"});
  EXPECT_EQ(desk.view.job.request.secret, "whsec");
  std::vector<Task> failed{delivery};
  ASSERT_TRUE(retry(desk, failed, {}));
  lease(failed[0], "w", start, policy);
  commit(desk, failed[0], {.task = 1, .token = 2});
  EXPECT_EQ(desk.view.job.request.secret, "");
}

TEST(Commit, OnlyTheLastTokenCounts) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  lose(desk, task, true);
  EXPECT_EQ(commit(desk, task, {.task = 1, .token = 1}), Verdict::late);
  lease(task, "another", start, policy);
  EXPECT_EQ(commit(desk, task, {.task = 1, .token = 1}), Verdict::late);
  const Outcome good = split_into(task, {1});
  EXPECT_EQ(commit(desk, task, good), Verdict::accepted);
  EXPECT_EQ(commit(desk, task, good), Verdict::repeated);
}

TEST(Commit, AgainBacksOffAndGivesUpInTheEnd) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  for (int attempt = 1; attempt < policy.attempts_max; ++attempt) {
    commit(desk, task, {.task = 1, .token = task.token, .ending = Ending::again, .error = "away"});
    ASSERT_EQ(task.state, TaskState::waiting);
    EXPECT_EQ(task.not_before, start + (policy.backoff_first << (attempt - 1)));
    lease(task, "worker", start, policy);
  }
  commit(desk, task, {.task = 1, .token = task.token, .ending = Ending::again, .error = "away"});
  EXPECT_EQ(task.state, TaskState::failed);
  EXPECT_EQ(desk.view.job.phase, Phase::failed);
}

TEST(Commit, WhatIsGivenBackDoesNotCountAsAnAttempt) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  commit(desk, task, {.task = 1, .token = 1, .ending = Ending::give_back});
  EXPECT_EQ(task.state, TaskState::ready);
  EXPECT_EQ(task.attempts, 0);
  EXPECT_TRUE(desk.changes.work);
  EXPECT_EQ(event_kinds(desk).back(), "split.handed_back");
  EXPECT_EQ(desk.changes.events.back().data, R"({"attempt":1,"worker":"worker","started_at":1000000})");
}

// A store of blobs that is away for an hour does not fill the events of every page.
TEST(Commit, WhyATaskIsGivenBackIsToldOnce) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  const auto give_back = [&](const std::string& why) {
    desk.changes = {};
    commit(
        desk, task,
        {.task = 1, .token = task.token, .ending = Ending::give_back, .error = why, .for_log = "s3:9", .delay = 2000});
    EXPECT_EQ(task.state, TaskState::waiting);
    const auto events = desk.changes.events;
    lease(task, "worker", start, policy);
    return events.empty() ? "" : events.back().data;
  };
  give_back("");
  EXPECT_EQ(give_back("full"),
            R"({"attempt":1,"worker":"worker","started_at":1000000,"error":"full","again_at":1002000})");
  EXPECT_EQ(give_back("full"), "");
  EXPECT_NE(give_back("away"), "");
  EXPECT_NE(give_back("full"), "");
  EXPECT_EQ(task.attempts, 1);
}

TEST(Commit, AJobOfWhichNoPageWasReadFailsWithAResult) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task split = leased_task(desk);
  commit(desk, split, split_into(split, {1}));
  Task page = leased_task(desk);
  commit(desk, page, {.task = 1, .token = 1, .ending = Ending::failed, .error = "torn"});
  EXPECT_EQ(desk.step(StepKind::read).phase, Phase::failed);
  Task assemble = leased_task(desk);
  commit(desk, assemble, {.task = 1, .token = 1, .job_result = "{}"});
  EXPECT_EQ(desk.view.job.phase, Phase::failed);
  EXPECT_EQ(desk.view.job.error, "the page could not be read: torn");
  EXPECT_EQ(desk.view.job.result, "{}");
}

TEST(Lose, TheThirdDeadWorkerPutsATaskIntoQuarantine) {
  JobDesk desk = accept({.id = "j"}, start, policy);
  Task task = leased_task(desk);
  lose(desk, task, true);
  EXPECT_EQ(task.state, TaskState::ready);
  EXPECT_FALSE(task.alone);
  lease(task, "w2", start, policy);
  lose(desk, task, true);
  EXPECT_TRUE(task.alone);
  lease(task, "w3", start, policy);
  lose(desk, task, true);
  EXPECT_EQ(task.state, TaskState::quarantined);
  EXPECT_NE(task.error.find("died 3 times"), std::string::npos);
}

TEST(Blame, OnlyTheMostSuspectedAreBlamed) {
  const std::vector<Task> lost{{.losses = 0}, {.losses = 2}, {.losses = 1}};
  EXPECT_EQ(blame(lost), (std::vector<bool>{false, true, false}));
  EXPECT_EQ(blame(std::vector<Task>{{.losses = 0}, {.losses = 0}}), (std::vector<bool>{true, true}));
}

TEST(Cancel, StopsWhatIsInHandAndForgetsTheSecret) {
  JobDesk desk = accept({.id = "j", .secret = "password"}, start, policy);
  std::vector<Task> open{leased_task(desk)};
  EXPECT_TRUE(cancel(desk, open, "enough"));
  EXPECT_EQ(open[0].state, TaskState::cancelled);
  EXPECT_EQ(commit(desk, open[0], {.task = 1, .token = 1}), Verdict::cancelled);
  EXPECT_EQ(desk.view.job.phase, Phase::cancelled);
  EXPECT_TRUE(desk.view.job.request.secret.empty());
  EXPECT_FALSE(cancel(desk, open, "again"));
}

TEST(Retry, FailedPagesAreReadAgainAndTheResultIsMadeAnew) {
  JobDesk desk = accept({.id = "j", .secret = "password"}, start, policy);
  Task split = leased_task(desk);
  commit(desk, split, split_into(split, {1, 2}));
  Task good = desk.changes.new_tasks.at(0);
  Task bad = desk.changes.new_tasks.at(1);
  good.id = 2;
  bad.id = 3;
  desk.changes = {};
  lease(good, "w", start, policy);
  lease(bad, "w", start, policy);
  commit(desk, good, {.task = 2, .token = 1, .page = PageOutcome::ok});
  commit(desk, bad, {.task = 3, .token = 1, .page = PageOutcome::failed, .error = "torn"});
  Task assemble = leased_task(desk);
  commit(desk, assemble, {.task = 1, .token = 1});
  ASSERT_EQ(desk.view.job.phase, Phase::succeeded);
  EXPECT_EQ(desk.view.job.request.secret, "password") << "a retry needs it";
  desk.changes = {};
  std::vector<Task> failed{bad};
  std::vector<Task> later{assemble};
  ASSERT_TRUE(retry(desk, failed, later));
  EXPECT_EQ(failed[0].state, TaskState::ready);
  EXPECT_EQ(desk.changes.removed_tasks, std::vector<std::int64_t>{assemble.id});
  EXPECT_EQ(desk.view.job.phase, Phase::running);
  EXPECT_EQ(desk.view.job.round, 2);
  EXPECT_EQ(desk.step(StepKind::read).done, 1);
  EXPECT_EQ(desk.view.job.pages.failed, 0);
  EXPECT_EQ(desk.step(StepKind::assemble).total, 0);
}

TEST(Retry, AJobThatItsDeadlineWouldFailAtOnceStaysAsItIs) {
  JobDesk desk = accept({.id = "j", .deadline = start + 100}, start, policy);
  Task split = leased_task(desk);
  commit(desk, split, split_into(split, {1, 2}));
  Task good = desk.changes.new_tasks.at(0);
  Task bad = desk.changes.new_tasks.at(1);
  desk.changes = {};
  lease(good, "w", start, policy);
  lease(bad, "w", start, policy);
  commit(desk, good, {.token = 1, .page = PageOutcome::ok});
  commit(desk, bad, {.token = 1, .page = PageOutcome::failed});
  Task assemble = leased_task(desk);
  commit(desk, assemble, {.task = 1, .token = 1});
  ASSERT_EQ(desk.view.job.phase, Phase::succeeded);
  std::vector<Task> failed{bad};
  std::vector<Task> later{assemble};
  desk.now = start + 100;
  EXPECT_FALSE(retry(desk, failed, later));
  desk.now = start + 99;
  EXPECT_TRUE(retry(desk, failed, later));
}

TEST(Backoff, DoublesUpToItsBound) {
  EXPECT_EQ(backoff(1, 1'000, 60'000), 1'000);
  EXPECT_EQ(backoff(3, 1'000, 60'000), 4'000);
  EXPECT_EQ(backoff(60, 1'000, 60'000), 60'000);
}

}  // namespace
}  // namespace lectern::job
