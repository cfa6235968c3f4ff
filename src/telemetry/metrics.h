// Figures for Prometheus: counters, gauges and histograms with labels, and their text. Families are made once and kept;
// a family's series appear when they are first used.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace lectern::telemetry {

using Labels = std::vector<std::pair<std::string_view, std::string_view>>;

// The text format, version 0.0.4, line by line.
class MetricsText {
 public:
  // Before a family's first value. `type`: counter, gauge or histogram.
  void family(std::string_view name, std::string_view help, std::string_view type);
  void value(std::string_view name, const Labels& labels, double value);
  void gauge(std::string_view name, std::string_view help, double value);
  void raw(std::string_view lines) { text_ += lines; }  // as they are
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// Safe from any thread.
class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // The help is kept from the first call of each name.
  void count(std::string_view name, std::string_view help, const Labels& labels, double by = 1);
  void observe(std::string_view name, std::string_view help, const Labels& labels, std::chrono::nanoseconds time);
  void write(MetricsText& text) const;

 private:
  struct Family;
  Family& family(std::string_view name, std::string_view help, bool histogram);

  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, std::unique_ptr<Family>, std::less<>> families_;
};

}  // namespace lectern::telemetry
