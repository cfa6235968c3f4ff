#include "engine/sim/scheduler.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lectern::sim {
namespace {

// Sums of many small steps miss their target by rounding; a job is due when less than this is left.
constexpr double tolerance_s = 1e-9;

}  // namespace

double Scheduler::pace() const {
  return 1 / (rules_.time_scale * (1 + rules_.batching * std::max(0, running_ - 1)));
}

void Scheduler::advance(TimePoint now) {
  if (now <= advanced_to_) return;
  work_s_ += std::chrono::duration<double>(now - advanced_to_).count() * pace();
  advanced_to_ = now;
}

void Scheduler::set_rules(const SchedulerRules& rules, TimePoint now) {
  advance(now);
  rules_ = rules;
}

void Scheduler::arrive(JobId job, TimePoint now) {
  advance(now);
  jobs_.insert_or_assign(job, Job{.arrived = now});
  queue_.push_back(job);
  ++waiting_;
}

std::optional<Scheduler::Started> Scheduler::start_next(TimePoint now) {
  advance(now);
  while (!queue_.empty() && !jobs_.contains(queue_.front())) queue_.pop_front();
  if (queue_.empty() || rules_.paused || (rules_.slots > 0 && running_ >= rules_.slots)) return std::nullopt;
  const JobId id = queue_.front();
  queue_.pop_front();
  Job& job = jobs_.at(id);
  job.is_running = true;
  job.started_work_s = work_s_;
  --waiting_;
  ++running_;
  return Started{.job = id, .waited_s = std::chrono::duration<double>(now - job.arrived).count()};
}

double Scheduler::worked_s(JobId job, TimePoint now) {
  advance(now);
  const auto found = jobs_.find(job);
  return found == jobs_.end() || !found->second.is_running ? 0 : work_s_ - found->second.started_work_s + tolerance_s;
}

void Scheduler::set_due(JobId job, double work_s) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end() || !found->second.is_running) return;
  found->second.mark = ++marks_made_;
  marks_.push({.work_s = found->second.started_work_s + work_s, .number = marks_made_, .job = job});
}

void Scheduler::drop_stale_marks() {
  while (!marks_.empty()) {
    const auto found = jobs_.find(marks_.top().job);
    if (found != jobs_.end() && found->second.mark == marks_.top().number) return;
    marks_.pop();
  }
}

std::optional<JobId> Scheduler::take_due(TimePoint now) {
  advance(now);
  drop_stale_marks();
  if (marks_.empty() || marks_.top().work_s > work_s_ + tolerance_s) return std::nullopt;
  const JobId job = marks_.top().job;
  marks_.pop();
  jobs_.at(job).mark = 0;
  drop_stale_marks();
  return job;
}

void Scheduler::leave(JobId job, TimePoint now) {
  advance(now);
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  --(found->second.is_running ? running_ : waiting_);
  jobs_.erase(found);
  drop_stale_marks();
}

std::optional<TimePoint> Scheduler::next_due() const {
  if (marks_.empty()) return std::nullopt;
  const double seconds = std::max(0.0, marks_.top().work_s - work_s_) / pace();
  const std::chrono::duration<double> wait(std::min(seconds, 1e6));
  return advanced_to_ + std::chrono::ceil<TimePoint::duration>(wait);
}

}  // namespace lectern::sim
