// What a bench found, and how it is shown. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace lectern::cli {

struct BenchRow {
  int parallel = 0;  // 0 = auto
  int limit = 0;     // requests in flight that it allowed at the end
  int requests = 0;
  int failed = 0;
  double seconds = 0;
  std::int64_t completion_tokens = 0;
  std::vector<double> latencies_ms;        // of answered requests, from sending to the last byte
  std::optional<double> slot_utilisation;  // 0..1, where the engine tells
  double cpu_ms = 0;                       // of this program and its renderers, per request
  std::int64_t memory_bytes = 0;           // the same, at its highest
};

// The value that `share` of them do not exceed; 0 when there are none. `sorted` ascends.
double percentile(const std::vector<double>& sorted, double share);

// The table's first line, and one for each row.
std::string bench_head(bool tiny);
std::string bench_line(const BenchRow& row);
std::string bench_json(const std::vector<BenchRow>& rows, bool tiny);

// "1,4,auto" → 1, 4, 0. Errors: anything else.
Result<std::vector<int>> parse_parallel_list(const std::string& text);

}  // namespace lectern::cli
