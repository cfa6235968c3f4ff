// Ledger's calls about tasks: what is ready for whom, what is late, what is counted.
#include <gmock/gmock.h>

#include "job/ledger_conformance.h"

namespace lectern::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

const std::vector<StepKind> only_read = {StepKind::read};

TEST_P(LedgerConformance, TasksComeBackAsTheyWereWritten) {
  const Task full{.job = "job_1",
                  .kind = StepKind::assemble,
                  .number = 3,
                  .tenant = "it's \"t\" {,} 字",
                  .priority = -5,
                  .state = TaskState::leased,
                  .token = 1'000'000'000'000,
                  .worker = "w",
                  .lease_until = 1'800'000'000'001,
                  .not_before = 1'800'000'000'002,
                  .attempts = 4,
                  .losses = 2,
                  .alone = true,
                  .outcome = PageOutcome::fallback,
                  .result = "jobs/x",
                  .error = "NULL, \\ \"",
                  .started_at = 5,
                  .finished_at = 6};
  add_job("job_1");
  auto kept = add_tasks({full, page("job_1", 1), page("job_1", 2)});
  EXPECT_LT(kept[0].id, kept[1].id);
  EXPECT_LT(kept[1].id, kept[2].id);
  Task expected = full;
  expected.id = kept[0].id;
  EXPECT_EQ(kept[0], expected);
  expected = page("job_1", 2);
  expected.id = kept[2].id;
  EXPECT_EQ(kept[2], expected);

  // Everything but what names the task may change.
  Task changed = kept[2];
  changed.state = TaskState::quarantined;
  changed.token = 9;
  changed.worker = "v";
  changed.lease_until = 11;
  changed.not_before = 12;
  changed.attempts = 13;
  changed.losses = 14;
  changed.alone = true;
  changed.outcome = PageOutcome::failed;
  changed.result = "r";
  changed.error = "e";
  changed.started_at = 15;
  changed.finished_at = 16;
  const std::vector<Task> both = {changed, kept[1]};
  must([&](Ledger& ledger) { return ledger.update_tasks(both); });
  EXPECT_EQ(stored_tasks("job_1", StepKind::read), (std::vector<Task>{kept[1], changed}));
  changed.started_at.reset();
  changed.finished_at.reset();
  must([&](Ledger& ledger) { return ledger.update_tasks(std::span(&changed, 1)); });
  EXPECT_EQ(stored_tasks("job_1", StepKind::read).at(1), changed);
}

TEST_P(LedgerConformance, TasksByIdComeOnceInOrder) {
  add_job("job_1");
  const auto kept = add_tasks({page("job_1", 1), page("job_1", 2), page("job_1", 3)});
  const auto get = [&](std::vector<std::int64_t> ids) {
    return read([&](Ledger& ledger) { return ledger.tasks(ids); }).value();
  };
  const auto ids = ids_of(kept);
  EXPECT_EQ(get({ids[2], ids[0], ids[2], 999'999}), (std::vector<Task>{kept[0], kept[2]}));
  EXPECT_THAT(get({}), IsEmpty());
  must([&](Ledger& ledger) { return ledger.remove_tasks(std::vector{ids[0], std::int64_t{999'999}}); });
  EXPECT_EQ(get(ids), (std::vector<Task>{kept[1], kept[2]}));
}

TEST_P(LedgerConformance, TasksOfAJobComeByNumber) {
  add_job("job_1");
  add_job("job_2");
  add_tasks({page("job_1", 30),
             page("job_1", 10),
             page("job_1", 20),
             page("job_2", 10),
             {.job = "job_1", .kind = StepKind::split, .number = 15, .tenant = "default"}});
  const auto get = [&](int from, int limit) {
    return numbers_of(
        read([&](Ledger& ledger) { return ledger.job_tasks("job_1", StepKind::read, from, limit); }).value());
  };
  EXPECT_THAT(get(0, 10), ElementsAre(10, 20, 30));
  EXPECT_THAT(get(11, 1), ElementsAre(20));
  EXPECT_THAT(get(31, 10), IsEmpty());
}

TEST_P(LedgerConformance, OpenAndFailedTasksOfAJob) {
  add_job("job_1");
  add_job("job_2");
  Task failed_page = page("job_1", 8, TaskState::done);
  failed_page.outcome = PageOutcome::failed;
  add_tasks({page("job_1", 1, TaskState::waiting), page("job_1", 2, TaskState::ready),
             page("job_1", 3, TaskState::leased), page("job_1", 4, TaskState::done),
             page("job_1", 5, TaskState::failed), page("job_1", 6, TaskState::quarantined),
             page("job_1", 7, TaskState::cancelled), failed_page, page("job_2", 1, TaskState::ready),
             page("job_2", 2, TaskState::failed)});
  EXPECT_THAT(numbers_of(read([](Ledger& ledger) { return ledger.open_tasks("job_1"); }).value()),
              ElementsAre(1, 2, 3));
  EXPECT_THAT(numbers_of(read([](Ledger& ledger) { return ledger.failed_tasks("job_1"); }).value()),
              ElementsAre(5, 6, 8));
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.open_tasks("job_none"); }).value(), IsEmpty());
}

Task of(const std::string& tenant, int priority, int number, TaskState state = TaskState::ready) {
  Task task{.job = "job_1", .kind = StepKind::read, .number = number, .tenant = tenant, .priority = priority};
  task.state = state;
  return task;
}

TEST_P(LedgerConformance, LanesAreTheBestOfEachTenant) {
  add_job("job_1");
  Task alone = of("c", 50, 7);
  alone.alone = true;
  Task assemble = of("d", 9, 8);
  assemble.kind = StepKind::assemble;
  Task busy = of("b", 0, 9, TaskState::leased);
  busy.kind = StepKind::split;
  add_tasks({of("a", 1, 1), of("a", 5, 2), of("a", 3, 3), of("b", -2, 4), of("b", 9, 5, TaskState::waiting),
             of("b", 9, 6, TaskState::done), alone, assemble, busy, of("a", 0, 10, TaskState::leased),
             of("a", 0, 11, TaskState::leased)});
  const auto lanes = [&](std::vector<StepKind> kinds) {
    return read([&](Ledger& ledger) { return ledger.lanes(kinds); }).value();
  };
  EXPECT_THAT(lanes(only_read), UnorderedElementsAre(Lane{"a", 5, 2}, Lane{"b", -2, 1}, Lane{"c", 50, 0, true}));
  EXPECT_THAT(lanes({StepKind::read, StepKind::assemble}),
              UnorderedElementsAre(Lane{"a", 5, 2}, Lane{"b", -2, 1}, Lane{"c", 50, 0, true}, Lane{"d", 9, 0}));
  EXPECT_THAT(lanes({StepKind::deliver}), IsEmpty());
  EXPECT_THAT(lanes({}), IsEmpty());
}

TEST_P(LedgerConformance, TakeReadyGivesTheFirstOfALane) {
  add_job("job_1");
  Task alone = of("a", 5, 3);
  alone.alone = true;
  Task assemble = of("a", 5, 4);
  assemble.kind = StepKind::assemble;
  add_tasks({of("a", 5, 1), of("b", 5, 2), alone, assemble, of("a", 4, 5), of("a", 5, 6, TaskState::leased),
             of("a", 5, 7), of("a", 5, 8)});
  const auto take = [&](std::vector<StepKind> kinds, std::vector<Take> takes) {
    return numbers_of(must([&](Ledger& ledger) { return ledger.take_ready(kinds, takes); }));
  };
  EXPECT_THAT(take(only_read, {{"a", 5, 10}}), ElementsAre(1, 7, 8));
  EXPECT_THAT(take(only_read, {{"a", 5, 2}}), ElementsAre(1, 7));
  EXPECT_THAT(take({StepKind::read, StepKind::assemble}, {{"a", 5, 3}}), ElementsAre(1, 4, 7));
  EXPECT_THAT(take(only_read, {{"a", 5, 10, true}}), ElementsAre(3));
  EXPECT_THAT(take(only_read, {{"a", 5, 2}, {"b", 5, 9}, {"a", 4, 1}}), UnorderedElementsAre(1, 7, 2, 5));
  EXPECT_THAT(take({StepKind::deliver}, {{"a", 5, 10}}), IsEmpty());
  EXPECT_THAT(take(only_read, {}), IsEmpty());
}

TEST_P(LedgerConformance, WaitingTasksWakeWhenTheirMomentComes) {
  add_job("job_1");
  EXPECT_EQ(must([](Ledger& ledger) { return ledger.next_wake(); }), std::nullopt);
  std::vector<Task> tasks;
  for (int i = 1; i <= 4; ++i) {
    tasks.push_back(page("job_1", i, TaskState::waiting));
    tasks.back().not_before = 1000 * i;
  }
  tasks.push_back(page("job_1", 5, TaskState::done));
  add_tasks(tasks);
  const auto wake = [&](Millis at, int limit) {
    return must([&](Ledger& ledger) { return ledger.wake_waiting(at, limit); });
  };
  EXPECT_EQ(must([](Ledger& ledger) { return ledger.next_wake(); }), 1000);
  EXPECT_EQ(wake(999, 10), 0);
  EXPECT_EQ(wake(3000, 2), 2);
  EXPECT_EQ(must([](Ledger& ledger) { return ledger.next_wake(); }), 3000);
  EXPECT_EQ(wake(3000, 10), 1);
  std::vector<TaskState> states;
  for (const Task& task : stored_tasks("job_1", StepKind::read)) states.push_back(task.state);
  EXPECT_THAT(states,
              ElementsAre(TaskState::ready, TaskState::ready, TaskState::ready, TaskState::waiting, TaskState::done));
}

TEST_P(LedgerConformance, ExpiredLeasesComeLongestEndedFirst) {
  add_job("job_1");
  std::vector<Task> tasks;
  for (int i = 1; i <= 4; ++i) {
    tasks.push_back(page("job_1", i, TaskState::leased));
    tasks.back().lease_until = 5000 - 1000 * i;
  }
  tasks.push_back(page("job_1", 5, TaskState::ready));
  add_tasks(tasks);
  const auto expired = [&](Millis at, int limit) {
    return numbers_of(must([&](Ledger& ledger) { return ledger.expired_tasks(at, limit); }));
  };
  EXPECT_THAT(expired(3000, 10), ElementsAre(4, 3, 2));
  EXPECT_THAT(expired(3000, 1), ElementsAre(4));
  EXPECT_THAT(expired(999, 10), IsEmpty());
}

TEST_P(LedgerConformance, WhatIsLeasedToAWorker) {
  add_job("job_1");
  std::vector<Task> tasks;
  for (int i = 1; i <= 4; ++i) {
    tasks.push_back(page("job_1", i, i == 4 ? TaskState::done : TaskState::leased));
    tasks.back().worker = i == 2 ? "other" : "mine";
  }
  const auto kept = add_tasks(tasks);
  const auto leased = read([](Ledger& ledger) { return ledger.leased_to("mine"); });
  EXPECT_EQ(leased.value(), (std::vector<Task>{kept[0], kept[2]}));
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.leased_to("nobody"); }).value(), IsEmpty());
}

TEST_P(LedgerConformance, OnlyHeldLeasesAreExtended) {
  add_job("job_1");
  std::vector<Task> tasks;
  for (int i = 1; i <= 4; ++i) {
    tasks.push_back(page("job_1", i, i == 4 ? TaskState::done : TaskState::leased));
    tasks.back().token = i;
    tasks.back().lease_until = 100;
  }
  const auto kept = add_tasks(tasks);
  const std::vector<Held> held = {{kept[1].id, 2}, {kept[0].id, 1}, {kept[2].id, 1}, {kept[3].id, 4}, {999'999, 1}};
  const auto still = must([&](Ledger& ledger) { return ledger.extend(held, 900); });
  EXPECT_THAT(still, UnorderedElementsAre(kept[0].id, kept[1].id));
  std::vector<Millis> until;
  for (const Task& task : stored_tasks("job_1", StepKind::read)) until.push_back(task.lease_until);
  EXPECT_THAT(until, ElementsAre(900, 900, 100, 100));
  EXPECT_THAT(must([](Ledger& ledger) { return ledger.extend({}, 900); }), IsEmpty());
}

TEST_P(LedgerConformance, FiguresCountWhatIsLeftToDo) {
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.figures(); }).value(), QueueFigures{});
  add_job("job_1", [](JobView& view) { view.job.created_at = 111; });
  add_job("job_2", [](JobView& view) { view.job.created_at = 222; });
  add_job("job_3", [](JobView& view) { view.job.phase = Phase::succeeded; });
  add_job("job_4", [](JobView& view) { view.job.phase = Phase::succeeded; });
  add_job("job_5", [](JobView& view) { view.job.phase = Phase::running; });
  add_job("job_6", [](JobView& view) { view.job.phase = Phase::cancelled; });
  add_tasks({page("job_1", 1, TaskState::done), page("job_2", 2), page("job_1", 3), page("job_1", 4, TaskState::leased),
             page("job_2", 5, TaskState::waiting), page("job_2", 6, TaskState::waiting)});
  const QueueFigures expected{.ready = 2, .waiting = 2, .leased = 1, .jobs = {2, 1, 2, 0, 1}, .oldest_ready = 222};
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.figures(); }).value(), expected);
  EXPECT_EQ(expected.jobs_open(), 3);
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.jobs_open(); }).value(), 3);
}

// It may be in any lane: of suspects, of another step, of the last tenant, of the least priority.
TEST_P(LedgerConformance, TheOldestReadyTaskIsFoundInWhateverLaneItIs) {
  add_job("job_1", [](JobView& view) { view.job.created_at = 111; });
  add_job("job_2", [](JobView& view) { view.job.created_at = 222; });
  Task suspect = of("a", 0, 1);
  suspect.alone = true;
  Task assemble = of("a", 0, 1);
  assemble.kind = StepKind::assemble;
  for (Task oldest : {of("a", 3, 1), of("a", -3, 1), of("b", 0, 1), of("c", 3, 1), of("c", -3, 1), suspect, assemble}) {
    oldest.job = "job_2";
    const auto kept = add_tasks({oldest, of("a", 3, 2), of("a", 1, 3), of("b", 2, 4), of("b", 0, 5), of("c", 0, 6)});
    EXPECT_EQ(read([](Ledger& ledger) { return ledger.figures(); })->oldest_ready, 222)
        << oldest.tenant << " " << oldest.priority;
    must([&](Ledger& ledger) { return ledger.remove_tasks(ids_of(kept)); });
  }
}

}  // namespace
}  // namespace lectern::job
