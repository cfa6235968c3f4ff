// What every Database must do, as one suite: each call of Ledger, each operation of operations.h on top of it, and what
// transactions promise. A kind of storage joins it with
//   INSTANTIATE_TEST_SUITE_P(Kind, LedgerConformance, testing::Values(StorageKind{"Kind", [] { … }}), storage_name);
// and, where it lasts, the same with LastingConformance. The tests ask the database for the time and never wait for it
// to pass: leases and deadlines lie in the past where they are to be over.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "job/database.h"
#include "job/operations.h"

namespace lectern::job {

// An empty place for jobs.
class TestStorage {
 public:
  virtual ~TestStorage() = default;
  virtual std::unique_ptr<Database> open() = 0;
};

struct StorageKind {
  std::string name;
  std::function<std::unique_ptr<TestStorage>()> make;
};
inline void PrintTo(const StorageKind& kind, std::ostream* out) {  // NOLINT: the name is GoogleTest's
  *out << kind.name;
}
inline std::string storage_name(const testing::TestParamInfo<StorageKind>& info) {
  return info.param.name;
}

// Runs `work` in a transaction and waits for its end. `work` takes a Ledger& and returns a Result or a Status.
template <class Work>
auto transact(Database& database, Database::Access access, Work work) {
  using Answer = std::invoke_result_t<Work, Ledger&>;
  struct Ended {
    std::optional<Answer> answer;
    std::promise<Status> status;
  };
  auto ended = std::make_shared<Ended>();  // shared: the database's thread may still be inside set_value()
  database.run(
      access,
      [ended, work](Ledger& ledger) -> Status {
        ended->answer = work(ledger);
        if (!*ended->answer) return std::unexpected(ended->answer->error());
        return {};
      },
      [ended](Status status) { ended->status.set_value(std::move(status)); });
  const Status status = ended->status.get_future().get();
  if (!status) return Answer(std::unexpected(status.error()));
  return std::move(*ended->answer);
}

class LedgerConformance : public testing::TestWithParam<StorageKind> {
 protected:
  template <class Work>
  auto write(Work work) {
    return transact(*database_, Database::Access::write, std::move(work));
  }
  template <class Work>
  auto read(Work work) {
    return transact(*database_, Database::Access::read, std::move(work));
  }
  // As write(), and the test cannot go on without it.
  template <class Work>
  auto must(Work work) {
    auto done = write(std::move(work));
    if (!done) throw std::runtime_error("the transaction failed: " + done.error().for_log);
    if constexpr (!std::is_void_v<typename decltype(done)::value_type>) return std::move(*done);
  }

  Millis now();
  // As accept() makes it, written without its task.
  JobView add_job(const std::string& id, const std::function<void(JobView&)>& change = {});
  // The tasks as the database keeps them, with their ids.
  std::vector<Task> add_tasks(const std::vector<Task>& tasks);
  static Task page(const std::string& job, int number, TaskState state = TaskState::ready);
  std::optional<JobView> stored(const std::string& id);
  std::vector<Task> stored_tasks(const std::string& job, StepKind kind);
  std::vector<Event> stored_events(const std::string& job);

  // --- the operations, each in a transaction of its own
  static NewJob request(const std::string& id);
  JobView submit_job(const NewJob& request);
  std::vector<Task> claim_some(const std::string& worker, int room, std::vector<StepKind> kinds = {},
                               bool alone = true);
  Verdict commit_one(const Task& task, Outcome outcome = {});
  std::vector<Verdict> commit_all(const std::vector<Outcome>& outcomes);
  Swept sweep_all();
  // Submits a job and ends its `split`, so that the pages 1..pages are ready.
  JobView job_with_pages(const NewJob& request, int pages);
  // Claims, ends and opens until nothing is left to do for anybody.
  void finish_everything();

  Policy policy_;
  const std::unique_ptr<TestStorage> storage_ = GetParam().make();
  std::unique_ptr<Database> database_ = storage_->open();
};

// For storage that outlives its Database: open() again, also while another one is open as a process of its own would
// be, shows what was committed.
class LastingConformance : public LedgerConformance {};

inline const std::vector<StepKind> all_steps = {StepKind::split, StepKind::read, StepKind::assemble, StepKind::deliver};

// Numbers 1, 2, 3… without gaps, and the job counts them.
void expect_whole_story(const std::vector<Event>& events, const JobView& job);
std::vector<std::int64_t> ids_of(const std::vector<Task>& tasks);
std::vector<int> numbers_of(const std::vector<Task>& tasks);
Outcome ended(const Task& task, Ending ending = Ending::done, PageOutcome page = PageOutcome::ok);

}  // namespace lectern::job
