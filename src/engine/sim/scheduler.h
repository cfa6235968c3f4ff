// Who runs, who waits, and when something is due. Pure: jobs and the time go in, decisions come out.
//
// Running jobs progress together on one clock of work. It ticks slower the more of them run (batching), so that a job
// that needs one second of work alone takes 1 + alpha * (n - 1) seconds beside n - 1 others, and speeds up when they
// leave. On a real server (Qwen2.5-VL-3B on one GPU, 1 to 128 slots) alpha = 0.3 gives the measured times within 5%.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

#include "base/clock.h"

namespace lectern::sim {

using JobId = std::uint64_t;

struct SchedulerRules {
  int slots = 0;          // 0 = as many as come
  double batching = 0;    // alpha
  double time_scale = 1;  // every duration times this
  bool paused = false;    // nothing new starts
  bool operator==(const SchedulerRules&) const = default;
};

class Scheduler {
 public:
  void set_rules(const SchedulerRules& rules, TimePoint now);
  const SchedulerRules& rules() const { return rules_; }

  // A job joins the end of the queue.
  void arrive(JobId job, TimePoint now);
  struct Started {
    JobId job = 0;
    double waited_s = 0;
  };
  // The next job takes a slot, if one is free. Call until it says no.
  std::optional<Started> start_next(TimePoint now);

  // Seconds of work that a running job has got so far.
  double worked_s(JobId job, TimePoint now);
  // Makes a running job due when it has got this much work; a job has one such mark.
  void set_due(JobId job, double work_s);
  // A job that is due, whose mark is then gone. Call until it says no.
  std::optional<JobId> take_due(TimePoint now);

  // The job leaves its slot or the queue.
  void leave(JobId job, TimePoint now);

  // When take_due will next have something, if nothing else happens.
  std::optional<TimePoint> next_due() const;
  int running() const { return running_; }
  int waiting() const { return waiting_; }

 private:
  struct Job {
    TimePoint arrived;
    bool is_running = false;
    double started_work_s = 0;  // the clock of work when it started
    std::uint64_t mark = 0;     // of its entry among marks_; older entries do not count
  };
  struct Mark {
    double work_s = 0;
    std::uint64_t number = 0;
    JobId job = 0;
    bool operator>(const Mark& other) const {
      return work_s != other.work_s ? work_s > other.work_s : number > other.number;
    }
  };

  double pace() const;  // seconds of work per second
  void advance(TimePoint now);
  void drop_stale_marks();

  SchedulerRules rules_;
  std::unordered_map<JobId, Job> jobs_;
  std::deque<JobId> queue_;  // may hold jobs that have left
  std::priority_queue<Mark, std::vector<Mark>, std::greater<>> marks_;
  std::uint64_t marks_made_ = 0;
  int running_ = 0;
  int waiting_ = 0;
  double work_s_ = 0;  // the clock of work
  TimePoint advanced_to_{};
};

}  // namespace lectern::sim
