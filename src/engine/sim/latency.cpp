#include "engine/sim/latency.h"

#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>

#include "engine/sim/draw.h"

namespace lectern::sim {
namespace {

// Of a total that does not say how it divides. About what a page of a thousand prompt tokens costs a small model.
constexpr double prefill_share = 0.25;
constexpr std::uint64_t purpose = 0x6c6174;

std::optional<double> positive(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

double standard_normal(std::uint64_t seed, std::uint64_t number) {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(1 - draw(seed, number, purpose)));
  return radius * std::cos(2 * std::numbers::pi * draw(seed, number, purpose + 1));
}

}  // namespace

Result<double> parse_seconds(std::string_view text) {
  double unit = 1;
  std::string_view number = text;
  if (number.ends_with("ms")) {
    unit = 0.001;
    number.remove_suffix(2);
  } else if (number.ends_with("s")) {
    number.remove_suffix(1);
  }
  const auto value = positive(number);
  if (!value) return fail(ErrorKind::invalid_input, "'{}' is not a time; write for instance 0.5s or 20ms", text);
  return *value * unit;
}

Result<LatencyModel> parse_latency(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view rest = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const std::size_t comma = rest.find(',');
  const std::string_view first = rest.substr(0, comma);
  const std::string_view second = comma == std::string_view::npos ? "" : rest.substr(comma + 1);
  LatencyModel model;
  if (kind == "tokens") {
    const auto prefill = positive(first);
    const auto decode = positive(second);
    if (prefill.value_or(0) > 0 && decode.value_or(0) > 0) {
      model.kind = LatencyModel::Kind::tokens;
      model.prefill_per_s = *prefill;
      model.decode_per_s = *decode;
      return model;
    }
  } else if (kind == "fixed" || kind == "lognormal") {
    const auto mean = parse_seconds(first);
    const auto sigma = positive(second);
    model.kind = kind == "fixed" ? LatencyModel::Kind::fixed : LatencyModel::Kind::lognormal;
    if (mean && (kind == "fixed" ? second.empty() : sigma.has_value())) {
      model.mean_s = *mean;
      model.sigma = sigma.value_or(0);
      return model;
    }
  }
  return fail(ErrorKind::invalid_input,
              "'{}' is not a latency; write fixed:0.5s, lognormal:0.5s,0.4 (mean, sigma) or tokens:8000,60 "
              "(prompt tokens and reply tokens per second)",
              text);
}

std::string to_string(const LatencyModel& model) {
  switch (model.kind) {
    case LatencyModel::Kind::fixed:
      return fmt::format("fixed:{}s", model.mean_s);
    case LatencyModel::Kind::lognormal:
      return fmt::format("lognormal:{}s,{}", model.mean_s, model.sigma);
    case LatencyModel::Kind::tokens:
      return fmt::format("tokens:{},{}", model.prefill_per_s, model.decode_per_s);
  }
  return {};
}

Work work_of(const LatencyModel& model, const WorkSize& size) {
  double total = model.mean_s;
  switch (model.kind) {
    case LatencyModel::Kind::tokens:
      return {.prefill_s = size.prompt_tokens / model.prefill_per_s,
              .decode_s = size.completion_tokens / model.decode_per_s};
    case LatencyModel::Kind::lognormal:  // exp(N(-s²/2, s)) has the mean 1
      total *= std::exp(model.sigma * standard_normal(size.seed, size.request) - model.sigma * model.sigma / 2);
      break;
    case LatencyModel::Kind::fixed:
      break;
  }
  return {.prefill_s = total * prefill_share, .decode_s = total * (1 - prefill_share)};
}

}  // namespace lectern::sim
