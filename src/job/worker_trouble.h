// What goes wrong around a worker, told once instead of over and over: a store that is away, tasks that cannot be done.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace lectern::job {

// Not thread safe. The clock is borrowed.
class WorkerTrouble {
 public:
  WorkerTrouble(std::string worker, std::string store, const Clock& clock)
      : worker_(std::move(worker)), store_(std::move(store)), clock_(clock) {}

  // Each answer of the store; null = a good one. Returns how long the store was away when this is the first good one
  // after an outage.
  std::optional<std::chrono::milliseconds> heard(const Error* error);

  // A task was given back for this reason. Nothing counts against such a task, so nobody would learn of it otherwise.
  void given_back(const std::string& why);

 private:
  const std::string worker_;
  const std::string store_;
  const Clock& clock_;
  std::optional<TimePoint> away_since_;
  std::string given_back_for_;  // as it was told last
  TimePoint given_back_told_;
};

}  // namespace lectern::job
