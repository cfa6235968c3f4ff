// A Database whose transactions run at once, on the thread that asks: what stands above the store can be tested step by
// step. It can be away, or lose its answers.
#pragma once

#include <functional>
#include <utility>

#include "base/clock.h"
#include "job/database.h"
#include "job/memory/memory_ledger.h"

namespace lectern::job {

// Owned by the test; the store gets an InlineDatabase that borrows it.
struct InlineState {
  explicit InlineState(const Clock& c) : clock(c) {}

  const Clock& clock;
  MemoryTables tables;
  bool away = false;
  int lost_answers = 0;  // of the next commits: done, but nobody learns it
  std::function<Status(Ledger&)> before_write;
  int reads = 0;
  int writes = 0;
  int refused = 0;  // calls while it was away
  Database::Listener listener;
};

class InlineDatabase final : public Database {
 public:
  explicit InlineDatabase(InlineState& state) : state_(state) {}

  void run(Access access, Work work, std::function<void(Status)> done) override {
    if (state_.away) {
      ++state_.refused;
      return done(fail(ErrorKind::unavailable, "the database is away"));
    }
    ++(access == Access::read ? state_.reads : state_.writes);
    const MemoryTables before = state_.tables;
    const auto since = state_.clock.wall().time_since_epoch();
    MemoryLedger ledger(state_.tables, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    Status status = work(ledger);
    if (status && access == Access::write && state_.before_write) status = state_.before_write(ledger);
    if (!status) state_.tables = before;
    if (status && access == Access::write && state_.lost_answers > 0) {
      --state_.lost_answers;
      done(fail(ErrorKind::unavailable, "the connection broke while committing"));
    } else {
      done(status);
    }
    if (!status) return;
    if (ledger.workers_told() && state_.listener.work) state_.listener.work();
    for (const std::string& job : ledger.watched_jobs()) {
      if (state_.listener.job) state_.listener.job(job);
    }
  }

  void listen(Listener listener) override { state_.listener = std::move(listener); }
  std::string description() const override { return "inline (for tests)"; }

 private:
  InlineState& state_;
};

}  // namespace lectern::job
