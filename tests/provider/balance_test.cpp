#include "provider/balance.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "provider/adaptive_limit.h"
#include "simulated_engine.h"

namespace lectern::provider {
namespace {

struct Case {
  std::string_view name;
  std::vector<EngineLoad> engines;
  Backlog backlog;
  std::optional<std::size_t> choice;
};

EngineLoad load(int in_flight, int limit, double answer_s) {
  return {.usable = true, .in_flight = in_flight, .limit = limit, .answer_s = answer_s, .pace_s = 0, .asked = 0};
}
EngineLoad beside(int others, EngineLoad engine) {
  engine.others = others;
  return engine;
}
EngineLoad ejected(EngineLoad engine) {
  engine.usable = false;
  return engine;
}

TEST(ChooseEngine, Cases) {
  const Case cases[] = {
      {"the least loaded by its limit", {load(3, 4, 1), load(10, 20, 1)}, {}, 1},
      {"what others ask of it counts", {beside(3, load(0, 4, 1)), load(2, 4, 1)}, {}, 1},
      {"but takes no room", {beside(30, load(3, 4, 1)), load(4, 4, 1)}, {}, 0},
      {"the first of equals", {load(0, 4, 0), load(0, 4, 0)}, {}, 0},
      {"none has room", {load(4, 4, 1), load(20, 20, 1)}, {}, std::nullopt},
      {"an ejected one is not asked", {ejected(load(0, 4, 1)), load(3, 4, 1)}, {}, 1},
      {"all ejected", {ejected(load(0, 4, 1))}, {}, std::nullopt},
      {"the quicker one though it has more to do", {load(0, 4, 10), load(3, 4, 1)}, {}, 1},
      {"an unknown one is taken for a quick one", {load(1, 4, 1), load(0, 4, 0)}, {}, 1},
      {"few wait: not for the slow one", {load(0, 4, 10), load(4, 4, 1)}, {.waiting = 10, .busy_s = 0}, std::nullopt},
      {"many wait: the slow one helps", {load(0, 4, 10), load(4, 4, 1)}, {.waiting = 40, .busy_s = 0}, 0},
      {"busy for long: the slow one helps", {load(0, 4, 10), load(4, 4, 1)}, {.waiting = 1, .busy_s = 300}, 0},
      {"alone it is asked, slow as it is", {load(0, 4, 10), ejected(load(4, 4, 1))}, {}, 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(choose_engine(c.engines, c.backlog), c.choice);
  }
}

TEST(ChooseEngine, EqualsTakeTurns) {
  std::vector<EngineLoad> engines{load(0, 4, 1), load(0, 4, 1)};
  engines[0].asked = 1;
  EXPECT_EQ(choose_engine(engines, {}), 1U);
}

TEST(EngineSpeed, FollowsWhatAnswersTake) {
  EngineSpeed speed;
  EXPECT_EQ(speed.latency_s(), 0);
  speed.answered(2, 4);
  EXPECT_DOUBLE_EQ(speed.latency_s(), 2);
  EXPECT_DOUBLE_EQ(speed.pace_s(), 0.5);
  for (int i = 0; i < 50; ++i) speed.answered(1, 1);
  EXPECT_NEAR(speed.latency_s(), 1, 0.01);
  EXPECT_NEAR(speed.pace_s(), 1, 0.01);
}

// Four engines with adaptive limits in virtual time; `window` questions are known to the fleet at a time.
class FleetSimulation {
 public:
  explicit FleetSimulation(std::vector<double> service_s) {
    for (const double seconds : service_s) {
      engines_.push_back({std::make_unique<SlotEngine>(slots, fixed_service(seconds)), AdaptiveLimit({}), {}, {}});
      rate_ += slots / seconds;
    }
  }
  static constexpr int slots = 4;

  // Pages per second, over what the engines can give together.
  double run(int pages, int window) {
    int left = pages;
    int done = 0;
    while (done < pages) {
      ask(left, window - (pages - left - done));
      double next = never_s;
      for (const Engine& engine : engines_) next = std::min(next, engine.simulated->next_s());
      now_ = next;
      for (Engine& engine : engines_) done += take(engine);
    }
    return pages / now_ / rate_;
  }

 private:
  struct Engine {
    std::unique_ptr<SlotEngine> simulated;
    AdaptiveLimit limit;
    EngineSpeed speed;
    std::map<int, AdaptiveLimit::Ticket> tickets;
    std::uint64_t asked = 0;
  };
  static TimePoint at(double seconds) {
    return TimePoint{} + std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double>(seconds));
  }
  void ask(int& left, int free) {
    int waiting = std::min(left, free);
    while (waiting > 0) {
      std::vector<EngineLoad> loads;
      for (const Engine& engine : engines_) {
        double oldest_s = 0;
        if (!engine.tickets.empty()) {
          oldest_s = now_ - std::chrono::duration<double>(engine.tickets.begin()->second.started - TimePoint{}).count();
        }
        loads.push_back(
            load(engine.limit.in_flight(), engine.limit.limit(), std::max(engine.speed.latency_s(), oldest_s)));
        loads.back().pace_s = engine.speed.pace_s();
        loads.back().asked = engine.asked;
      }
      const auto choice = choose_engine(loads, {.waiting = waiting, .busy_s = now_});
      if (!choice) return;
      Engine& engine = engines_[*choice];
      engine.asked += 1;
      engine.tickets.emplace(next_id_, engine.limit.start(at(now_)));
      engine.simulated->ask(next_id_++, now_);
      left -= 1;
      waiting -= 1;
    }
  }
  int take(Engine& engine) {
    int count = 0;
    for (const SimulatedReply& reply : engine.simulated->take(now_)) {
      const auto found = engine.tickets.find(reply.id);
      const double latency = std::chrono::duration<double>(at(now_) - found->second.started).count();
      engine.speed.answered(latency, engine.limit.in_flight());
      engine.limit.answered(found->second, {}, at(now_));
      engine.tickets.erase(found);
      ++count;
    }
    return count;
  }
  std::vector<Engine> engines_;
  double rate_ = 0;
  double now_ = 0;
  int next_id_ = 0;
};

TEST(Balance, FourEnginesOneOfThemTenTimesSlower) {
  for (const int window : {40, 1 << 20}) {  // questions that the fleet knows of at a time
    SCOPED_TRACE(window);
    FleetSimulation fleet({1, 1, 10, 1});
    EXPECT_GE(fleet.run(3000, window), 0.95);
  }
}

TEST(Balance, AShortRunDoesNotWaitForTheSlowEngine) {
  FleetSimulation fleet({1, 1, 10, 1});
  EXPECT_GE(fleet.run(600, 40), 0.9);  // three of the engines alone give 0.968; the limits have to be found, too
}

TEST(Balance, EqualEnginesAreEquallyBusy) {
  FleetSimulation fleet({1, 1, 1, 1});
  EXPECT_GE(fleet.run(3000, 40), 0.95);
}

}  // namespace
}  // namespace lectern::provider
