// How long a request takes once it has a slot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::sim {

// Seconds as a person writes them: "0.5", "0.5s", "20ms".
Result<double> parse_seconds(std::string_view text);

struct LatencyModel {
  enum class Kind : std::uint8_t { fixed, lognormal, tokens };
  Kind kind = Kind::fixed;
  double mean_s = 0;            // fixed, lognormal
  double sigma = 0;             // lognormal: of the logarithm
  double prefill_per_s = 1000;  // tokens
  double decode_per_s = 50;     // tokens
  bool operator==(const LatencyModel&) const = default;
};

// "fixed:0.5s", "lognormal:0.5s,0.4" (mean, sigma), "tokens:8000,60" (prompt tokens and reply tokens per second).
Result<LatencyModel> parse_latency(std::string_view text);
std::string to_string(const LatencyModel& model);

struct Work {
  double prefill_s = 0;  // until the first token
  double decode_s = 0;   // from the first token to the last
  double total_s() const { return prefill_s + decode_s; }
};

struct WorkSize {
  std::uint64_t seed = 0;
  std::uint64_t request = 0;  // its number
  int prompt_tokens = 0;
  int completion_tokens = 0;
};
Work work_of(const LatencyModel& model, const WorkSize& size);

}  // namespace lectern::sim
