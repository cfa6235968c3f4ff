#include "service/queue_watch.h"

#include <algorithm>

namespace lectern::service {

namespace asio = boost::asio;
using std::chrono::nanoseconds;

nanoseconds figures_last(nanoseconds counting_took) {
  return std::clamp<nanoseconds>(20 * counting_took, std::chrono::seconds(2), std::chrono::minutes(5));
}

asio::awaitable<void> QueueWatch::look() {
  const TimePoint begun = clock_.now();
  if (asking_ || (good_until_ && begun < *good_until_)) co_return;
  asking_ = true;
  const auto figures = co_await store_.figures();
  const nanoseconds took = clock_.now() - begun;
  const auto now = co_await store_.now();
  asking_ = false;
  known_ = figures && now ? std::optional(*figures) : std::nullopt;
  at_ = now.value_or(0);
  good_until_ = clock_.now() + std::chrono::duration_cast<TimePoint::duration>(figures_last(took));
}

void QueueWatch::write(telemetry::MetricsText& text) const {
  if (!good_until_) return;  // whoever asks first has not been answered yet
  text.gauge("lectern_store_up", "Whether the store answers", known_ ? 1 : 0);
  if (!known_) return;
  text.family("lectern_tasks", "Tasks that are not over, by state", "gauge");
  text.value("lectern_tasks", {{"state", "ready"}}, static_cast<double>(known_->ready));
  text.value("lectern_tasks", {{"state", "waiting"}}, static_cast<double>(known_->waiting));
  text.value("lectern_tasks", {{"state", "leased"}}, static_cast<double>(known_->leased));
  text.family("lectern_jobs", "Jobs that are kept, by status", "gauge");
  for (const job::Phase phase :
       {job::Phase::queued, job::Phase::running, job::Phase::succeeded, job::Phase::failed, job::Phase::cancelled}) {
    text.value("lectern_jobs", {{"status", job::to_string(phase)}}, static_cast<double>(known_->jobs_of(phase)));
  }
  text.gauge("lectern_jobs_open", "Jobs that are not over", static_cast<double>(known_->jobs_open()));
  const double age = known_->oldest_ready == 0 ? 0 : static_cast<double>(at_ - known_->oldest_ready) / 1000.0;
  text.gauge("lectern_queue_oldest_seconds", "Age of the job whose task waits longest for a worker", age);
}

}  // namespace lectern::service
