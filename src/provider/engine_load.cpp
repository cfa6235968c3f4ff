#include "provider/engine_load.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "provider/sse.h"

namespace lectern::provider {
namespace {

constexpr double figure_max = 1e6;  // no server has more requests; what says so is no figure

// "name{labels} value [timestamp]": the value, if the line is a sample of `name`.
std::optional<double> sample_of(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  line.remove_prefix(name.size());
  if (line.starts_with('{')) {
    // A brace in a label's value stands in quotes.
    bool quoted = false;
    std::size_t end = 1;
    for (; end < line.size() && (quoted || line[end] != '}'); ++end) {
      if (line[end] == '\\') {
        ++end;
      } else if (line[end] == '"') {
        quoted = !quoted;
      }
    }
    if (end >= line.size()) return std::nullopt;
    line.remove_prefix(end + 1);
  }
  if (!line.starts_with(' ')) return std::nullopt;  // another name that begins like this one
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  double value = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0 || value > figure_max) return std::nullopt;
  return value;
}

void add(std::optional<int>& to, double value) {
  to = to.value_or(0) + static_cast<int>(std::min(value, figure_max - to.value_or(0)));
}

}  // namespace

std::optional<LoadFigures> parse_slots(std::string body) {
  body.reserve(body.size() + SseParser::padding);
  simdjson::dom::parser parser;
  simdjson::dom::array slots;
  if (parser.parse(body.data(), body.size(), false).get_array().get(slots) != simdjson::SUCCESS) return std::nullopt;
  LoadFigures figures{.slots = 0, .running = 0, .waiting = std::nullopt};
  for (const simdjson::dom::element slot : slots) {
    bool busy = false;
    if (slot["is_processing"].get(busy) != simdjson::SUCCESS) return std::nullopt;
    *figures.slots += 1;
    *figures.running += busy ? 1 : 0;
  }
  if (*figures.slots == 0) return std::nullopt;
  return figures;
}

std::optional<LoadFigures> parse_metrics(std::string_view text) {
  LoadFigures figures;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const std::string_view name : {"vllm:num_requests_running", "sglang:num_running_reqs"}) {
      if (const auto value = sample_of(line, name)) add(figures.running, *value);
    }
    for (const std::string_view name : {"vllm:num_requests_waiting", "sglang:num_queue_reqs"}) {
      if (const auto value = sample_of(line, name)) add(figures.waiting, *value);
    }
  }
  if (!figures.running && !figures.waiting) return std::nullopt;
  return figures;
}

LoadHint hint_from(const LoadFigures& figures, int ours) {
  const int running = figures.running.value_or(0);
  const int waiting = figures.waiting.value_or(0);
  LoadHint hint{.slots = figures.slots, .others = std::max(0, running + waiting - ours), .crowded = false};
  const bool full = figures.slots && running >= *figures.slots;
  hint.crowded = hint.others > 0 && (waiting > 0 || full);
  return hint;
}

}  // namespace lectern::provider
