// Two limits compared by what requests took at each: the arithmetic of adaptive_limit.h.
#pragma once

#include <algorithm>

namespace lectern::provider {

// What was seen of requests that ran at one limit. Latencies in seconds.
struct LatencySample {
  double count = 0;
  double sum = 0;
  double sum_of_squares = 0;
  double first_byte_sum = 0;
  double first_byte_sum_of_squares = 0;
  double in_flight_sum = 0;  // of each request: how many were in flight on average while it ran

  void add(double latency, double first_byte, double in_flight);
  void add(const LatencySample& other, double weight = 1);
  double mean() const { return sum / count; }
  double first_byte() const { return first_byte_sum / count; }
  double in_flight() const { return in_flight_sum / count; }
  double throughput() const { return in_flight() / mean(); }
  double relative_error() const;    // standard error of the mean, over the mean
  double first_byte_error() const;  // standard error of its mean
};

// Is the higher of two limits worth it? Its gain is estimated twice: from the latencies, and from the time to the first
// byte alone. The second is a ceiling (it takes the rest of an answer to be as quick as at the lower limit), but an
// exact one, as the lengths of the answers do not enter: queueing shows there first.
struct Comparison {
  static constexpr double sure = 1.5;  // standard errors: enough to act on

  double full = 0;    // ln of the limits' ratio: the gain if the engine has room for all
  double needed = 0;  // for the higher one to be worth it
  double estimate = 0;
  double error = 0;
  double ceiling = 0;
  double ceiling_error = 0;

  double gain() const { return std::min(estimate, ceiling); }
  bool worth() const { return gain() >= needed; }
  bool clear(double errors) const {
    if (worth()) return estimate - needed > errors * error;
    return needed - estimate > errors * error || needed - ceiling > errors * ceiling_error;
  }
  // Not clear, yet likelier than that the throughput grows as the limit does, or not at all.
  bool likely() const {
    if (worth()) return estimate > sure * error;
    return queues() || (estimate < needed && estimate + sure * error < full);
  }
  bool queues() const { return ceiling < needed && ceiling + sure * ceiling_error < full; }
};

// REQUIRES: something was seen of both, for these two.
Comparison compare(const LatencySample& lower, const LatencySample& higher);
// Standard error of the ratio of their mean latencies; never nothing, as few samples may be equal by chance.
double relative_error(const LatencySample& one, const LatencySample& other);

}  // namespace lectern::provider
