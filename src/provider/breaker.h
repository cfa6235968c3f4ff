// When an engine is left alone, and when it is asked again: out after some failures in a row, or one that somebody
// has to mend, or when nobody is there; back when a small real request succeeds. A pure state machine; its owner locks
// and sends the probes.
#pragma once

#include <chrono>
#include <optional>

#include "base/clock.h"
#include "provider/failure.h"

namespace lectern::provider {

class Breaker {
 public:
  struct Options {
    int failures_to_eject = 5;
    std::chrono::nanoseconds patience = std::chrono::seconds(30);
    std::chrono::nanoseconds probe_first = std::chrono::milliseconds(500);
    std::chrono::nanoseconds probe_longest = std::chrono::seconds(5);
  };
  explicit Breaker(Options options) : options_(options) {}

  bool ejected() const { return ejected_; }
  // The last failure that counted against the engine; none since it last answered well.
  const std::optional<Failure>& failure() const { return failure_; }

  // A question failed. True when this ejects the engine. Failures that tell nothing about its health change nothing.
  bool failed(const Failure& failure, TimePoint now);
  // A question, or a probe, was answered: also by a failure that shows the engine at work. True when this readmits it.
  bool answered();

  // While ejected: when to send the next probe, and what became of it.
  TimePoint next_probe() const { return next_probe_; }
  void probe_failed(const Failure& failure, TimePoint now);

  // While ejected: until when questions should wait for it to come back. The past when there is no hope (a wrong key
  // does not get better by waiting), TimePoint::max() while it loads its model.
  TimePoint hope_ends() const;

 private:
  void remember(const Failure& failure, TimePoint now);

  const Options options_;
  bool ejected_ = false;
  int failures_ = 0;  // in a row
  std::optional<Failure> failure_;
  TimePoint hopeful_since_{};
  std::chrono::nanoseconds probe_wait_{0};
  TimePoint next_probe_{};
};

}  // namespace lectern::provider
