#include "provider/balance.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace lectern::provider {

namespace {

constexpr double newest_share = 0.2;  // of the latest answer in the averages
constexpr double clearly_more = 3;
constexpr double much_slower = 1.5;  // from this ratio on it is worth asking whether to wait for a quicker one

double average(double before, double latest) {
  return before == 0 ? latest : before + newest_share * (latest - before);
}

// Is there so much to do that even an engine this slow helps? It does when it will have answered before the quicker
// ones are through with what waits. How much is still to come nobody says, so as much is expected as there has been:
// the engine's share of that must outweigh the end, when all wait for its last answer.
bool worth_using(const EngineLoad& slow, double answer_s, std::span<const EngineLoad> engines, double quickest_s,
                 Backlog backlog) {
  double quicker_rate = 0;
  for (const EngineLoad& engine : engines) {
    if (!engine.usable || engine.in_flight < engine.limit) continue;  // with room it would have been chosen
    const double each_s = engine.answer_s > 0 ? engine.answer_s : quickest_s;
    if (each_s * much_slower < answer_s) quicker_rate += engine.limit / each_s;
  }
  if (quicker_rate == 0) return true;
  if (backlog.waiting / quicker_rate + quickest_s >= answer_s) return true;
  const double rate = slow.limit / answer_s;
  return backlog.busy_s * rate / (rate + quicker_rate) >= clearly_more * (answer_s - quickest_s);
}

}  // namespace

void EngineSpeed::answered(double latency_s, double in_flight) {
  latency_s_ = average(latency_s_, latency_s);
  pace_s_ = average(pace_s_, latency_s / std::max(1.0, in_flight));
}

std::optional<std::size_t> choose_engine(std::span<const EngineLoad> engines, Backlog backlog) {
  double quickest_s = std::numeric_limits<double>::infinity();
  for (const EngineLoad& engine : engines) {
    if (engine.usable && engine.answer_s > 0) quickest_s = std::min(quickest_s, engine.answer_s);
  }
  if (quickest_s == std::numeric_limits<double>::infinity()) quickest_s = 1;  // nothing known: all are alike

  std::optional<std::size_t> best;
  std::tuple<double, double, std::uint64_t> best_rank;
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const EngineLoad& engine = engines[i];
    if (!engine.usable || engine.in_flight >= engine.limit) continue;
    const double answer_s = engine.answer_s > 0 ? engine.answer_s : quickest_s;
    // Engines that are about as quick share by load; the others come after them.
    const double slowness = answer_s < much_slower * quickest_s ? 1 : answer_s / quickest_s;
    const std::tuple rank{slowness, static_cast<double>(engine.in_flight + engine.others) / engine.limit, engine.asked};
    if (best && rank >= best_rank) continue;
    best = i;
    best_rank = rank;
  }
  if (!best) return std::nullopt;
  const EngineLoad& chosen = engines[*best];
  const double answer_s = chosen.answer_s > 0 ? chosen.answer_s : quickest_s;
  if (answer_s >= much_slower * quickest_s) {
    // More in flight than it is used to may only queue there.
    const double with_this_s = std::max(answer_s, (chosen.in_flight + 1) * chosen.pace_s);
    if (!worth_using(chosen, with_this_s, engines, quickest_s, backlog)) return std::nullopt;
  }
  return best;
}

}  // namespace lectern::provider
