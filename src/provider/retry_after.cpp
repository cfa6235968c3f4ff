#include "provider/retry_after.h"

#include <curl/curl.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace lectern::provider {

std::optional<std::chrono::milliseconds> retry_after(std::string_view value, WallTime now) {
  static constexpr double day_ms = 86'400'000;
  const auto milliseconds = [](double time) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(time, 0.0, day_ms)));
  };
  double seconds = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), seconds);
  if (error == std::errc{} && end == value.data() + value.size() && std::isfinite(seconds)) {
    return milliseconds(seconds * 1000);
  }
  if (value.empty()) return std::nullopt;
  const time_t when = curl_getdate(std::string(value).c_str(), nullptr);
  if (when == -1) return std::nullopt;
  const auto wait = std::chrono::system_clock::from_time_t(when) - now;
  return milliseconds(std::chrono::duration<double, std::milli>(wait).count());
}

}  // namespace lectern::provider
