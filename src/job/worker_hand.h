// What a worker has in its hand: which leases it holds, what is being worked on, what waits to be committed. A state
// machine with one owner, without clocks, stores or coroutines.
//
// A lease leaves the hand when its handler has ended and its outcome, if it has one, was settled. So everything that
// needs room is counted, also work whose lease is gone but whose handler has not noticed yet.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/cancellation.h"
#include "job/operations.h"

namespace lectern::job {

// One lease. The same task may come back under a new token while the handler of the old one still runs.
struct LeaseKey {
  std::int64_t task = 0;
  std::int64_t token = 0;
  auto operator<=>(const LeaseKey&) const = default;
};
inline LeaseKey key_of(const Task& task) {
  return {task.id, task.token};
}
inline LeaseKey key_of(const Outcome& outcome) {
  return {outcome.task, outcome.token};
}

class Hand {
 public:
  // The cancellation is the handler's.
  void take(const Task& task, Cancellation cancellation);

  int size() const { return static_cast<int>(leases_.size()); }
  const Task& task(const LeaseKey& key) const { return leases_.at(key).task; }
  bool has_suspect() const;        // a task that may be the death of its worker
  std::vector<Held> held() const;  // what is to be renewed
  std::vector<Held> all() const;   // also what is lost already, or on its way to be committed

  // Of those asked about, the ones that are not `still` held are lost, unless their outcome is on its way: then its
  // verdict tells. Returns what to cancel.
  std::vector<Cancellation> renewed(std::span<const Held> asked, std::span<const std::int64_t> still);
  // Gives back at once whatever is being worked on. Returns what to cancel.
  std::vector<Cancellation> give_back();

  // The handler has ended. True: its outcome waits to be committed. False: the lease is gone, the outcome is worth
  // nothing; call left() once nothing of it is left to do.
  bool ended(const LeaseKey& key, Outcome outcome);
  void left(const LeaseKey& key);

  // Those that wait, at most `limit`; each is settled() later.
  std::vector<Outcome> take_outcomes(std::size_t limit);
  void settled(const LeaseKey& key);

 private:
  struct Lease {
    Task task;
    Cancellation cancellation;
    bool working = true;             // its handler runs
    bool held = true;                // as far as we know
    bool sent = false;               // its outcome is being committed
    std::optional<Outcome> outcome;  // waits to be committed
  };
  void leave_if_over(std::map<LeaseKey, Lease>::iterator lease);

  std::map<LeaseKey, Lease> leases_;
};

}  // namespace lectern::job
