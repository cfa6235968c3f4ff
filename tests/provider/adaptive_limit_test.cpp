#include "provider/adaptive_limit.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "simulated_engine.h"

namespace lectern::provider {
namespace {

TimePoint at(double seconds) {
  return TimePoint{} + std::chrono::duration_cast<TimePoint::duration>(std::chrono::duration<double>(seconds));
}

double seconds(TimePoint time) {
  return std::chrono::duration<double>(time - TimePoint{}).count();
}

// A client that always has more to ask (or `clients` at a time), one engine, virtual time.
class Simulation {
 public:
  explicit Simulation(SimulatedEngine& engine, AdaptiveLimit::Options options = {}) : engine_(engine), limit_(options) {
    limits_.emplace_back(0.0, limit_.limit());
  }

  void until(double end, int clients = 1 << 20) {
    for (;;) {
      while (limit_.in_flight() < std::min(limit_.limit(), clients)) {
        tickets_.emplace(next_id_, limit_.start(at(now_)));
        engine_.ask(next_id_++, now_);
      }
      const double next = engine_.next_s();
      if (next > end) break;
      now_ = std::max(now_, next);
      for (const SimulatedReply& reply : engine_.take(now_)) {
        const auto found = tickets_.find(reply.id);
        ends_.push_back({now_, reply.queued_s});
        const double latency = now_ - seconds(found->second.started);
        // A stream begins after a quarter of the work; otherwise all comes at the end.
        const double first_byte = streaming_ ? reply.queued_s + 0.25 * (latency - reply.queued_s) : latency;
        limit_.answered(found->second, at(first_byte) - at(0), at(now_));
        tickets_.erase(found);
      }
      if (limits_.back().second != limit_.limit()) limits_.emplace_back(now_, limit_.limit());
    }
    now_ = end;
  }
  void whole_answers() { streaming_ = false; }
  double throughput(double from, double to) const {
    double count = 0;
    for (const End& e : ends_) count += e.at_s > from && e.at_s <= to ? 1 : 0;
    return count / (to - from);
  }
  double mean_queueing(double from, double to) const {
    double count = 0;
    double sum = 0;
    for (const End& e : ends_) {
      if (e.at_s <= from || e.at_s > to) continue;
      count += 1;
      sum += e.queued_s;
    }
    return sum / count;
  }
  double mean_limit(double from, double to) const {
    double sum = 0;
    for (std::size_t i = 0; i < limits_.size(); ++i) {
      const double end = i + 1 < limits_.size() ? limits_[i + 1].first : to;
      sum += limits_[i].second * std::max(0.0, std::min(end, to) - std::max(limits_[i].first, from));
    }
    return sum / (to - from);
  }
  int largest_limit() const {
    int largest = 0;
    for (const auto& [since, limit] : limits_) largest = std::max(largest, limit);
    return largest;
  }
  AdaptiveLimit& limit() { return limit_; }

 private:
  struct End {
    double at_s;
    double queued_s;
  };
  SimulatedEngine& engine_;
  bool streaming_ = true;
  AdaptiveLimit limit_;
  std::map<int, AdaptiveLimit::Ticket> tickets_;
  std::vector<End> ends_;
  int next_id_ = 0;
  double now_ = 0;
  std::vector<std::pair<double, int>> limits_;
};

struct SlotsCase {
  int slots;
  double service_s;
  double spread;  // of the logarithm of the service time
};

Service service_of(const SlotsCase& c, Random& random) {
  return c.spread > 0 ? lognormal_service(c.service_s, c.spread, random) : fixed_service(c.service_s);
}

// The best fixed limit for such an engine is as many requests as it has places.
double best_fixed(const SlotsCase& c, std::uint64_t seed, double from, double to) {
  SeededRandom random(seed);
  SlotEngine engine(c.slots, service_of(c, random));
  Simulation simulation(engine, {.start = c.slots, .max = c.slots});
  simulation.until(to, c.slots);
  return c.spread > 0 ? simulation.throughput(from, to) : c.slots / c.service_s;
}

TEST(AdaptiveLimit, FindsTheKneeOfEnginesWithFixedPlaces) {
  for (const SlotsCase c : {SlotsCase{4, 0.5, 0},
                            {4, 1, 0},
                            {16, 0.5, 0},
                            {16, 1, 0},
                            {64, 0.5, 0},
                            {64, 1, 0},
                            {4, 0.5, 0.3},
                            {4, 1, 0.3},
                            {16, 0.5, 0.3},
                            {16, 1, 0.3},
                            {64, 0.5, 0.3},
                            {64, 1, 0.3},
                            {16, 1, 0.6},
                            {64, 1, 0.6},
                            {6, 0.5, 0},
                            {12, 1, 0.3},
                            {24, 0.5, 0.3},
                            {40, 1, 0},
                            {100, 1, 0.3}}) {
    SCOPED_TRACE(testing::Message() << c.slots << " places, " << c.service_s << " s, spread " << c.spread);
    const int seeds = c.spread > 0 ? 5 : 1;
    double throughput = 0;
    double queueing = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      SeededRandom random(static_cast<std::uint64_t>(seed));
      SlotEngine engine(c.slots, service_of(c, random));
      Simulation simulation(engine);
      simulation.until(90);
      throughput += simulation.throughput(30, 90) / best_fixed(c, static_cast<std::uint64_t>(seed), 30, 90) / seeds;
      queueing += simulation.mean_queueing(0, 90) / c.service_s / seeds;
    }
    EXPECT_GE(throughput, 0.95);
    EXPECT_LE(queueing, 0.25);
  }
}

TEST(AdaptiveLimit, FindsTheKneeAlsoWhenAnswersComeInOnePiece) {
  for (const SlotsCase c : {SlotsCase{4, 1, 0}, {16, 0.5, 0.3}, {64, 1, 0.3}}) {
    SCOPED_TRACE(testing::Message() << c.slots << " places, " << c.service_s << " s, spread " << c.spread);
    double throughput = 0;
    double queueing = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SeededRandom random(seed);
      SlotEngine engine(c.slots, service_of(c, random));
      Simulation simulation(engine);
      simulation.whole_answers();
      simulation.until(90);
      throughput += simulation.throughput(30, 90) / best_fixed(c, seed, 30, 90) / 5;
      queueing += simulation.mean_queueing(0, 90) / c.service_s / 5;
    }
    EXPECT_GE(throughput, 0.95);
    EXPECT_LE(queueing, 0.25);
  }
}

TEST(AdaptiveLimit, GoesBelowWhereItBegan) {
  SlotEngine engine(1, fixed_service(1));
  Simulation simulation(engine);
  simulation.until(120);
  EXPECT_DOUBLE_EQ(simulation.throughput(0, 120), 1);
  EXPECT_LE(simulation.mean_limit(90, 120), 1.5);
}

TEST(AdaptiveLimit, NeverPassesItsMaximum) {
  SlotEngine engine(64, fixed_service(1));
  Simulation simulation(engine, {.start = 4, .max = 10});
  simulation.until(60);
  EXPECT_EQ(simulation.largest_limit(), 10);
  EXPECT_GE(simulation.throughput(30, 60), 0.95 * 10);
}

// Measured: pages per second of a 3B and a 7B model on one GPU, by how many pages were in flight.
const ThroughputTable table_3b{{{1, 0.86}, {4, 1.77}, {8, 2.34}, {16, 2.53}, {32, 2.67}, {128, 2.97}}};
const ThroughputTable table_7b{{{1, 0.58}, {4, 1.37}, {8, 1.77}, {16, 2.48}, {32, 2.69}, {128, 2.82}}};

TEST(AdaptiveLimit, FindsTheKneeOfEnginesThatSlowDownAsTheyFill) {
  for (const auto* table : {&table_3b, &table_7b}) {
    SCOPED_TRACE(table == &table_3b ? "3B" : "7B");
    const double knee = table == &table_3b ? 8 : 16;
    for (const double spread : {0.0, 0.3}) {
      SeededRandom random(3);
      SharedEngine engine(*table, spread > 0 ? lognormal_service(1, spread, random) : fixed_service(1));
      Simulation simulation(engine);
      simulation.until(600);
      EXPECT_GE(simulation.mean_limit(120, 600), 0.8 * knee);
      EXPECT_LE(simulation.mean_limit(120, 600), 1.5 * knee);
      EXPECT_GE(simulation.throughput(120, 600), 0.95 * table->at(knee));
    }
  }
}

TEST(AdaptiveLimit, JudgesBatchesThatMoveInLockstepAfterFullRounds) {
  for (const auto* table : {&table_3b, &table_7b}) {
    SCOPED_TRACE(table == &table_3b ? "3B" : "7B");
    const double knee = table == &table_3b ? 8 : 16;
    for (const int batch_max : {16, 128}) {
      LockstepEngine engine(*table, batch_max);
      Simulation simulation(engine);
      simulation.until(600);
      EXPECT_GE(simulation.mean_limit(120, 600), 0.8 * knee);
      EXPECT_LE(simulation.mean_limit(120, 600), 1.5 * knee);
      EXPECT_GE(simulation.throughput(120, 600), 0.95 * table->at(knee));
    }
  }
}

TEST(AdaptiveLimit, FollowsACapacityThatChanges) {
  for (const auto& [before, after] : {std::pair{64, 16}, {16, 4}, {4, 16}, {16, 64}, {64, 32}}) {
    for (const double spread : {0.0, 0.3}) {
      SCOPED_TRACE(testing::Message() << before << " to " << after << " places, spread " << spread);
      double throughput = 0;
      double queueing = 0;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        SeededRandom random(seed);
        SlotEngine engine(before, service_of({before, 1, spread}, random));
        Simulation simulation(engine);
        simulation.until(60);
        engine.set_slots(after, 60);
        simulation.until(230);
        throughput += simulation.throughput(150, 230) / after / 4;
        queueing += simulation.mean_queueing(150, 230) / 4;
      }
      EXPECT_GE(throughput, 0.93);
      EXPECT_LE(queueing, 0.35);
    }
  }
}

TEST(AdaptiveLimit, LongerPagesAreNotMistakenForLessCapacity) {
  SeededRandom random(1);
  SlotEngine engine(16, lognormal_service(1, 0.3, random));
  Simulation simulation(engine);
  simulation.until(60);
  engine.set_service(lognormal_service(2, 0.3, random));
  simulation.until(200);
  EXPECT_GE(simulation.throughput(100, 200), 0.95 * 8);
}

TEST(AdaptiveLimit, AClientThatCannotFillItDoesNotMoveIt) {
  SlotEngine engine(64, fixed_service(1));
  Simulation simulation(engine);
  simulation.until(60, 3);  // three at a time, where four are allowed
  EXPECT_EQ(simulation.limit().limit(), 4);
  simulation.until(120);
  EXPECT_GE(simulation.throughput(90, 120), 0.95 * 64);
  const int full = simulation.limit().limit();
  simulation.until(240, 10);
  EXPECT_NEAR(simulation.limit().limit(), full, full / 4);
  simulation.until(300);
  EXPECT_GE(simulation.throughput(250, 300), 0.95 * 64);
}

TEST(AdaptiveLimit, BacksOffAtOnceAndOncePerRoundWhenTheEngineRefuses) {
  AdaptiveLimit limit({.start = 10, .max = 256});
  std::vector<AdaptiveLimit::Ticket> tickets;
  for (int i = 0; i < 10; ++i) tickets.push_back(limit.start(at(0)));
  limit.refused(tickets[0], at(1));
  EXPECT_EQ(limit.limit(), 7);
  limit.refused(tickets[1], at(1.1));  // sent before the limit went down: no new evidence
  EXPECT_EQ(limit.limit(), 7);
  for (std::size_t i = 2; i < 10; ++i) limit.ended(tickets[i], at(1.2));
  EXPECT_EQ(limit.in_flight(), 0);
  const AdaptiveLimit::Ticket later = limit.start(at(2));
  limit.refused(later, at(3));
  EXPECT_EQ(limit.limit(), 1);  // one was in flight, and even that was too much
  const AdaptiveLimit::Ticket last = limit.start(at(4));
  limit.refused(last, at(5));
  EXPECT_EQ(limit.limit(), 1);
}

TEST(AdaptiveLimit, ARefusalOnTrialLeadsBackToWhatWasWell) {
  AdaptiveLimit limit({.start = 4, .max = 256});
  double now = 0;
  while (limit.limit() == 4) {  // a second each, four at a time, until twice as many are tried
    std::vector<AdaptiveLimit::Ticket> tickets;
    for (int i = 0; i < 4; ++i) tickets.push_back(limit.start(at(now)));
    now += 1;
    for (const AdaptiveLimit::Ticket& ticket : tickets) limit.answered(ticket, {}, at(now));
    ASSERT_LT(now, 20);
  }
  EXPECT_EQ(limit.limit(), 8);
  std::vector<AdaptiveLimit::Ticket> tickets;
  for (int i = 0; i < 8; ++i) tickets.push_back(limit.start(at(now)));
  limit.refused(tickets[7], at(now + 0.1));
  EXPECT_EQ(limit.limit(), 4);
}

TEST(AdaptiveLimit, RequestsThatEndWithoutAnAnswerDoNotMoveIt) {
  AdaptiveLimit limit({.start = 4, .max = 256});
  for (int i = 0; i < 200; ++i) {
    const AdaptiveLimit::Ticket ticket = limit.start(at(i));
    limit.ended(ticket, at(i + 0.5));
  }
  EXPECT_EQ(limit.limit(), 4);
  EXPECT_EQ(limit.in_flight(), 0);
}

TEST(AdaptiveLimit, AnEngineThatComesBackIsSoonGivenWhatItHad) {
  SlotEngine engine(64, fixed_service(0.5));
  Simulation simulation(engine);
  simulation.until(60);
  const int before = simulation.limit().limit();
  EXPECT_GE(before, 60);
  simulation.limit().come_back(at(60));
  EXPECT_LE(simulation.limit().limit(), before / 8);
  simulation.until(70);
  EXPECT_GE(simulation.throughput(64, 70), 0.95 * 128);
}

TEST(AdaptiveLimit, NothingIsTriedAboveACap) {
  for (const int slots : {1, 3, 6, 16}) {
    SCOPED_TRACE(slots);
    SlotEngine engine(slots, fixed_service(1));
    Simulation simulation(engine);
    simulation.limit().cap(slots);
    simulation.until(200);
    EXPECT_EQ(simulation.mean_queueing(0, 200), 0);
    EXPECT_EQ(simulation.limit().limit(), slots);
  }
}

TEST(AdaptiveLimit, ACapThatComesLateOrIsRaisedCounts) {
  SlotEngine engine(8, fixed_service(1));
  Simulation simulation(engine);
  simulation.until(60);
  EXPECT_GE(simulation.limit().limit(), 7);
  simulation.limit().cap(3);
  EXPECT_EQ(simulation.limit().limit(), 3);
  simulation.until(120);
  EXPECT_LE(simulation.limit().limit(), 3);
  simulation.limit().cap(8);
  simulation.until(600);
  EXPECT_GE(simulation.limit().limit(), 7);
  EXPECT_LE(simulation.limit().limit(), 8);
}

TEST(AdaptiveLimit, WhatIsHeldStillDoesNotGrow) {
  SlotEngine engine(32, fixed_service(1));
  Simulation simulation(engine);
  simulation.until(5);
  EXPECT_GT(simulation.limit().limit(), 4) << "a trial is under way";
  simulation.limit().hold_still(true);
  const int held = simulation.limit().limit();
  simulation.until(300);
  EXPECT_LE(simulation.limit().limit(), held);
  simulation.limit().hold_still(false);
  simulation.until(900);
  EXPECT_GE(simulation.limit().limit(), 30);
}

TEST(AdaptiveLimit, RemembersLittleOfAClientThatHardlyAsks) {
  // One question at a time tells nothing; a burst now and then fills the limit for a few of a cohort's requests.
  for (const int burst : {1, 4}) {
    SCOPED_TRACE(burst);
    AdaptiveLimit limit({});
    double now = 0;
    int cohorts_max = 0;
    for (int round = 0; round < 2000; ++round) {
      const int together = round % 5 == 0 ? burst : 1;
      std::vector<AdaptiveLimit::Ticket> tickets;
      for (int i = 0; i < together; ++i) tickets.push_back(limit.start(at(now)));
      now += 1;
      for (const auto& ticket : tickets) limit.answered(ticket, std::chrono::milliseconds(100), at(now));
      cohorts_max = std::max(cohorts_max, limit.cohorts());
    }
    EXPECT_LE(cohorts_max, 12);
  }
}

}  // namespace
}  // namespace lectern::provider
