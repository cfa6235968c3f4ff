// What happens in one transaction: load by a Ledger, decide (decide.h), write. Blocks; called on database threads and
// by the simulation. Errors of the ledger come back as they are and the transaction is rolled back by whoever opened
// it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/ledger.h"

namespace lectern::job {

struct Submitted {
  JobView job;
  bool existed = false;  // the same Idempotency-Key and request came before: this is that job
};
// Errors: conflict (the idempotency key belongs to another request).
Result<Submitted> submit(Ledger& ledger, const Policy& policy, NewJob request);

struct ClaimRequest {
  std::string worker;
  std::vector<StepKind> kinds;
  int room = 1;
  bool alone = true;  // the worker has no suspect in hand and may be given one
  // Set where an earlier claim got no answer: all leases that the worker knows of. What it was given besides is given
  // to it again, before anything else.
  std::optional<std::vector<Held>> known;
};
struct Leased {
  Task task;
  bool first = false;  // nothing of its step was begun: call begin_steps()
};
Result<std::vector<Leased>> claim(Ledger& ledger, const Policy& policy, const ClaimRequest& request);
// Marks the steps of these tasks as running. Apart from claim(), which locks no jobs.
Status begin_steps(Ledger& ledger, const Policy& policy, std::span<const Leased> leased);

// The tasks that are still held; the others were lost or cancelled and are to be dropped at once.
Result<std::vector<std::int64_t>> renew(Ledger& ledger, const Policy& policy, std::span<const Held> held);

// One verdict for each outcome, in order.
Result<std::vector<Verdict>> commit_tasks(Ledger& ledger, const Policy& policy, std::span<const Outcome> outcomes);

struct Swept {
  int woken = 0;
  int lost = 0;
  int quarantined = 0;
  int past_deadline = 0;
  std::optional<Millis> next_wake;
};
// Wakes, expires and passes deadlines, a bounded number at a time: call it about once a second.
Result<Swept> sweep(Ledger& ledger, const Policy& policy);

// Errors: not_found, conflict (it is over already; nothing to retry).
Result<JobView> cancel_job(Ledger& ledger, const Policy& policy, std::string_view id, const std::string& why);
Result<JobView> retry_job(Ledger& ledger, const Policy& policy, std::string_view id);

}  // namespace lectern::job
