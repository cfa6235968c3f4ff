// job/: durable jobs: model, stores (SQLite | PostgreSQL), blobs (folder | S3), worker loop.
// May use: reading/ and everything below it. Knows nothing of HTTP requests or commands.
// Start here (what is stored), then decide.h (how it changes), ledger.h (what a database must do), store.h (what
// workers and the service call), blobs.h (where bytes live), worker.h (who does the work).
//
// A job is a durable request for one operation on one document. It has steps, done one after another; a step has tasks,
// done in any order by anybody. All of it are plain values; docs/jobs.md explains what they promise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::job {

using Millis = std::int64_t;  // since 1970, UTC, by the clock of the database

enum class Phase : std::uint8_t { queued, running, succeeded, failed, cancelled };  // of jobs and steps
inline bool over(Phase phase) {
  return phase == Phase::succeeded || phase == Phase::failed || phase == Phase::cancelled;
}

enum class StepKind : std::uint8_t { split, read, assemble, deliver };

enum class TaskState : std::uint8_t {
  waiting,      // for a moment: Task::not_before
  ready,        // for a worker
  leased,       // a worker has it until Task::lease_until
  done,         // its result is published
  failed,       // will not be tried again by itself; Task::error says why
  quarantined,  // failed, because its workers died over it
  cancelled,
};
inline bool over(TaskState state) {
  return state != TaskState::waiting && state != TaskState::ready && state != TaskState::leased;
}

enum class PageOutcome : std::uint8_t { none, ok, fallback, failed };

// Where the document comes from and what is wanted of it. Opaque to the store.
struct NewJob {
  std::string id;  // new_job_id()
  std::string tenant = "default";
  std::string operation = "read";  // "read" or "ocr"
  int priority = 0;                // higher goes first; -100..100
  std::string document;            // its name, as the sender calls it
  std::string source;              // blob key of the original, or the URL to fetch it from
  std::string sha256;              // of the original, where known
  std::int64_t bytes = 0;
  std::string options = "{}";  // JSON, see request.h
  std::string secret;          // JSON (document password, webhook secret); wiped once it is not needed
  std::string webhook;         // URL; empty = no deliver step
  std::optional<Millis> deadline;
  std::string idempotency_key;  // empty = none; unique within a tenant
  std::string fingerprint;      // of the request: the same key with another request is a conflict
  bool operator==(const NewJob&) const = default;
};

struct Counts {
  int ok = 0;
  int fallback = 0;
  int failed = 0;
  bool operator==(const Counts&) const = default;
};

struct Job {
  NewJob request;
  Phase phase = Phase::queued;
  Counts pages;
  int pages_total = 0;     // known once split is done
  std::string info;        // JSON that split leaves for the later steps
  std::string result;      // JSON that assemble leaves: format → blob key
  std::string error;       // why it failed or was cancelled
  std::string error_code;  // the same for programs, where there is a name for it: "too_many_pages"
  Millis created_at = 0;
  std::optional<Millis> started_at;
  std::optional<Millis> finished_at;
  std::int64_t event_count = 0;  // number of the job's last event
  int round = 1;                 // counts the retries of failed pages: what an older round left is not published
  bool operator==(const Job&) const = default;
};

struct Step {
  std::string job;
  StepKind kind = StepKind::split;
  Phase phase = Phase::queued;
  int done = 0;   // tasks that are over, however they ended
  int total = 0;  // 0 until it is known
  std::string error;
  std::optional<Millis> started_at;
  std::optional<Millis> finished_at;
  bool operator==(const Step&) const = default;
};

struct Task {
  std::int64_t id = 0;  // given by the store, ascending
  std::string job;
  StepKind kind = StepKind::split;
  int number = 1;  // page number in `read`, else 1
  std::string tenant;
  int priority = 0;
  TaskState state = TaskState::ready;
  std::int64_t token = 0;  // counts the leases; whoever does not hold the last one is refused
  std::string worker;      // who holds or last held it
  Millis lease_until = 0;
  Millis not_before = 0;
  int attempts = 0;    // leases that were worked on: given back ones are taken off again
  int losses = 0;      // leases that ended with their worker
  bool alone = false;  // suspected to kill workers: a worker holds at most one such task at a time
  PageOutcome outcome = PageOutcome::none;
  std::string result;  // blob key of what it made
  std::string error;
  std::optional<Millis> started_at;  // of the last lease
  std::optional<Millis> finished_at;
  bool operator==(const Task&) const = default;
};

// The story of a job, in order and without gaps: `number` counts from 1 within the job.
struct Event {
  std::string job;
  std::int64_t number = 0;
  Millis at = 0;
  std::string kind;  // "job.queued", "step.started", "page.done", "page.lost"…; docs/jobs.md lists them
  std::string data;  // JSON
  bool operator==(const Event&) const = default;
};

struct JobView {  // a job with its steps, in their order
  Job job;
  std::vector<Step> steps;
  bool operator==(const JobView&) const = default;
};

// An API key. The key itself is shown once and never stored.
struct ApiKey {
  std::string id;
  std::string name;
  std::string tenant = "default";
  std::string sha256;  // of the key
  std::string scopes;  // "submit read admin", any of them
  Millis created_at = 0;
  std::optional<Millis> revoked_at;
  bool operator==(const ApiKey&) const = default;
};

std::string_view to_string(Phase phase);
std::string_view to_string(StepKind kind);
std::string_view to_string(TaskState state);
std::string_view to_string(PageOutcome outcome);
std::optional<Phase> phase_from(std::string_view name);
std::optional<StepKind> step_kind_from(std::string_view name);

}  // namespace lectern::job
