#include "provider/latency_sample.h"

#include <algorithm>
#include <cmath>

namespace lectern::provider {

namespace {

// A larger limit is worth it from this elasticity on: doubling it must give at least 19% more. Real engines pass from
// 0.4 and more below the knee to 0.1 beyond it.
constexpr double elasticity_min = 0.25;
constexpr double error_min = 0.01;

}  // namespace

void LatencySample::add(double latency, double first_byte, double in_flight) {
  count += 1;
  sum += latency;
  sum_of_squares += latency * latency;
  first_byte_sum += first_byte;
  first_byte_sum_of_squares += first_byte * first_byte;
  in_flight_sum += in_flight;
}

void LatencySample::add(const LatencySample& other, double weight) {
  count += weight * other.count;
  sum += weight * other.sum;
  sum_of_squares += weight * other.sum_of_squares;
  first_byte_sum += weight * other.first_byte_sum;
  first_byte_sum_of_squares += weight * other.first_byte_sum_of_squares;
  in_flight_sum += weight * other.in_flight_sum;
}

double LatencySample::relative_error() const {
  const double variance = std::max(0.0, sum_of_squares / count - mean() * mean());
  return std::sqrt(variance / std::max(1.0, count - 1)) / mean();
}

double LatencySample::first_byte_error() const {
  const double variance = std::max(0.0, first_byte_sum_of_squares / count - first_byte() * first_byte());
  return std::sqrt(variance / std::max(1.0, count - 1));
}

double relative_error(const LatencySample& one, const LatencySample& other) {
  return std::max(error_min, std::hypot(one.relative_error(), other.relative_error()));
}

Comparison compare(const LatencySample& lower, const LatencySample& higher) {
  Comparison out;
  out.full = std::log(std::max(1.0, higher.in_flight() / lower.in_flight()));
  out.needed = elasticity_min * out.full;
  out.estimate = std::log(higher.throughput() / lower.throughput());
  out.error = relative_error(lower, higher);
  const double queueing = std::max(0.0, higher.first_byte() - lower.first_byte()) / lower.mean();
  out.ceiling = out.full - std::log1p(queueing);
  const double first_byte_error = std::hypot(lower.first_byte_error(), higher.first_byte_error()) / lower.mean();
  out.ceiling_error = std::max(error_min, first_byte_error / (1 + queueing));
  return out;
}

}  // namespace lectern::provider
