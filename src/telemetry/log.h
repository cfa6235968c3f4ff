// telemetry/: logs, and figures for Prometheus (metrics.h).
// May use: base/. Logs are structured: a short message and named fields, so that machines can read them too.
// Threads: every public call is safe from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace lectern::telemetry {

enum class LogLevel { debug, info, warning, error, off };

struct LogField {
  std::string_view name;
  std::string value;
};

// Logs go to standard error. Text form: "12:03:04 warning renderer crashed  page=7 signal=SIGSEGV".
// With `json`, one object a line: {"time":…,"level":…,"message":…,"page":"7"}.
void log_setup(LogLevel level, bool json);
void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields = {});

}  // namespace lectern::telemetry
