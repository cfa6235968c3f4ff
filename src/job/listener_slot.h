// Whom a database tells about its commits, and what. For implementations of Database.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "job/database.h"

namespace lectern::job {

// What a transaction wants known once it is committed.
struct Hints {
  bool work = false;
  std::set<std::string> jobs;

  bool any() const { return work || !jobs.empty(); }
  void add(const Hints& more) {
    work = work || more.work;
    jobs.insert(more.jobs.begin(), more.jobs.end());
  }
};

// Safe from any thread. After set() has returned, the listener before is not called any more.
class ListenerSlot {
 public:
  void set(Database::Listener listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
  }
  bool used() const {
    const std::lock_guard lock(mutex_);
    return listener_.work || listener_.job;
  }
  void tell(const Hints& hints) const {
    if (!hints.any()) return;
    const std::lock_guard lock(mutex_);
    if (hints.work && listener_.work) listener_.work();
    if (!listener_.job) return;
    for (const std::string& job : hints.jobs) listener_.job(job);
  }
  // Anything may have changed.
  void tell_all() const { tell({.work = true, .jobs = {""}}); }

 private:
  mutable std::mutex mutex_;  // guards all below
  Database::Listener listener_;
};

}  // namespace lectern::job
