#include "engine/sim/fault.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <vector>

#include "engine/sim/draw.h"
#include "engine/sim/latency.h"

namespace lectern::sim {
namespace {

constexpr std::array<std::string_view, fault_kinds> names = {"429",
                                                             "503",
                                                             "oom",
                                                             "drop",
                                                             "hang",
                                                             "hang-mid-stream",
                                                             "cut",
                                                             "slow-bytes",
                                                             "garbage",
                                                             "wrong-content-type",
                                                             "loop",
                                                             "truncated",
                                                             "empty",
                                                             "refusal",
                                                             "error-in-stream",
                                                             "abort"};
constexpr std::uint64_t purpose = 0x666175;

template <class T>
bool parse_number(std::string_view text, T& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc{} && end == text.data() + text.size();
}

bool parse_time(std::string_view text, double& to) {
  const auto seconds = parse_seconds(text);
  if (seconds) to = *seconds;
  return seconds.has_value();
}

bool set_key(FaultRule& rule, std::string_view key, std::string_view value) {
  if (key == "rate") return parse_number(value, rule.rate) && rule.rate >= 0 && rule.rate <= 1;
  if (key == "first") return parse_number(value, rule.first);
  if (key == "after") return parse_number(value, rule.after);
  if (key == "every") return parse_number(value, rule.every) && rule.every > 0;
  if (key == "from") return parse_time(value, rule.from_s);
  if (key == "until") return parse_time(value, rule.until_s);
  if (key == "by") return rule.by_image = value == "image", value == "image" || value == "request";
  if (key == "image") return rule.image = value, value.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (key == "retry-after" && (rule.kind == FaultKind::too_many || rule.kind == FaultKind::unavailable))
    return parse_time(value, rule.retry_after_s.emplace());
  if (key == "bytes" && rule.kind == FaultKind::slow_bytes) return parse_number(value, rule.bytes) && rule.bytes > 0;
  if (key == "interval" && rule.kind == FaultKind::slow_bytes) return parse_time(value, rule.interval_s);
  return false;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

bool hits(const FaultRule& rule, std::uint64_t index, const FaultSubject& subject) {
  if (subject.request <= rule.after || subject.request - rule.after > rule.first) return false;
  if ((subject.request - rule.after - 1) % rule.every != rule.every - 1) return false;
  if (subject.elapsed_s < rule.from_s || subject.elapsed_s >= rule.until_s) return false;
  if (!rule.image.empty() && !to_hex(*subject.digest).starts_with(rule.image)) return false;
  if (rule.rate >= 1) return true;
  std::uint64_t number = subject.request;
  if (rule.by_image) std::memcpy(&number, subject.digest->data(), sizeof number);
  return draw(subject.seed, number, purpose + index) < rule.rate;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  return names[static_cast<std::size_t>(kind)];
}

Result<FaultRule> parse_fault(std::string_view text) {
  const std::vector<std::string_view> parts = split(text);
  const auto* const name = std::find(names.begin(), names.end(), parts[0]);
  if (name == names.end())
    return fail(ErrorKind::invalid_input, "no fault is called '{}'; there are {}", parts[0], fmt::join(names, ", "));
  FaultRule rule{.kind = static_cast<FaultKind>(name - names.begin())};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    const std::string_view key = equals == std::string_view::npos ? "rate" : parts[i].substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? parts[i] : parts[i].substr(equals + 1);
    if (!set_key(rule, key, value))
      return fail(ErrorKind::invalid_input,
                  "fault '{}': '{}' is not understood; write a rate from 0 to 1, or first=N, after=N, every=N, from=S, "
                  "until=S, by=image, image=HEX, retry-after=S (429, 503), bytes=N and interval=S (slow-bytes)",
                  text, parts[i]);
  }
  return rule;
}

std::string to_string(const FaultRule& rule) {
  const FaultRule plain;
  std::string text(to_string(rule.kind));
  if (rule.rate != plain.rate) text += fmt::format(":{}", rule.rate);
  if (rule.by_image) text += ":by=image";
  if (!rule.image.empty()) text += ":image=" + rule.image;
  if (rule.after != plain.after) text += fmt::format(":after={}", rule.after);
  if (rule.first != plain.first) text += fmt::format(":first={}", rule.first);
  if (rule.every != plain.every) text += fmt::format(":every={}", rule.every);
  if (rule.from_s != plain.from_s) text += fmt::format(":from={}s", rule.from_s);
  if (rule.until_s != plain.until_s) text += fmt::format(":until={}s", rule.until_s);
  if (rule.retry_after_s) text += fmt::format(":retry-after={}s", *rule.retry_after_s);
  if (rule.bytes != plain.bytes) text += fmt::format(":bytes={}", rule.bytes);
  if (rule.interval_s != plain.interval_s) text += fmt::format(":interval={}s", rule.interval_s);
  return text;
}

const FaultRule* choose_fault(std::span<const FaultRule> rules, const FaultSubject& subject) {
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (hits(rules[i], i, subject)) return &rules[i];
  return nullptr;
}

}  // namespace lectern::sim
