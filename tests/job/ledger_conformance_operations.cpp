// The operations of operations.h on a real database, one transaction each, as Store runs them.
#include <gmock/gmock.h>

#include <set>

#include "job/ledger_conformance.h"

namespace lectern::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> kinds_of(const std::vector<Event>& events) {
  std::vector<std::string> kinds;
  for (const Event& event : events) kinds.push_back(event.kind);
  return kinds;
}

Phase phase_of(const JobView& view, StepKind kind) {
  return std::ranges::find(view.steps, kind, &Step::kind)->phase;
}

TEST_P(LedgerConformance, AJobGoesThroughItsSteps) {
  NewJob wanted = request("job_1");
  wanted.webhook = "https://example.org/hook";
  wanted.secret = "{}";
  const JobView submitted = submit_job(wanted);
  EXPECT_EQ(stored("job_1"), submitted);
  EXPECT_EQ(submitted.job.phase, Phase::queued);

  const auto split = claim_some("w", 10);
  ASSERT_THAT(split, SizeIs(1));
  EXPECT_EQ(split[0].kind, StepKind::split);
  EXPECT_EQ(split[0].token, 1);
  EXPECT_EQ(phase_of(stored("job_1").value(), StepKind::split), Phase::running);
  const Outcome found{.pages = {1, 2, 3}, .pages_total = 3, .info = R"({"k":1})"};
  EXPECT_EQ(commit_one(split[0], found), Verdict::accepted);

  const auto pages = claim_some("w", 10);
  EXPECT_THAT(numbers_of(pages), ElementsAre(1, 2, 3));
  EXPECT_THAT(commit_all({ended(pages[0]), ended(pages[1], Ending::done, PageOutcome::fallback), ended(pages[2])}),
              ElementsAre(Verdict::accepted, Verdict::accepted, Verdict::accepted));
  const auto assemble = claim_some("w", 10);
  ASSERT_THAT(assemble, SizeIs(1));
  EXPECT_EQ(assemble[0].kind, StepKind::assemble);
  EXPECT_EQ(commit_one(assemble[0], {.job_result = R"({"md":"k"})"}), Verdict::accepted);
  EXPECT_EQ(stored("job_1")->job.phase, Phase::succeeded);
  const auto deliver = claim_some("w", 10);
  ASSERT_THAT(deliver, SizeIs(1));
  EXPECT_EQ(commit_one(deliver[0], {}), Verdict::accepted);
  EXPECT_THAT(claim_some("w", 10), IsEmpty());

  const JobView over = stored("job_1").value();
  EXPECT_EQ(over.job.pages, (Counts{.ok = 2, .fallback = 1, .failed = 0}));
  EXPECT_EQ(over.job.info, R"({"k":1})");
  EXPECT_EQ(over.job.result, R"({"md":"k"})");
  EXPECT_EQ(over.job.request.secret, "");
  for (const Step& step : over.steps) EXPECT_EQ(step.phase, Phase::succeeded);
  expect_whole_story(stored_events("job_1"), over);
  EXPECT_THAT(kinds_of(stored_events("job_1")),
              ElementsAre("job.queued", "job.running", "step.running", "step.succeeded", "step.running", "page.done",
                          "page.done", "page.done", "step.succeeded", "step.running", "step.succeeded", "job.succeeded",
                          "step.running", "deliver.done", "step.succeeded"));
}

TEST_P(LedgerConformance, TheSameRequestTwiceIsOneJob) {
  NewJob wanted = request("job_1");
  wanted.idempotency_key = "key";
  wanted.fingerprint = "print";
  const JobView first = submit_job(wanted);
  wanted.id = "job_2";
  const auto again = must([&](Ledger& ledger) { return submit(ledger, policy_, wanted); });
  EXPECT_TRUE(again.existed);
  EXPECT_EQ(again.job, first);
  EXPECT_EQ(stored("job_2"), std::nullopt);
  wanted.fingerprint = "another";
  const auto clash = write([&](Ledger& ledger) { return submit(ledger, policy_, wanted); });
  ASSERT_FALSE(clash);
  EXPECT_EQ(clash.error().kind, ErrorKind::conflict);
  EXPECT_THAT(claim_some("w", 10), SizeIs(1));
}

TEST_P(LedgerConformance, ClaimsGoByPriorityThenByAge) {
  const std::vector<std::pair<std::string, int>> jobs = {{"job_1", 0}, {"job_2", 7}, {"job_3", -7}, {"job_4", 7}};
  for (const auto& [id, priority] : jobs) {
    NewJob wanted = request(id);
    wanted.priority = priority;
    submit_job(wanted);
  }
  std::vector<std::string> order;
  for (int i = 0; i < 4; ++i) order.push_back(claim_some("w", 1).at(0).job);
  EXPECT_THAT(order, ElementsAre("job_2", "job_4", "job_1", "job_3"));
  EXPECT_THAT(claim_some("w", 1), IsEmpty());
}

TEST_P(LedgerConformance, WhatIsNearlyDoneGoesBeforeYoungerPages) {
  job_with_pages(request("job_1"), 1);
  job_with_pages(request("job_2"), 5);
  const Task page = claim_some("w", 1).at(0);
  ASSERT_EQ(page.job, "job_1");
  ASSERT_EQ(commit_one(page, {.page = PageOutcome::ok}), Verdict::accepted);
  const auto next = claim_some("w", 3);
  ASSERT_THAT(next, SizeIs(3));
  EXPECT_EQ(next[0].kind, StepKind::assemble);
  EXPECT_EQ(next[1].job, "job_2");
}

TEST_P(LedgerConformance, ARoomyClaimGoesOnToLowerPriorities) {
  for (const int priority : {1, 2, 3}) {
    NewJob wanted = request("job_" + std::to_string(priority));
    wanted.priority = priority;
    submit_job(wanted);
  }
  std::vector<std::string> jobs;
  for (const Task& task : claim_some("w", 10)) jobs.push_back(task.job);
  EXPECT_THAT(jobs, ElementsAre("job_3", "job_2", "job_1"));
}

TEST_P(LedgerConformance, TenantsShareWhatThereIs) {
  for (const std::string tenant : {"big", "small"}) {
    NewJob wanted = request("job_" + tenant);
    wanted.tenant = tenant;
    job_with_pages(wanted, tenant == "big" ? 40 : 10);
  }
  const auto count = [](const std::vector<Task>& tasks, std::string_view tenant) {
    return std::ranges::count(tasks, tenant, &Task::tenant);
  };
  const auto first = claim_some("w", 12);
  EXPECT_EQ(count(first, "big"), 6);
  EXPECT_EQ(count(first, "small"), 6);
  const auto second = claim_some("v", 12);  // small has only four left
  EXPECT_EQ(count(second, "small"), 4);
  EXPECT_EQ(count(second, "big"), 8);
}

TEST_P(LedgerConformance, AWorkerGetsOneSuspectAtATime) {
  add_job("job_1");
  std::vector<Task> tasks = {page("job_1", 1), page("job_1", 2), page("job_1", 3)};
  tasks[0].alone = tasks[1].alone = true;
  add_tasks(tasks);
  EXPECT_THAT(numbers_of(claim_some("w", 1, {}, false)), ElementsAre(3));
  EXPECT_THAT(claim_some("w", 10, {}, false), IsEmpty());
  EXPECT_THAT(numbers_of(claim_some("w", 10)), ElementsAre(1));
  EXPECT_THAT(numbers_of(claim_some("v", 10)), ElementsAre(2));
}

TEST_P(LedgerConformance, OnlyTheKindsAskedForAreClaimed) {
  job_with_pages(request("job_1"), 2);
  submit_job(request("job_2"));
  EXPECT_THAT(claim_some("w", 10, {StepKind::assemble}), IsEmpty());
  const auto split = claim_some("w", 10, {StepKind::split});
  ASSERT_THAT(split, SizeIs(1));
  EXPECT_EQ(split[0].job, "job_2");
  EXPECT_THAT(numbers_of(claim_some("w", 10, {StepKind::read, StepKind::assemble})), ElementsAre(1, 2));
}

TEST_P(LedgerConformance, ALeaseHoldsUntilItsMomentAndIsRenewed) {
  job_with_pages(request("job_1"), 2);
  const auto tasks = claim_some("w", 10);
  const Millis at = now();
  EXPECT_GE(tasks[0].lease_until, at);
  EXPECT_LE(tasks[0].lease_until, at + policy_.lease);
  EXPECT_EQ(sweep_all().lost, 0);
  policy_.lease = 1'000'000;
  const std::vector<Held> held = {{tasks[0].id, tasks[0].token}, {tasks[1].id, tasks[1].token + 1}};
  EXPECT_THAT(must([&](Ledger& ledger) { return renew(ledger, policy_, held); }), ElementsAre(tasks[0].id));
  EXPECT_GE(stored_tasks("job_1", StepKind::read).at(0).lease_until, at + 1'000'000);
}

TEST_P(LedgerConformance, ALateCommitIsRefusedAndARepeatedOneIsKnown) {
  job_with_pages(request("job_1"), 1);
  policy_.lease = -1000;  // over as soon as it begins
  const Task slow = claim_some("slow", 1).at(0);
  EXPECT_EQ(sweep_all().lost, 1);
  policy_.lease = 10'000;
  EXPECT_EQ(commit_one(slow, ended(slow)), Verdict::late) << "the lease is lost, and nobody has the task yet";
  const Task quick = claim_some("quick", 1).at(0);
  EXPECT_GT(quick.token, slow.token);
  EXPECT_EQ(commit_one(slow, ended(slow)), Verdict::late);
  Outcome outcome = ended(quick);
  outcome.result = "jobs/job_1/quick";
  EXPECT_EQ(commit_one(quick, outcome), Verdict::accepted);
  const JobView once = stored("job_1").value();
  EXPECT_EQ(commit_one(quick, outcome), Verdict::repeated);
  EXPECT_EQ(stored("job_1"), once);
  EXPECT_EQ(commit_one(slow, ended(slow)), Verdict::late);
  EXPECT_EQ(stored("job_1")->job.pages, once.job.pages) << "counted once";
  EXPECT_EQ(stored("job_1")->steps, once.steps);
  EXPECT_EQ(stored_tasks("job_1", StepKind::read).at(0).result, "jobs/job_1/quick");
  EXPECT_EQ(commit_all({{.task = 999'999, .token = 1}}).at(0), Verdict::late);
}

TEST_P(LedgerConformance, TheLastCommitOpensTheNextStepAtOnce) {
  job_with_pages(request("job_1"), 2);
  const auto pages = claim_some("w", 10);
  EXPECT_EQ(commit_one(pages[1], ended(pages[1])), Verdict::accepted);
  EXPECT_THAT(stored_tasks("job_1", StepKind::assemble), IsEmpty());
  // Inside the transaction and after it: never a moment without a task.
  const auto seen = must([&](Ledger& ledger) -> Result<std::size_t> {
    const auto last = ended(pages[0]);
    if (auto done = commit_tasks(ledger, policy_, std::span(&last, 1)); !done) return std::unexpected(done.error());
    auto open = ledger.open_tasks("job_1");
    if (!open) return std::unexpected(open.error());
    return open->size();
  });
  EXPECT_EQ(seen, 1U);
  EXPECT_THAT(stored_tasks("job_1", StepKind::assemble), SizeIs(1));
}

TEST_P(LedgerConformance, ATaskThatKillsItsWorkersIsQuarantined) {
  job_with_pages(request("job_1"), 3);
  policy_.lease = -1000;
  EXPECT_THAT(claim_some("w1", 10), SizeIs(3));
  EXPECT_EQ(sweep_all().lost, 3);  // nobody knows which one it was
  const auto innocent = claim_some("w2", 1);
  EXPECT_EQ(commit_one(innocent[0], ended(innocent[0])), Verdict::accepted);
  EXPECT_THAT(claim_some("w2", 10), SizeIs(2));
  EXPECT_EQ(sweep_all().lost, 2);
  const auto suspect = claim_some("w3", 10);
  ASSERT_THAT(suspect, SizeIs(1)) << "suspects are held one at a time";
  EXPECT_TRUE(suspect[0].alone);
  const Swept swept = sweep_all();
  EXPECT_EQ(swept.lost, 1);
  EXPECT_EQ(swept.quarantined, 1);
  const auto other = claim_some("w4", 10);
  ASSERT_THAT(other, SizeIs(1));
  EXPECT_EQ(commit_one(other[0], ended(other[0])), Verdict::accepted);
  const auto pages = stored_tasks("job_1", StepKind::read);
  EXPECT_EQ(std::ranges::count(pages, TaskState::quarantined, &Task::state), 1);
  policy_.lease = 10'000;
  finish_everything();
  const JobView over = stored("job_1").value();
  EXPECT_EQ(over.job.phase, Phase::succeeded);
  EXPECT_EQ(over.job.pages, (Counts{.ok = 2, .fallback = 0, .failed = 1}));
  expect_whole_story(stored_events("job_1"), over);
}

TEST_P(LedgerConformance, AClaimWhoseAnswerWasLostIsGivenAgain) {
  job_with_pages(request("job_1"), 5);
  const auto heard = claim_some("w", 1);
  const auto lost = claim_some("w", 2);  // nobody heard of these
  const auto others = claim_some("v", 1);
  const auto again = must([&](Ledger& ledger) {
    return claim(ledger, policy_,
                 {.worker = "w", .kinds = {StepKind::read}, .room = 3, .known = std::vector<Held>{{heard[0].id, 1}}});
  });
  std::vector<Task> tasks;
  for (const Leased& one : again) tasks.push_back(one.task);
  EXPECT_THAT(numbers_of(tasks), ElementsAre(lost[0].number, lost[1].number, 5))
      << "and something new for the room left";
  for (const Task& task : tasks) {
    EXPECT_EQ(task.token, 1);
    EXPECT_EQ(task.attempts, 1);
    EXPECT_EQ(commit_one(task, ended(task, Ending::done)), Verdict::accepted);
  }
  EXPECT_EQ(commit_one(others[0], ended(others[0], Ending::done)), Verdict::accepted) << "that was not w's";
}

TEST_P(LedgerConformance, GivenBackAndPostponedTasks) {
  job_with_pages(request("job_1"), 3);
  auto tasks = claim_some("w", 3);
  EXPECT_EQ(commit_one(tasks[0], ended(tasks[0], Ending::give_back)), Verdict::accepted);
  Outcome later = ended(tasks[1], Ending::again);
  later.error = "busy";
  later.delay = 3'600'000;
  EXPECT_EQ(commit_one(tasks[1], later), Verdict::accepted);
  later.delay = 1;
  EXPECT_EQ(commit_one(tasks[2], later), Verdict::accepted);
  const auto again = claim_some("w", 3);
  ASSERT_THAT(numbers_of(again), testing::Contains(1));
  EXPECT_EQ(again[0].attempts, 1) << "a lease that was given back does not count";
  const auto waiting = stored_tasks("job_1", StepKind::read).at(2);
  while (now() < waiting.not_before) {  // a millisecond by the database's own clock
  }
  const Swept swept = sweep_all();
  EXPECT_EQ(swept.woken, 1);
  EXPECT_EQ(swept.next_wake, stored_tasks("job_1", StepKind::read).at(1).not_before);
  EXPECT_THAT(numbers_of(claim_some("w", 3)), ElementsAre(3));
}

TEST_P(LedgerConformance, ACancelledJobStopsEverywhere) {
  job_with_pages(request("job_1"), 3);
  const auto held = claim_some("w", 1);
  const auto cancel_it = [&](Ledger& ledger) { return cancel_job(ledger, policy_, "job_1", "no longer wanted"); };
  EXPECT_EQ(must(cancel_it).job.phase, Phase::cancelled);
  const std::vector<Held> holds = {{held[0].id, held[0].token}};
  EXPECT_THAT(must([&](Ledger& ledger) { return renew(ledger, policy_, holds); }), IsEmpty());
  EXPECT_EQ(commit_one(held[0], ended(held[0])), Verdict::cancelled);
  EXPECT_THAT(claim_some("w", 10), IsEmpty());
  EXPECT_EQ(stored("job_1")->job.error, "no longer wanted");
  expect_whole_story(stored_events("job_1"), stored("job_1").value());
  const auto again = write(cancel_it);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
  const auto none = write([&](Ledger& ledger) { return cancel_job(ledger, policy_, "job_none", ""); });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_found);
}

TEST_P(LedgerConformance, FailedPagesAreTriedAgain) {
  job_with_pages(request("job_1"), 3);
  const auto retry_it = [&](Ledger& ledger) { return retry_job(ledger, policy_, "job_1"); };
  EXPECT_EQ(write(retry_it).error().kind, ErrorKind::conflict) << "it is not over";
  auto pages = claim_some("w", 3);
  EXPECT_THAT(commit_all({ended(pages[0]), ended(pages[1], Ending::failed),
                          ended(pages[2], Ending::done, PageOutcome::failed)}),
              ElementsAre(Verdict::accepted, Verdict::accepted, Verdict::accepted));
  finish_everything();
  EXPECT_EQ(stored("job_1")->job.pages, (Counts{.ok = 1, .fallback = 0, .failed = 2}));
  const std::size_t assembled = stored_tasks("job_1", StepKind::assemble).size();
  EXPECT_EQ(assembled, 1U);

  EXPECT_EQ(must(retry_it).job.phase, Phase::running);
  EXPECT_THAT(stored_tasks("job_1", StepKind::assemble), IsEmpty()) << "to be done anew";
  pages = claim_some("w", 3);
  EXPECT_THAT(numbers_of(pages), ElementsAre(2, 3));
  EXPECT_THAT(commit_all({ended(pages[0]), ended(pages[1])}), ElementsAre(Verdict::accepted, Verdict::accepted));
  finish_everything();
  const JobView over = stored("job_1").value();
  EXPECT_EQ(over.job.phase, Phase::succeeded);
  EXPECT_EQ(over.job.round, 2);
  EXPECT_EQ(over.job.pages, (Counts{.ok = 3, .fallback = 0, .failed = 0}));
  expect_whole_story(stored_events("job_1"), over);
  EXPECT_EQ(write(retry_it).error().kind, ErrorKind::conflict) << "nothing is left to try again";
}

TEST_P(LedgerConformance, ADeadlineEndsTheJob) {
  NewJob wanted = request("job_1");
  wanted.deadline = now() - 1;
  submit_job(wanted);
  wanted.id = "job_2";
  wanted.deadline = now() + 3'600'000;
  submit_job(wanted);
  EXPECT_EQ(sweep_all().past_deadline, 1);
  EXPECT_EQ(stored("job_1")->job.phase, Phase::failed);
  EXPECT_EQ(stored("job_2")->job.phase, Phase::queued);
  EXPECT_EQ(sweep_all().past_deadline, 0);
  EXPECT_THAT(claim_some("w", 10), SizeIs(1));
}

TEST_P(LedgerConformance, AFinishedJobIsFoundAndRemoved) {
  job_with_pages(request("job_1"), 2);
  const auto finished = [&] {
    const Millis later = now() + 1000;
    return read([&](Ledger& ledger) { return ledger.jobs_finished_before(later, 10); }).value();
  };
  EXPECT_THAT(finished(), IsEmpty());
  finish_everything();
  EXPECT_THAT(finished(), ElementsAre("job_1"));
  must([](Ledger& ledger) { return ledger.remove_job("job_1"); });
  EXPECT_THAT(finished(), IsEmpty());
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.figures(); }).value(), QueueFigures{});
}

TEST_P(LedgerConformance, ALongJobIsOneTransactionAStep) {
  constexpr int pages = 3000;
  job_with_pages(request("job_1"), pages);
  std::set<int> read_pages;
  for (;;) {
    const auto some = claim_some("w", 500, {StepKind::read});
    if (some.empty()) break;
    std::vector<Outcome> outcomes;
    for (const Task& task : some) {
      EXPECT_TRUE(read_pages.insert(task.number).second);
      outcomes.push_back(ended(task));
    }
    commit_all(outcomes);
  }
  EXPECT_EQ(read_pages.size(), static_cast<std::size_t>(pages));
  finish_everything();
  EXPECT_EQ(stored("job_1")->job.pages.ok, pages);
  expect_whole_story(stored_events("job_1"), stored("job_1").value());
}

}  // namespace
}  // namespace lectern::job
