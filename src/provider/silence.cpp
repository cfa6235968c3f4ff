#include "provider/silence.h"

#include <algorithm>

namespace lectern::provider {

namespace {

constexpr std::chrono::seconds silence_min{30};
constexpr int times_usual = 4;
constexpr int newest_part = 5;  // of the average: a fifth
constexpr std::chrono::seconds time_without_deadline{300};

}  // namespace

void EngineEar::answered(std::chrono::nanoseconds first_byte) {
  usual_ = usual_.count() == 0 ? first_byte : usual_ + (first_byte - usual_) / newest_part;
}

std::optional<std::chrono::nanoseconds> silence_max(const SilenceQuestion& question) {
  const bool known = question.usual.count() > 0;
  if (!known && !question.others) return std::nullopt;
  const auto usual = known ? question.usual : question.usual_of_others;
  const auto limit = std::max<std::chrono::nanoseconds>(silence_min, times_usual * usual);
  if (known && question.others) return limit;
  return std::max(limit, std::min<std::chrono::nanoseconds>(question.time, time_without_deadline) / 2);
}

}  // namespace lectern::provider
