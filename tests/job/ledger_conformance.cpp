#include "job/ledger_conformance.h"

#include <stdexcept>

namespace lectern::job {

Millis LedgerConformance::now() {
  return must([](Ledger& ledger) -> Result<Millis> { return ledger.now(); });
}

JobView LedgerConformance::add_job(const std::string& id, const std::function<void(JobView&)>& change) {
  return must([&](Ledger& ledger) -> Result<JobView> {
    JobView view = accept(request(id), ledger.now(), policy_).view;
    if (change) change(view);
    if (auto ok = ledger.insert_job(view); !ok) return std::unexpected(ok.error());
    return view;
  });
}

std::vector<Task> LedgerConformance::add_tasks(const std::vector<Task>& tasks) {
  must([&](Ledger& ledger) { return ledger.insert_tasks(tasks); });
  std::vector<Task> kept;
  for (const Task& task : tasks) {
    const auto one = must([&](Ledger& ledger) { return ledger.job_tasks(task.job, task.kind, task.number, 1); });
    if (one.size() != 1) throw std::runtime_error("a task that was inserted is not there");
    kept.push_back(one.front());
  }
  return kept;
}

Task LedgerConformance::page(const std::string& job, int number, TaskState state) {
  return {.job = job, .kind = StepKind::read, .number = number, .tenant = "default", .state = state};
}

std::optional<JobView> LedgerConformance::stored(const std::string& id) {
  return read([&](Ledger& ledger) { return ledger.job(id); }).value();
}

std::vector<Task> LedgerConformance::stored_tasks(const std::string& job, StepKind kind) {
  return read([&](Ledger& ledger) { return ledger.job_tasks(job, kind, 0, 1'000'000); }).value();
}

std::vector<Event> LedgerConformance::stored_events(const std::string& job) {
  return read([&](Ledger& ledger) { return ledger.events(job, 0, 1'000'000); }).value();
}

NewJob LedgerConformance::request(const std::string& id) {
  return {.id = id, .document = id + ".pdf", .source = "jobs/" + id + "/original"};
}

JobView LedgerConformance::submit_job(const NewJob& request) {
  return must([&](Ledger& ledger) { return submit(ledger, policy_, request); }).job;
}

std::vector<Task> LedgerConformance::claim_some(const std::string& worker, int room, std::vector<StepKind> kinds,
                                                bool alone) {
  const ClaimRequest wanted{
      .worker = worker, .kinds = kinds.empty() ? all_steps : std::move(kinds), .room = room, .alone = alone};
  const auto leased = must([&](Ledger& ledger) { return claim(ledger, policy_, wanted); });
  must([&](Ledger& ledger) { return begin_steps(ledger, policy_, leased); });
  std::vector<Task> tasks;
  for (const Leased& one : leased) tasks.push_back(one.task);
  return tasks;
}

std::vector<Verdict> LedgerConformance::commit_all(const std::vector<Outcome>& outcomes) {
  return must([&](Ledger& ledger) { return commit_tasks(ledger, policy_, outcomes); });
}

Verdict LedgerConformance::commit_one(const Task& task, Outcome outcome) {
  outcome.task = task.id;
  outcome.token = task.token;
  return commit_all({outcome}).at(0);
}

Swept LedgerConformance::sweep_all() {
  return must([&](Ledger& ledger) { return sweep(ledger, policy_); });
}

JobView LedgerConformance::job_with_pages(const NewJob& wanted, int pages) {
  submit_job(wanted);
  const auto split = stored_tasks(wanted.id, StepKind::split).at(0);
  must([&](Ledger& ledger) -> Status {
    Task task = split;
    lease(task, "splitter", ledger.now(), policy_);
    return ledger.update_tasks(std::span(&task, 1));
  });
  Outcome outcome{.pages_total = pages};
  for (int number = 1; number <= pages; ++number) outcome.pages.push_back(number);
  Task leased = split;
  leased.token = 1;
  if (commit_one(leased, outcome) != Verdict::accepted) throw std::runtime_error("split was not accepted");
  return stored(wanted.id).value();
}

void LedgerConformance::finish_everything() {
  for (;;) {
    const auto tasks = claim_some("finisher", 64);
    if (tasks.empty()) return;
    std::vector<Outcome> outcomes;
    for (const Task& task : tasks) outcomes.push_back(ended(task));
    for (const Verdict verdict : commit_all(outcomes)) ASSERT_EQ(verdict, Verdict::accepted);
  }
}

void expect_whole_story(const std::vector<Event>& events, const JobView& job) {
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(events[i].number, static_cast<std::int64_t>(i) + 1);
  EXPECT_EQ(static_cast<std::int64_t>(events.size()), job.job.event_count);
}

std::vector<std::int64_t> ids_of(const std::vector<Task>& tasks) {
  std::vector<std::int64_t> ids;
  for (const Task& task : tasks) ids.push_back(task.id);
  return ids;
}

std::vector<int> numbers_of(const std::vector<Task>& tasks) {
  std::vector<int> numbers;
  for (const Task& task : tasks) numbers.push_back(task.number);
  return numbers;
}

Outcome ended(const Task& task, Ending ending, PageOutcome page) {
  return {.task = task.id,
          .token = task.token,
          .ending = ending,
          .page = task.kind == StepKind::read ? page : PageOutcome::none,
          .result = "jobs/" + task.job + "/made"};
}

}  // namespace lectern::job
