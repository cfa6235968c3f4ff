// When a worker does what: renewing, sweeping, trying a store again that is away. Pure functions.
#pragma once

#include <chrono>
#include <optional>

#include "base/error.h"
#include "job/decide.h"

namespace lectern::job {

// Leases are renewed three times in their time: two renewals may fail before one is lost.
std::chrono::milliseconds renew_interval(const Policy& policy);

// After an outage everybody's leases look expired. Those who live renew theirs first; only then is anybody given up.
std::chrono::milliseconds sweep_after_outage(const Policy& policy);

// About a second, so that many workers do not sweep at the same moment; sooner when a waiting task's moment comes
// before that. `uniform` is in [0, 1); `now` is our own clock, so `next_wake` is a hint and no more.
std::chrono::milliseconds next_sweep(double uniform, std::optional<Millis> next_wake, Millis now);

// How long to wait for a store that did not answer: 100 ms, doubling up to 2 s, the last half of it by chance.
// `failures` counts from 1.
std::chrono::milliseconds store_backoff(int failures, double uniform);

// Whether the same call may succeed later. Otherwise something is wrong with what was sent.
bool may_pass(ErrorKind kind);

}  // namespace lectern::job
