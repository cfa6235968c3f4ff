#include "job/worker_trouble.h"

#include "telemetry/log.h"

namespace lectern::job {
namespace {

using telemetry::LogLevel;

constexpr std::chrono::minutes same_again{1};  // is not told sooner

}  // namespace

std::optional<std::chrono::milliseconds> WorkerTrouble::heard(const Error* error) {
  if ((error != nullptr) == away_since_.has_value()) return std::nullopt;
  if (error != nullptr) {
    away_since_ = clock_.now();
    telemetry::log(LogLevel::warning, "the job store does not answer; waiting for it",
                   {{"worker", worker_}, {"store", store_}, {"error", error->for_log}});
    return std::nullopt;
  }
  const auto away = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - *away_since_);
  away_since_.reset();
  telemetry::log(LogLevel::warning, "the job store answers again",
                 {{"worker", worker_}, {"away_ms", std::to_string(away.count())}});
  return away;
}

void WorkerTrouble::given_back(const std::string& why) {
  const TimePoint now = clock_.now();
  if (why.empty() || (why == given_back_for_ && now < given_back_told_ + same_again)) return;
  given_back_for_ = why;
  given_back_told_ = now;
  telemetry::log(LogLevel::warning, "a task cannot be done now and is given back",
                 {{"worker", worker_}, {"error", why}});
}

}  // namespace lectern::job
