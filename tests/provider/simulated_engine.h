// Engines in virtual time, for tests of what decides how they are used. Seconds as doubles; one seed replays a run.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"

namespace lectern::provider {

inline constexpr double never_s = std::numeric_limits<double>::infinity();

struct SimulatedReply {
  int id = 0;
  double queued_s = 0;  // on the server, before it was worked on
};

class SimulatedEngine {
 public:
  virtual ~SimulatedEngine() = default;
  virtual void ask(int id, double now) = 0;
  virtual double next_s() const = 0;  // when the next reply is ready
  virtual std::vector<SimulatedReply> take(double now) = 0;
};

using Service = std::function<double()>;  // seconds of one request

inline Service fixed_service(double seconds) {
  return [seconds] { return seconds; };
}

// `spread` is the standard deviation of the logarithm; the mean is `seconds`.
inline Service lognormal_service(double seconds, double spread, Random& random) {
  return [seconds, spread, &random] {
    const double u = std::max(1e-12, random.uniform());
    const double normal = std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * random.uniform());
    return seconds * std::exp(spread * normal - spread * spread / 2);
  };
}

// A fixed number of places, a queue without limit before them.
class SlotEngine final : public SimulatedEngine {
 public:
  SlotEngine(int slots, Service service) : slots_(slots), service_(std::move(service)) {}

  void set_slots(int slots, double now) {
    slots_ = slots;
    fill(now);
  }
  void set_service(Service service) { service_ = std::move(service); }

  void ask(int id, double now) override {
    queue_.push_back({id, now});
    fill(now);
  }
  double next_s() const override {
    double next = never_s;
    for (const Running& r : running_) next = std::min(next, r.end_s);
    return next;
  }
  std::vector<SimulatedReply> take(double now) override {
    std::vector<SimulatedReply> out;
    for (std::size_t i = 0; i < running_.size();) {
      if (running_[i].end_s > now) {
        ++i;
        continue;
      }
      out.push_back(running_[i].reply);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    fill(now);
    return out;
  }

 private:
  struct Waiting {
    int id;
    double since_s;
  };
  struct Running {
    SimulatedReply reply;
    double end_s;
  };
  void fill(double now) {
    while (!queue_.empty() && static_cast<int>(running_.size()) < slots_) {
      running_.push_back({{queue_.front().id, now - queue_.front().since_s}, now + service_()});
      queue_.pop_front();
    }
  }
  int slots_;
  Service service_;
  std::deque<Waiting> queue_;
  std::vector<Running> running_;
};

// Answers per second by how many are in flight, as measured on real engines; straight lines between the points.
struct ThroughputTable {
  std::vector<std::pair<double, double>> points;  // in flight, answers per second
  double at(double in_flight) const {
    if (in_flight <= points.front().first) return points.front().second * in_flight / points.front().first;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (in_flight > points[i].first) continue;
      const double t = (in_flight - points[i - 1].first) / (points[i].first - points[i - 1].first);
      return points[i - 1].second + t * (points[i].second - points[i - 1].second);
    }
    return points.back().second;
  }
};

// All that is in flight shares the engine: it slows down gradually as it fills. `work` draws each request's size
// (mean 1).
class SharedEngine final : public SimulatedEngine {
 public:
  SharedEngine(ThroughputTable table, Service work) : table_(std::move(table)), work_(std::move(work)) {}

  void ask(int id, double now) override {
    pass(now);
    running_.push_back({id, work_()});
  }
  double next_s() const override {
    double least = never_s;
    for (const auto& [id, left] : running_) least = std::min(least, left);
    return running_.empty() ? never_s : at_s_ + std::max(0.0, least) / speed();
  }
  std::vector<SimulatedReply> take(double now) override {
    pass(now);
    std::vector<SimulatedReply> out;
    std::erase_if(running_, [&](const auto& r) {
      if (r.second > 1e-9) return false;
      out.push_back({r.first, 0});
      return true;
    });
    return out;
  }

 private:
  double speed() const {
    return table_.at(static_cast<double>(running_.size())) / static_cast<double>(running_.size());
  }
  void pass(double now) {
    if (!running_.empty()) {
      const double done = (now - at_s_) * speed();
      for (auto& [id, left] : running_) left -= done;
    }
    at_s_ = now;
  }
  ThroughputTable table_;
  Service work_;
  double at_s_ = 0;
  std::vector<std::pair<int, double>> running_;
};

// Takes what waits as one batch, answers all of it at once, then takes the next.
class LockstepEngine final : public SimulatedEngine {
 public:
  LockstepEngine(ThroughputTable table, int batch_max) : table_(std::move(table)), batch_max_(batch_max) {}

  void ask(int id, double now) override {
    waiting_.push_back({id, now});
    fill(now);
  }
  double next_s() const override { return batch_.empty() ? gather_s_ : end_s_; }
  std::vector<SimulatedReply> take(double now) override {
    std::vector<SimulatedReply> out;
    if (!batch_.empty() && now >= end_s_) {
      out = std::exchange(batch_, {});
      gather_s_ = now;  // those who are answered now may ask again before the next batch begins
    } else {
      begin(now);
    }
    return out;
  }

 private:
  void fill(double now) {
    if (batch_.empty() && gather_s_ == never_s) gather_s_ = now;
  }
  void begin(double now) {
    if (!batch_.empty()) return;
    gather_s_ = never_s;
    while (!waiting_.empty() && static_cast<int>(batch_.size()) < batch_max_) {
      batch_.push_back({waiting_.front().first, now - waiting_.front().second});
      waiting_.pop_front();
    }
    const auto size = static_cast<double>(batch_.size());
    if (!batch_.empty()) end_s_ = now + size / table_.at(size);
  }
  ThroughputTable table_;
  int batch_max_;
  std::deque<std::pair<int, double>> waiting_;
  std::vector<SimulatedReply> batch_;
  double end_s_ = never_s;
  double gather_s_ = never_s;
};

}  // namespace lectern::provider
