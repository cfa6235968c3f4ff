#include "telemetry/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>

#include "base/clock.h"

namespace lectern::telemetry {
namespace {

std::atomic<bool> json_lines{false};

spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("lectern", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_level(spdlog::level::warn);
    made.set_pattern("%H:%M:%S %l %v");
    return made;
  }();
  return instance;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
    case LogLevel::off:
      return "off";
  }
  return "info";
}

// Control characters are escaped, so that a file name cannot forge a log line or move the cursor.
std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void log_setup(LogLevel level, bool json) {
  json_lines = json;
  logger().set_level(to_spdlog(level));
  logger().set_pattern(json ? "%v" : "%H:%M:%S %l %v");
}

void log(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  if (!logger().should_log(to_spdlog(level))) return;
  std::string line;
  if (json_lines) {
    line = fmt::format(R"({{"time":"{}","level":"{}","message":{})", to_iso8601(system_clock().wall()),
                       level_name(level), in_quotes(message));
    for (const LogField& field : fields) line += fmt::format(",{}:{}", in_quotes(field.name), in_quotes(field.value));
    line += '}';
  } else {
    line = message;
    for (const LogField& field : fields) {
      const bool plain = field.value.find_first_of(" \"\\\n\r\t\x1b") == std::string::npos && !field.value.empty();
      line += fmt::format("  {}={}", field.name, plain ? field.value : in_quotes(field.value));
    }
  }
  logger().log(to_spdlog(level), "{}", line);
}

}  // namespace lectern::telemetry
