// The decisions about jobs, as pure functions of what is stored and what happened: what is leased, what a late commit
// is worth, when a step opens the next. They change the values they are given and note what was touched in Changes; a
// Ledger loads the values before and writes them after, in one transaction (operations.h). The seeded simulation runs
// the same functions.
//
// Invariants they keep:
// 1. A task is published at most once a round: only the holder of its last token can end it, and only while it is
// leased.
// 2. Step::done is the number of the step's tasks that are over; when it reaches total, the step is over and the next
// one
//    open, in the same change.
// 3. A job that is over has no task that is waiting, ready or leased, except of `deliver`.
// 4. Events are numbered without gaps.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "job/model.h"

namespace lectern::job {

struct Policy {
  Millis lease = 10'000;           // workers renew three times in this time
  int losses_max = 3;              // this many dead workers put a task into quarantine
  int alone_after = 2;             // this many make it a suspect
  int attempts_max = 5;            // of a task that says `again`
  int delivery_attempts_max = 16;  // of a webhook: with the backoff below about a day
  Millis backoff_first = 1'000;    // doubling up to backoff_most
  Millis backoff_most = 60'000;
  Millis delivery_backoff_first = 5'000;
  Millis delivery_backoff_most = 4 * 3600 * 1000;
};

// What a transaction has to write.
struct Changes {
  std::vector<Task> tasks;      // changed
  std::vector<Task> new_tasks;  // without id
  std::vector<std::int64_t> removed_tasks;
  std::vector<Event> events;
  bool job = false;   // the job row and its steps changed
  bool work = false;  // there are more ready tasks now: workers want to know
};

// One job as a transaction sees it, with everything that decisions change.
struct JobDesk {
  JobView view;
  Changes changes;
  Millis now = 0;
  const Policy* policy = nullptr;

  Step& step(StepKind kind);  // REQUIRES: has(kind)
  bool has(StepKind kind) const;
  void note(std::string_view kind, std::string data);  // appends an event; `data` is a JSON object
};

// --- a new job -----------------------------------------------------------------------------------------------------

// queued, with its steps, and a ready task for `split`.
JobDesk accept(NewJob request, Millis now, const Policy& policy);

// --- claiming ------------------------------------------------------------------------------------------------------

struct Lane {  // ready tasks of one tenant and one priority
  std::string tenant;
  int priority = 0;
  int leased = 0;      // tasks that the tenant has in hand anywhere
  bool alone = false;  // suspects, which are held one at a time
  bool operator==(const Lane&) const = default;
};
struct Take {
  std::string tenant;
  int priority = 0;
  int count = 0;
  bool alone = false;
  bool operator==(const Take&) const = default;
};
// How many to take from which lane: tenants that have least in hand come first; of each, its highest priority.
// REQUIRES: all lanes are of suspects, or none.
std::vector<Take> plan_claim(std::vector<Lane> lanes, int room);

// A lease, as its holder knows it.
struct Held {
  std::int64_t task = 0;
  std::int64_t token = 0;
  bool operator==(const Held&) const = default;
};
// Of the tasks that are leased to a worker, those that it was given without hearing of it: the answer to its claim was
// lost. Nobody works on them; left alone they would look as if they had been the death of their worker.
std::vector<Held> unheard(std::span<const Task> leased, std::span<const Held> known);

// REQUIRES: task.state is ready.
void lease(Task& task, const std::string& worker, Millis now, const Policy& policy);

// --- while it is worked on -----------------------------------------------------------------------------------------

// The first lease of a step's task: the step and the job are running.
void start_step(JobDesk& desk, StepKind kind);

enum class Ending : std::uint8_t {
  done,       // `result` is published
  failed,     // for good
  again,      // later, `error` says why; counts as an attempt
  give_back,  // now, by anybody; does not count
};
struct Outcome {
  std::int64_t task = 0;
  std::int64_t token = 0;
  Ending ending = Ending::done;
  PageOutcome page = PageOutcome::none;  // of `read` tasks
  std::string result;                    // blob key
  std::string error;                     // may be shown to whoever sent the job
  std::string code;                      // failed: the same for programs, of `split` and `assemble`; empty = none
  std::string for_log;                   // give_back: why, with what only we may see; empty = `error` says it all
  std::string detail;                    // JSON object for the event: reader, model, ms…; empty = none
  Millis delay =
      0;  // again, give_back: not before this time has passed; 0 = by the policy (again), at once (give_back)
  // split: what it found out. assemble: what it made.
  std::vector<int> pages;  // split: the pages to read
  int pages_total = 0;
  std::string info;
  std::string job_result;
};
enum class Verdict : std::uint8_t {
  accepted,
  late,       // somebody else has the task now, or had it last
  cancelled,  // the job was cancelled
  repeated,   // this very commit was accepted before: its answer was lost on the way
};
Verdict commit(JobDesk& desk, Task& task, const Outcome& outcome);

// The lease ended with its worker. `blamed`: the worker's death may be this task's doing.
void lose(JobDesk& desk, Task& task, bool blamed);
// Of the tasks that one worker lost together, those that are to blame: the ones most suspected already.
std::vector<bool> blame(std::span<const Task> lost);

// --- from outside --------------------------------------------------------------------------------------------------

// `open`: the job's tasks that are not over. False: the job was over already.
bool cancel(JobDesk& desk, std::span<Task> open, const std::string& why);
bool deadline_passed(const Job& job, Millis now);
// REQUIRES: deadline_passed().
void pass_deadline(JobDesk& desk, std::span<Task> open);
// `failed`: the job's tasks of one kind that failed (also pages that were read with that outcome); `later`: the tasks
// of the steps after theirs, which are to be done anew. False: there is nothing to retry, the job is not over or was
// cancelled, or its deadline has passed.
bool retry(JobDesk& desk, std::span<Task> failed, std::span<Task> later);

// Doubling: first, 2 first, 4 first… at most `most`. `attempts` counts from 1.
Millis backoff(int attempts, Millis first, Millis most);

}  // namespace lectern::job
