// Texts, latencies, scripts and figures: what the simulated engine decides without a socket.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "engine/sim/answer.h"
#include "engine/sim/http_request.h"
#include "engine/sim/latency.h"
#include "engine/sim/page_text.h"
#include "engine/sim/script.h"
#include "engine/sim/settings.h"
#include "engine/sim/stats.h"

namespace lectern::sim {
namespace {

using namespace std::chrono_literals;

TEST(PageText, HasAboutTheWordsThatWereAskedForAndDependsOnTheImage) {
  Sha256Digest one{1};
  Sha256Digest two{2};
  const std::string text = page_text(one, {.words = 150});
  const auto words = std::count_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_NEAR(static_cast<double>(words), 150, 25);
  EXPECT_EQ(page_text(one, {.words = 150}), text);
  EXPECT_NE(page_text(two, {.words = 150}), text);
}

TEST(PageText, TokensJoinToTheTextAndKeepLettersWhole) {
  const std::string text = "Élan, naïve café 😀 internationalisation\n\n| a | 12345678 |";
  std::string joined;
  for (const std::string_view token : tokens_of(text)) {
    EXPECT_NE(static_cast<unsigned char>(token[0]) & 0xC0U, 0x80U) << "a token begins inside a letter";
    joined += token;
  }
  EXPECT_EQ(joined, text);
}

TEST(PageText, ALoopIsAsLongAsAsked) {
  for (const int tokens : {1, 100, 4096})
    EXPECT_GT(tokens_of(looping_text({}, tokens)).size(), static_cast<std::size_t>(tokens));
}

TEST(Latency, ModelsAreReadAndWrittenAlike) {
  for (const std::string_view text : {"fixed:0.5s", "lognormal:0.5s,0.4", "tokens:8000,60"}) {
    SCOPED_TRACE(text);
    EXPECT_EQ(to_string(parse_latency(text).value()), text);
  }
  EXPECT_EQ(parse_latency("fixed:20ms")->mean_s, 0.02);
  for (const std::string_view text :
       {"", "fixed", "fixed:x", "fixed:-1s", "fixed:1s,2", "lognormal:1s", "tokens:5", "tokens:0,1", "later:1"})
    EXPECT_FALSE(parse_latency(text).has_value()) << text;
}

TEST(Latency, LognormalHasItsMeanAndTokensTheirTime) {
  const LatencyModel model = parse_latency("lognormal:2s,0.5").value();
  double sum = 0;
  std::set<double> different;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const double total = work_of(model, {.seed = 3, .request = i}).total_s();
    sum += total;
    different.insert(total);
  }
  EXPECT_NEAR(sum / 20'000, 2, 0.05);
  EXPECT_GT(different.size(), 19'000U);
  const Work work = work_of(parse_latency("tokens:1000,50").value(), {.prompt_tokens = 500, .completion_tokens = 100});
  EXPECT_DOUBLE_EQ(work.prefill_s, 0.5);
  EXPECT_DOUBLE_EQ(work.decode_s, 2);
}

class ScriptTest : public testing::Test {
 protected:
  Settings settings_;
  ChatRequest request_{.stream = true, .include_usage = true};

  Script make(std::string_view fault = "") {
    if (!fault.empty()) fault_ = parse_fault(fault).value();
    return make_script({.settings = &settings_, .request = &request_, .fault = fault.empty() ? nullptr : &fault_});
  }
  FaultRule fault_;
};

TEST_F(ScriptTest, AStreamIsSpreadOverItsTime) {
  settings_.latency = parse_latency("fixed:4s").value();
  const Script script = make();
  ASSERT_GT(script.steps.size(), 10U);
  EXPECT_DOUBLE_EQ(script.steps.front().at_work_s, 1) << "the first token comes after a quarter";
  EXPECT_DOUBLE_EQ(script.steps.back().at_work_s, 4);
  EXPECT_EQ(script.steps.back().end, script.bytes.size());
  for (std::size_t i = 1; i < script.steps.size(); ++i) {
    EXPECT_GE(script.steps[i].at_work_s, script.steps[i - 1].at_work_s);
    EXPECT_GT(script.steps[i].end, script.steps[i - 1].end);
  }
}

TEST_F(ScriptTest, WithoutLatencyAStreamIsOneStep) {
  EXPECT_EQ(make().steps.size(), 1U);
}

TEST_F(ScriptTest, APlainReplyComesWholeAtItsEnd) {
  settings_.latency = parse_latency("fixed:4s").value();
  request_.stream = false;
  const Script script = make();
  ASSERT_EQ(script.steps.size(), 1U);
  EXPECT_DOUBLE_EQ(script.steps[0].at_work_s, 4);
}

TEST_F(ScriptTest, HalvesEndEarlyInTimeToo) {
  settings_.latency = parse_latency("fixed:4s").value();
  const std::size_t whole = make().bytes.size();
  const Script cut = make("cut");
  EXPECT_EQ(cut.bytes.size(), whole / 2);
  EXPECT_EQ(cut.steps.back().end, cut.bytes.size());
  EXPECT_LT(cut.steps.back().at_work_s, 4);
  EXPECT_EQ(cut.ending, Ending::close);
  EXPECT_EQ(make("hang-mid-stream").ending, Ending::silence);
}

TEST_F(ScriptTest, OnlyVllmStartsBeforeTheSlot) {
  const ScriptInput input{.settings = &settings_, .request = &request_};
  EXPECT_TRUE(early_bytes(input).starts_with("HTTP/1.1 200"));
  settings_.as = Dialect::llama_server;
  EXPECT_EQ(early_bytes(input), "");
  EXPECT_TRUE(make().bytes.starts_with("HTTP/1.1 200"));
  settings_.as = Dialect::vllm;
  request_.stream = false;
  EXPECT_EQ(early_bytes(input), "");
}

TEST(Settings, AllOrNothing) {
  Settings settings;
  EXPECT_TRUE(apply_json(
      settings, R"({"slots": 3, "latency": "fixed:1s", "fault": ["cut:0.5", "hang:first=1"], "loading": true})"));
  EXPECT_EQ(settings.slots, 3);
  EXPECT_EQ(settings.faults.size(), 2U);
  EXPECT_TRUE(settings.loading);
  EXPECT_FALSE(apply_json(settings, R"({"slots": 9, "latency": "soon"})").has_value());
  EXPECT_EQ(settings.slots, 3);
  EXPECT_TRUE(apply_json(settings, R"({"fault": []})"));
  EXPECT_TRUE(settings.faults.empty());
}

TEST(Settings, EachIsRefusedByName) {
  for (const auto& [name, value] : {std::pair{"as", "ollama"},
                                    {"slots", "-1"},
                                    {"slots", "2x"},
                                    {"time-scale", "0"},
                                    {"loading", "maybe"},
                                    {"text", "/no/such/file"},
                                    {"latency", "1"},
                                    {"fault", "boom"},
                                    {"keep-alive", "soon"}}) {
    Settings settings;
    const Status done = set(settings, name, value);
    ASSERT_FALSE(done.has_value()) << name;
    EXPECT_NE(done.error().for_caller.find(value), std::string::npos) << done.error().for_caller;
  }
}

TEST(Stats, SlotTimeIsCountedBySecond) {
  Stats stats;
  const TimePoint start{100s};
  stats.arrived(start, 10);
  stats.occupancy(start, 2, 1);
  stats.occupancy(start + 1500ms, 1, 0);
  stats.answered(start + 1500ms, 10, 20);
  const auto json = nlohmann::json::parse(stats.json(start + 2s, 0));
  EXPECT_DOUBLE_EQ(json["slot_busy_s"], 3.5);
  EXPECT_DOUBLE_EQ(json["span_s"], 1.5);
  EXPECT_EQ(json["each_second"]["busy_s"], (std::vector<double>{2, 1.5}));
  EXPECT_EQ(json["each_second"]["answered"], (std::vector<int>{0, 1}));
  EXPECT_EQ(json["running_max"], 2);
}

TEST(Stats, ConditionsKnowCountersFromGauges) {
  Stats stats;
  stats.arrived(TimePoint{1s}, 0);
  stats.arrived(TimePoint{1s}, 0);
  stats.occupancy(TimePoint{1s}, 2, 0);
  const auto holds = [&](std::string_view query) { return stats.hold(Stats::parse_conditions(query).value(), 0); };
  EXPECT_TRUE(holds("requests=1&running=2"));
  EXPECT_FALSE(holds("running=1")) << "running must equal it";
  EXPECT_FALSE(holds("requests=3"));
  EXPECT_FALSE(Stats::parse_conditions("colour=1").has_value());
  EXPECT_FALSE(Stats::parse_conditions("running").has_value());
}

TEST(HttpRequest, HeadsAreReadPieceByPiece) {
  const std::string_view whole =
      "POST /v1/x?a=1 HTTP/1.1\r\ncontent-LENGTH: 12\r\nAuthorization: Bearer key\r\nConnection: close\r\n\r\nbody";
  for (std::size_t size = 0; size + 4 < whole.size(); ++size)
    EXPECT_FALSE(parse_head(whole.substr(0, size)).value().has_value()) << size;
  const RequestHead head = parse_head(whole).value().value();
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/v1/x");
  EXPECT_EQ(head.query, "a=1");
  EXPECT_EQ(head.content_length, 12U);
  EXPECT_EQ(head.bearer, "key");
  EXPECT_FALSE(head.keep_alive);
  EXPECT_EQ(parse_head("GET http://host:80/v1/models?a=1 HTTP/1.1\r\n\r\n").value()->path, "/v1/models")
      << "as a proxy is asked";
  EXPECT_EQ(parse_head("GET http://host HTTP/1.1\r\n\r\n").value()->path, "/");
  EXPECT_EQ(parse_head("GET /x?of=http://host/y HTTP/1.1\r\n\r\n").value()->path, "/x");
  for (const std::string_view bad : {"hello\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nx\r\n\r\n",
                                     "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"})
    EXPECT_FALSE(parse_head(bad).has_value()) << bad;
  EXPECT_FALSE(parse_head(std::string(100'000, 'x')).has_value()) << "a head has an end";
}

}  // namespace
}  // namespace lectern::sim
