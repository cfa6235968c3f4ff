#include "telemetry/metrics.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace lectern::telemetry {
namespace {

// Seconds. From what a status read takes to what a reader waits for.
constexpr std::array bounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                               0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0, 60.0};

std::string escaped(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// name="value",… without braces; also what series are told apart by.
std::string label_text(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    text += fmt::format("{}{}=\"{}\"", text.empty() ? "" : ",", name, escaped(value));
  }
  return text;
}

void append(std::string& text, std::string_view name, std::string_view labels, double value) {
  text += name;
  if (!labels.empty()) {
    text += '{';
    text += labels;
    text += '}';
  }
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  text += whole ? fmt::format(" {}\n", static_cast<std::int64_t>(value)) : fmt::format(" {}\n", value);
}

}  // namespace

void MetricsText::family(std::string_view name, std::string_view help, std::string_view type) {
  text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void MetricsText::value(std::string_view name, const Labels& labels, double value) {
  append(text_, name, label_text(labels), value);
}

void MetricsText::gauge(std::string_view name, std::string_view help, double value) {
  family(name, help, "gauge");
  append(text_, name, {}, value);
}

struct Metrics::Family {
  struct Series {
    double sum = 0;
    std::uint64_t count = 0;
    std::array<std::uint64_t, bounds.size()> buckets{};
  };
  std::string help;
  bool histogram = false;
  std::map<std::string, Series, std::less<>> series;  // by label text
};

Metrics::Metrics() = default;
Metrics::~Metrics() = default;

Metrics::Family& Metrics::family(std::string_view name, std::string_view help, bool histogram) {
  auto found = families_.find(name);
  if (found == families_.end()) {
    auto made = std::make_unique<Family>();
    made->help = help;
    made->histogram = histogram;
    found = families_.emplace(name, std::move(made)).first;
  }
  return *found->second;
}

void Metrics::count(std::string_view name, std::string_view help, const Labels& labels, double by) {
  const std::string key = label_text(labels);
  const std::lock_guard lock(mutex_);
  family(name, help, false).series[key].sum += by;
}

void Metrics::observe(std::string_view name, std::string_view help, const Labels& labels,
                      std::chrono::nanoseconds time) {
  const std::string key = label_text(labels);
  const double seconds = std::chrono::duration<double>(time).count();
  const std::lock_guard lock(mutex_);
  auto& series = family(name, help, true).series[key];
  series.sum += seconds;
  ++series.count;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (seconds <= bounds[i]) {
      ++series.buckets[i];
      break;
    }
  }
}

void Metrics::write(MetricsText& text) const {
  const std::lock_guard lock(mutex_);
  std::string lines;
  for (const auto& [name, family] : families_) {
    text.family(name, family->help, family->histogram ? "histogram" : "counter");
    for (const auto& [labels, series] : family->series) {
      if (!family->histogram) {
        append(lines, name, labels, series.sum);
        continue;
      }
      const std::string comma = labels.empty() ? "" : labels + ",";
      std::uint64_t below = 0;
      for (std::size_t i = 0; i < bounds.size(); ++i) {
        below += series.buckets[i];
        append(lines, name + "_bucket", fmt::format("{}le=\"{}\"", comma, bounds[i]), static_cast<double>(below));
      }
      append(lines, name + "_bucket", comma + "le=\"+Inf\"", static_cast<double>(series.count));
      append(lines, name + "_sum", labels, series.sum);
      append(lines, name + "_count", labels, static_cast<double>(series.count));
    }
    text.raw(lines);
    lines.clear();
  }
}

}  // namespace lectern::telemetry
