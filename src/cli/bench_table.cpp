#include "cli/bench_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lectern::cli {
namespace {

constexpr int parallel_most = 4096;

double per_second(double count, double seconds) {
  return seconds > 0 ? count / seconds : 0;
}

std::string parallel_name(const BenchRow& row) {
  return row.parallel == 0 ? fmt::format("auto ({})", row.limit) : fmt::format("{}", row.parallel);
}

}  // namespace

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string bench_head(bool tiny) {
  return fmt::format("{:>10} {:>8} {:>7} {:>8} {:>10} {:>9} {:>7} {:>7} {:>7} {:>6} {:>8} {:>8}\n", "parallel",
                     tiny ? "requests" : "pages", "failed", "seconds", tiny ? "req/s" : "pages/s", "tokens/s", "p50 ms",
                     "p95 ms", "p99 ms", "slots", "CPU ms", "memory");
}

std::string bench_line(const BenchRow& row) {
  const std::string slots = row.slot_utilisation ? fmt::format("{:.0f}%", *row.slot_utilisation * 100) : "-";
  return fmt::format(
      "{:>10} {:>8} {:>7} {:>8.1f} {:>10.1f} {:>9.0f} {:>7.0f} {:>7.0f} {:>7.0f} {:>6} {:>8.2f} {:>5} MB\n",
      parallel_name(row), row.requests, row.failed, row.seconds, per_second(row.requests - row.failed, row.seconds),
      per_second(static_cast<double>(row.completion_tokens), row.seconds), percentile(row.latencies_ms, 0.5),
      percentile(row.latencies_ms, 0.95), percentile(row.latencies_ms, 0.99), slots, row.cpu_ms,
      row.memory_bytes / 1'000'000);
}

std::string bench_json(const std::vector<BenchRow>& rows, bool tiny) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const BenchRow& row : rows) {
    nlohmann::ordered_json one{{"parallel", nullptr}};
    if (row.parallel > 0) {
      one["parallel"] = row.parallel;
    } else {
      one["parallel"] = "auto";
    }
    one["limit"] = row.limit;
    one["requests"] = row.requests;
    one["failed"] = row.failed;
    one["seconds"] = row.seconds;
    one["per_second"] = per_second(row.requests - row.failed, row.seconds);
    one["tokens_per_second"] = per_second(static_cast<double>(row.completion_tokens), row.seconds);
    one["p50_ms"] = percentile(row.latencies_ms, 0.5);
    one["p95_ms"] = percentile(row.latencies_ms, 0.95);
    one["p99_ms"] = percentile(row.latencies_ms, 0.99);
    if (row.slot_utilisation) one["slot_utilisation"] = *row.slot_utilisation;
    one["cpu_ms"] = row.cpu_ms;
    one["memory_bytes"] = row.memory_bytes;
    list.push_back(std::move(one));
  }
  return nlohmann::ordered_json{{"of", tiny ? "tiny requests" : "pages"}, {"rows", std::move(list)}}.dump(2) + "\n";
}

Result<std::vector<int>> parse_parallel_list(const std::string& text) {
  std::vector<int> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string one = text.substr(start, end - start);
    start = end + 1;
    int value = 0;
    if (one != "auto") {
      const auto [stop, error] = std::from_chars(one.data(), one.data() + one.size(), value);
      if (error != std::errc{} || stop != one.data() + one.size() || value < 1 || value > parallel_most) {
        return fail(ErrorKind::invalid_input,
                    "--parallel: '{}' must be auto or a number from 1 to {}, such as 1,4,auto", one, parallel_most);
      }
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace lectern::cli
