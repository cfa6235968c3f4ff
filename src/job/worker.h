// The worker loop: claims tasks as long as there is room, lets handlers do them, renews the leases, commits in batches,
// sweeps; and stops so that nothing is lost. One event loop; the handlers decide what runs elsewhere.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/random.h"
#include "base/timers.h"
#include "job/store.h"

namespace lectern::job {

// One task in a worker's hand.
struct Work {
  Task task;
  Job job;
  Cancellation cancellation;  // the lease was lost, the job was cancelled, or the worker stops: give up soon
};

// Does tasks of one step. Calls overlap. Never throws for what can be expected: an Outcome says it. Outcome::task and
// Outcome::token are filled in by the worker. After a cancellation the outcome does not matter.
class Handler {
 public:
  virtual ~Handler() = default;
  virtual boost::asio::awaitable<Outcome> handle(Work work) = 0;
  // Told when a commit was refused, so that what was written for nothing can be removed.
  virtual boost::asio::awaitable<void> refused(Outcome outcome) = 0;
};

struct WorkerOptions {
  std::string name;                         // new_worker_name()
  std::map<StepKind, Handler*> handlers;    // borrowed; only these steps are claimed
  std::function<int()> room;                // how many tasks it may have in hand, now; at least 1
  Timers* timers = nullptr;                 // borrowed
  Random* random = nullptr;                 // borrowed; for jitter
  Cancellation stop;                        // no new tasks; those in hand have `grace` to end
  std::chrono::milliseconds grace{25'000};  // then they are cancelled and given back
  Cancellation stop_now;                    // ends the grace
};

struct WorkerFigures {
  std::int64_t claimed = 0;
  std::int64_t committed = 0;
  std::int64_t late = 0;       // commits that were refused: somebody else had the task
  std::int64_t cancelled = 0;  // commits that were refused: the job was cancelled
  std::int64_t lost = 0;       // leases that could not be renewed
  int in_hand = 0;
};

class Worker {
 public:
  Worker(Store& store, WorkerOptions options);
  ~Worker();

  // Until options.stop and the end of what was in hand. A store that does not answer is waited for, with backoff.
  boost::asio::awaitable<void> run();
  WorkerFigures figures() const;  // from the loop's thread

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace lectern::job
