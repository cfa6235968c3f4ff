// The columns that every database has, in the order in which rows are read and written, and how a row becomes a value.
// `Row` gives one column after another: text(), number(), maybe_number().
#pragma once

#include "job/model.h"
#include "job/row_codes.h"

// Macros, so that they can stand inside the text of a statement.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define LECTERN_JOB_COLUMNS                                                                                         \
  "id, tenant, operation, priority, document, source, sha256, bytes, options, secret, webhook, deadline, "          \
  "idempotency_key, fingerprint, phase, pages_ok, pages_fallback, pages_failed, pages_total, info, result, error, " \
  "created_at, started_at, finished_at, event_count, round, error_code"
#define LECTERN_STEP_COLUMNS "job, kind, phase, done, total, error, started_at, finished_at"
#define LECTERN_TASK_COLUMNS                                                                                   \
  "id, job, kind, number, tenant, priority, state, token, worker, lease_until, not_before, attempts, losses, " \
  "alone, outcome, result, error, started_at, finished_at"
#define LECTERN_EVENT_COLUMNS "job, number, at, kind, data"
#define LECTERN_KEY_COLUMNS "id, name, tenant, sha256, scopes, created_at, revoked_at"
// NOLINTEND(cppcoreguidelines-macro-usage)

namespace lectern::job {

constexpr std::string_view after_all_ids = "\xF4\x8F\xBF\xBF";  // the last character there is

template <class Row>
Job read_job(Row& row) {
  Job job;
  NewJob& request = job.request;
  request.id = row.text();
  request.tenant = row.text();
  request.operation = row.text();
  request.priority = static_cast<int>(row.number());
  request.document = row.text();
  request.source = row.text();
  request.sha256 = row.text();
  request.bytes = row.number();
  request.options = row.text();
  request.secret = row.text();
  request.webhook = row.text();
  request.deadline = row.maybe_number();
  request.idempotency_key = row.text();
  request.fingerprint = row.text();
  job.phase = from_code<Phase>(row.number());
  job.pages.ok = static_cast<int>(row.number());
  job.pages.fallback = static_cast<int>(row.number());
  job.pages.failed = static_cast<int>(row.number());
  job.pages_total = static_cast<int>(row.number());
  job.info = row.text();
  job.result = row.text();
  job.error = row.text();
  job.created_at = row.number();
  job.started_at = row.maybe_number();
  job.finished_at = row.maybe_number();
  job.event_count = row.number();
  job.round = static_cast<int>(row.number());
  job.error_code = row.text();
  return job;
}

template <class Row>
Step read_step(Row& row) {
  Step step;
  step.job = row.text();
  step.kind = from_code<StepKind>(row.number());
  step.phase = from_code<Phase>(row.number());
  step.done = static_cast<int>(row.number());
  step.total = static_cast<int>(row.number());
  step.error = row.text();
  step.started_at = row.maybe_number();
  step.finished_at = row.maybe_number();
  return step;
}

template <class Row>
Task read_task(Row& row) {
  Task task;
  task.id = row.number();
  task.job = row.text();
  task.kind = from_code<StepKind>(row.number());
  task.number = static_cast<int>(row.number());
  task.tenant = row.text();
  task.priority = static_cast<int>(row.number());
  task.state = from_code<TaskState>(row.number());
  task.token = row.number();
  task.worker = row.text();
  task.lease_until = row.number();
  task.not_before = row.number();
  task.attempts = static_cast<int>(row.number());
  task.losses = static_cast<int>(row.number());
  task.alone = row.number() != 0;
  task.outcome = from_code<PageOutcome>(row.number());
  task.result = row.text();
  task.error = row.text();
  task.started_at = row.maybe_number();
  task.finished_at = row.maybe_number();
  return task;
}

template <class Row>
Event read_event(Row& row) {
  Event event;
  event.job = row.text();
  event.number = row.number();
  event.at = row.number();
  event.kind = row.text();
  event.data = row.text();
  return event;
}

template <class Row>
ApiKey read_key(Row& row) {
  ApiKey key;
  key.id = row.text();
  key.name = row.text();
  key.tenant = row.text();
  key.sha256 = row.text();
  key.scopes = row.text();
  key.created_at = row.number();
  key.revoked_at = row.maybe_number();
  return key;
}

}  // namespace lectern::job
