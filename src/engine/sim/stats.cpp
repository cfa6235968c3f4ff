#include "engine/sim/stats.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <numeric>

namespace lectern::sim {
namespace {

double seconds_between(TimePoint from, TimePoint to) {
  return std::max(0.0, std::chrono::duration<double>(to - from).count());
}

double cpu_s() {
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

}  // namespace

void Stats::reset(TimePoint now) {
  Stats fresh;
  fresh.running_ = fresh.running_max_ = running_;
  fresh.waiting_ = fresh.waiting_max_ = waiting_;
  fresh.integrated_to_ = now;
  *this = std::move(fresh);
}

double Stats::elapsed_s(TimePoint now) const {
  return first_ ? seconds_between(*first_, now) : 0;
}

Stats::Second* Stats::second(double at_s) {
  const auto index = static_cast<std::size_t>(at_s);
  if (index >= seconds_max) return nullptr;
  if (seconds_.size() <= index) seconds_.resize(index + 1);
  return &seconds_[index];
}

void Stats::integrate(TimePoint now) {
  if (!first_ || now <= integrated_to_) return;
  const TimePoint from = std::max(integrated_to_, *first_);
  integrated_to_ = now;
  if (running_ == 0) return;
  busy_s_ += seconds_between(from, now) * running_;
  double at = seconds_between(*first_, from);
  const double end = seconds_between(*first_, now);
  while (at < end && at < seconds_max) {
    const double until = std::min(end, std::floor(at) + 1);
    if (Second* each = second(at)) each->busy_s += (until - at) * running_;
    at = until;
  }
}

void Stats::arrived(TimePoint now, std::size_t body_bytes) {
  if (!first_) first_ = integrated_to_ = last_ = now;
  ++requests_;
  bytes_in_ += body_bytes;
  if (Second* each = second(elapsed_s(now))) ++each->arrived;
}

void Stats::started(TimePoint, double waited_s) {
  ++started_;
  waited_s_ += waited_s;
}

void Stats::occupancy(TimePoint now, int running, int waiting) {
  integrate(now);
  running_ = running;
  waiting_ = waiting;
  running_max_ = std::max(running_max_, running);
  waiting_max_ = std::max(waiting_max_, waiting);
}

void Stats::answered(TimePoint now, int prompt_tokens, int completion_tokens) {
  ++answered_;
  last_ = now;
  prompt_tokens_ += static_cast<std::uint64_t>(prompt_tokens);
  completion_tokens_ += static_cast<std::uint64_t>(completion_tokens);
  if (Second* each = second(elapsed_s(now))) ++each->answered;
}

std::optional<Stats::Figure> Stats::figure(std::string_view name, std::size_t connections_open) const {
  const auto gauge = [](std::uint64_t value) { return Figure{.value = value, .is_counter = false}; };
  if (name == "requests") return Figure{requests_};
  if (name == "started") return Figure{started_};
  if (name == "answered") return Figure{answered_};
  if (name == "cancelled") return Figure{cancelled_};
  if (name == "deaths") return Figure{deaths_};
  if (name == "connections") return Figure{connections_};
  if (name == "faults") return Figure{std::accumulate(faults_.begin(), faults_.end(), std::uint64_t{0})};
  if (name == "running") return gauge(static_cast<std::uint64_t>(running_));
  if (name == "waiting") return gauge(static_cast<std::uint64_t>(waiting_));
  if (name == "in_flight") return gauge(static_cast<std::uint64_t>(running_ + waiting_));
  if (name == "connections_open") return gauge(connections_open);
  return std::nullopt;
}

Result<std::vector<Stats::Condition>> Stats::parse_conditions(std::string_view query) {
  std::vector<Condition> conditions;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const std::size_t equals = std::min(part.find('='), part.size());
    Condition condition{.name = std::string(part.substr(0, equals))};
    const std::string_view value = part.substr(std::min(part.size(), equals + 1));
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), condition.value);
    if (error != std::errc{} || end != value.data() + value.size() || !Stats().figure(condition.name, 0))
      return fail(ErrorKind::invalid_input, "'{}' cannot be waited for; write for instance answered=3 or running=0",
                  part);
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

bool Stats::hold(const std::vector<Condition>& conditions, std::size_t connections_open) const {
  return std::all_of(conditions.begin(), conditions.end(), [&](const Condition& each) {
    const Figure now = figure(each.name, connections_open).value_or(Figure{});
    return now.is_counter ? now.value >= each.value : now.value == each.value;
  });
}

std::string Stats::json(TimePoint now, std::size_t connections_open) {
  integrate(now);
  nlohmann::ordered_json out;
  out["requests"] = requests_;
  out["started"] = started_;
  out["answered"] = answered_;
  out["cancelled"] = cancelled_;
  out["refused"] = nlohmann::ordered_json::object();
  for (const auto& [status, count] : refused_) out["refused"][std::to_string(status)] = count;
  out["faults"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < fault_kinds; ++i)
    if (faults_[i] != 0) out["faults"][std::string(to_string(static_cast<FaultKind>(i)))] = faults_[i];
  out["deaths"] = deaths_;
  out["in_flight"] = running_ + waiting_;
  out["running"] = running_;
  out["running_max"] = running_max_;
  out["waiting"] = waiting_;
  out["waiting_max"] = waiting_max_;
  out["slot_busy_s"] = rounded(busy_s_);
  out["queue_wait_s"] = rounded(waited_s_);
  out["span_s"] = first_ ? rounded(seconds_between(*first_, last_)) : 0.0;
  out["prompt_tokens"] = prompt_tokens_;
  out["completion_tokens"] = completion_tokens_;
  out["connections"] = connections_;
  out["connections_open"] = connections_open;
  out["bytes_in"] = bytes_in_;
  out["cpu_s"] = rounded(cpu_s());
  auto& each_second = out["each_second"];
  each_second = {{"busy_s", nlohmann::ordered_json::array()},
                 {"arrived", nlohmann::ordered_json::array()},
                 {"answered", nlohmann::ordered_json::array()}};
  for (const Second& each : seconds_) {
    each_second["busy_s"].push_back(rounded(each.busy_s));
    each_second["arrived"].push_back(each.arrived);
    each_second["answered"].push_back(each.answered);
  }
  return out.dump() + "\n";
}

}  // namespace lectern::sim
