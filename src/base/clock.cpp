#include "base/clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

namespace lectern {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
  WallTime wall() const override { return std::chrono::system_clock::now(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

std::string to_iso8601(WallTime time) {
  const auto since_epoch = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const std::time_t as_time_t = seconds.count();
  std::tm utc{};
  gmtime_r(&as_time_t, &utc);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", utc, (since_epoch - seconds).count());
}

}  // namespace lectern
