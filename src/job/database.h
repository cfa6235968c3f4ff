// A database that holds jobs: runs transactions on threads of its own, so that nobody waits for a disk or a network on
// the event loop. Implementations: make_memory_database (memory/), open_sqlite (sqlite/), open_postgres
// (postgres/).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/error.h"
#include "job/ledger.h"

namespace lectern::job {

class Database {
 public:
  virtual ~Database() = default;

  enum class Access : std::uint8_t { read, write };
  // What is done inside the transaction. An error rolls back. It may run more than once (a deadlock, a lost connection
  // before the commit was sent): it must not leave anything outside of the ledger but its last result.
  using Work = std::function<Status(Ledger& ledger)>;

  // Runs `work` in a transaction, then calls `done` on a thread of the database. With success all is durable. An error
  // of kind `unavailable` after the commit was sent means that nobody knows: callers repeat, and operations bear that.
  // Safe from any thread. The destructor waits for what was submitted.
  virtual void run(Access access, Work work, std::function<void(Status)> done) = 0;

  struct Listener {
    std::function<void()> work;                       // there may be ready tasks
    std::function<void(const std::string& job)> job;  // this job changed; empty: any may have
  };
  // Calls the listener, on a thread of the database, after commits here and in other processes. Hints: they may come
  // without reason, and after a lost connection one of each comes to be safe. Only one listener: Store's.
  virtual void listen(Listener listener) = 0;

  virtual std::string description() const = 0;  // for logs and `lectern doctor`; without passwords
};

}  // namespace lectern::job
