#include "job/worker_hand.h"

#include <algorithm>
#include <utility>

namespace lectern::job {

void Hand::take(const Task& task, Cancellation cancellation) {
  leases_.insert_or_assign(key_of(task), Lease{.task = task, .cancellation = std::move(cancellation)});
}

bool Hand::has_suspect() const {
  return std::ranges::any_of(leases_, [](const auto& entry) { return entry.second.task.alone; });
}

std::vector<Held> Hand::held() const {
  std::vector<Held> held;
  for (const auto& [key, lease] : leases_) {
    if (lease.held) held.push_back({.task = key.task, .token = key.token});
  }
  return held;
}

std::vector<Held> Hand::all() const {
  std::vector<Held> all;
  for (const auto& [key, lease] : leases_) all.push_back({.task = key.task, .token = key.token});
  return all;
}

std::vector<Cancellation> Hand::renewed(std::span<const Held> asked, std::span<const std::int64_t> still) {
  std::vector<Cancellation> lost;
  for (const Held& one : asked) {
    if (std::ranges::find(still, one.task) != still.end()) continue;
    const auto at = leases_.find({one.task, one.token});
    if (at == leases_.end() || !at->second.held || !at->second.working) continue;
    at->second.held = false;
    lost.push_back(at->second.cancellation);
  }
  return lost;
}

std::vector<Cancellation> Hand::give_back() {
  std::vector<Cancellation> given;
  for (auto& [key, lease] : leases_) {
    if (!lease.working || !lease.held) continue;
    lease.held = false;
    lease.outcome = Outcome{.task = key.task, .token = key.token, .ending = Ending::give_back};
    given.push_back(lease.cancellation);
  }
  return given;
}

bool Hand::ended(const LeaseKey& key, Outcome outcome) {
  Lease& lease = leases_.at(key);
  if (!lease.held) return false;
  lease.working = false;
  lease.outcome = std::move(outcome);
  return true;
}

void Hand::left(const LeaseKey& key) {
  const auto lease = leases_.find(key);
  lease->second.working = false;
  lease->second.held = false;
  leave_if_over(lease);
}

std::vector<Outcome> Hand::take_outcomes(std::size_t limit) {
  std::vector<Outcome> taken;
  for (auto& [key, lease] : leases_) {
    if (taken.size() >= limit) break;
    if (!lease.outcome) continue;
    taken.push_back(*std::exchange(lease.outcome, std::nullopt));
    lease.sent = true;
  }
  return taken;
}

void Hand::settled(const LeaseKey& key) {
  const auto lease = leases_.find(key);
  lease->second.sent = false;
  lease->second.held = false;
  leave_if_over(lease);
}

void Hand::leave_if_over(std::map<LeaseKey, Lease>::iterator lease) {
  if (!lease->second.working && !lease->second.sent && !lease->second.outcome) leases_.erase(lease);
}

}  // namespace lectern::job
