#include "provider/engine_load.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

TEST(EngineLoad, SlotsAreCounted) {
  EXPECT_EQ(parse_slots(R"([{"id":0,"is_processing":true},{"id":1,"is_processing":false,"params":{}}])"),
            (LoadFigures{.slots = 2, .running = 1, .waiting = std::nullopt}));
  for (const char* other : {"", "[]", "{}", "[1]", R"([{"id":0}])", R"([{"is_processing":"yes"}])", "<html></html>",
                            R"({"error":{"code":501,"message":"This server does not support slots endpoint."}})"}) {
    EXPECT_EQ(parse_slots(other), std::nullopt) << other;
  }
}

TEST(EngineLoad, GaugesAreFoundAmongManyLines) {
  constexpr std::string_view vllm =
      "# HELP vllm:num_requests_running Number of requests in model execution batches.\n"
      "# TYPE vllm:num_requests_running gauge\n"
      "vllm:num_requests_running{engine=\"0\",model_name=\"a}b \\\" c\"} 7.0\n"
      "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 90.0\n"
      "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 3.0 1700000000000\n"
      "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\n";
  EXPECT_EQ(parse_metrics(vllm), (LoadFigures{.slots = std::nullopt, .running = 7, .waiting = 3}));
  EXPECT_EQ(parse_metrics("sglang:num_running_reqs 2\nsglang:num_queue_reqs 1e1"),
            (LoadFigures{.slots = std::nullopt, .running = 2, .waiting = 10}))
      << "the last line may lack its end";
  EXPECT_EQ(parse_metrics("vllm:num_requests_running{engine=\"0\"} 2\nvllm:num_requests_running{engine=\"1\"} 3\n"),
            (LoadFigures{.slots = std::nullopt, .running = 5, .waiting = std::nullopt}))
      << "an engine for each part of a parallel server";
}

TEST(EngineLoad, WhatIsNoFigureIsNone) {
  for (const char* other :
       {"", "\n\n", "llamacpp:requests_processing 3\nllamacpp:requests_deferred 9\n", "vllm:num_requests_running",
        "vllm:num_requests_running NaN\n", "vllm:num_requests_running +Inf\n", "vllm:num_requests_running -1\n",
        "vllm:num_requests_running 1e300\n", "vllm:num_requests_running{engine=\"0\" 4\n",
        "vllm:num_requests_running{e=\"\\", "xvllm:num_requests_running 4\n"}) {
    EXPECT_EQ(parse_metrics(other), std::nullopt) << other;
  }
}

struct Case {
  std::string_view name;
  LoadFigures figures;
  int ours;
  LoadHint hint;
};

TEST(EngineLoad, Hints) {
  const Case cases[] = {
      {"it says nothing", {}, 3, {}},
      {"all of it is ours", {.slots = {}, .running = 4, .waiting = 2}, 6, {}},
      {"0 waiting, and some of ours not counted yet", {.slots = {}, .running = 4, .waiting = 0}, 9, {}},
      {"others run", {.slots = {}, .running = 9, .waiting = 0}, 4, {.slots = {}, .others = 5, .crowded = false}},
      {"others wait", {.slots = {}, .running = 8, .waiting = 2}, 4, {.slots = {}, .others = 6, .crowded = true}},
      {"its slots", {.slots = 4, .running = 2, .waiting = {}}, 2, {.slots = 4, .others = 0, .crowded = false}},
      {"full of ours", {.slots = 4, .running = 4, .waiting = {}}, 4, {.slots = 4, .others = 0, .crowded = false}},
      {"others' too, but not full",
       {.slots = 4, .running = 3, .waiting = {}},
       1,
       {.slots = 4, .others = 2, .crowded = false}},
      {"full, not of ours alone",
       {.slots = 4, .running = 4, .waiting = {}},
       1,
       {.slots = 4, .others = 3, .crowded = true}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(hint_from(c.figures, c.ours), c.hint);
  }
}

}  // namespace
}  // namespace lectern::provider
