#include "cli/housekeeping.h"

#include <cmath>

#include "job/retention.h"
#include "telemetry/log.h"

namespace lectern::cli {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::minutes first_after{1};
constexpr std::chrono::hours interval{1};
constexpr job::Millis day = 24 * 3600 * 1000;

asio::awaitable<Status> clean_once(HousekeepingParts parts, Cancellation over) {
  const double days = parts.config.number("jobs.keep_days");
  job::Retention retention(parts.store, parts.blobs);
  const auto now = co_await parts.store.now();
  if (!now) co_return std::unexpected(now.error());
  job::Removed removed;
  if (days > 0) {
    auto old = co_await retention.remove_old_jobs(*now - std::llround(days * static_cast<double>(day)), over);
    if (!old) co_return std::unexpected(old.error());
    removed = *old;
  }
  // An upload that is not submitted within a day never will be.
  auto orphans = co_await retention.remove_orphans(*now - day, over);
  if (!orphans) co_return std::unexpected(orphans.error());
  if (removed.jobs + orphans->orphans > 0) {
    telemetry::log(telemetry::LogLevel::info, "old jobs were removed",
                   {{"jobs", std::to_string(removed.jobs)},
                    {"blobs", std::to_string(removed.blobs + orphans->blobs)},
                    {"orphans", std::to_string(orphans->orphans)}});
  }
  co_return Status{};
}

}  // namespace

asio::awaitable<void> keep_house(HousekeepingParts parts, Cancellation over) {
  co_await parts.timers.wait_for(first_after, over);
  while (!over.requested()) {
    if (const auto done = co_await clean_once(parts, over); !done) {
      telemetry::log(telemetry::LogLevel::warning, "old jobs could not be removed", {{"error", done.error().for_log}});
    }
    co_await parts.timers.wait_for(interval, over);
  }
}

}  // namespace lectern::cli
