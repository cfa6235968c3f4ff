// The simulated engine as a process, over real sockets: what each dialect says, and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/chat_client.h"
#include "temp_folder.h"

namespace lectern::sim {
namespace {

using ::testing::HasSubstr;

TEST(SimServer, TheAnswerNamesItsImageAndIsTheSameEachTime) {
  const SimEngine engine;
  const std::string text = content_of(ask(engine.port(), post(chat())));
  EXPECT_TRUE(text.starts_with("# Page " + sha256_hex("hello") + "\n")) << text;
  EXPECT_EQ(content_of(ask(engine.port(), post(chat()))), text);
}

TEST(SimServer, AStreamSaysTheSameAsAPlainReply) {
  for (const char* as : {"vllm", "llama-server"}) {
    SCOPED_TRACE(as);
    const SimEngine engine({"--as", as});
    const std::string text = content_of(ask(engine.port(), post(chat())));
    const auto reply = ask(engine.port(), post(chat(streamed)));
    EXPECT_THAT(reply.head, HasSubstr("text/event-stream"));
    const auto events = events_of(reply.body);
    EXPECT_EQ(text_of(events), text);
    ASSERT_GE(events.size(), 5U);
    EXPECT_EQ(events[0]["choices"][0]["delta"]["role"], "assistant");
    EXPECT_EQ(events.back(), "[DONE]");
    const Json& usage = events[events.size() - 2];
    EXPECT_TRUE(usage["choices"].empty());
    EXPECT_GT(usage["usage"]["completion_tokens"], 100);
    EXPECT_EQ(usage.contains("timings"), as == std::string_view("llama-server"));
    EXPECT_EQ(events[events.size() - 3]["choices"][0]["finish_reason"], "stop");
  }
}

TEST(SimServer, UsageComesOnlyWhenAskedFor) {
  const SimEngine engine;
  for (const Json& each : events_of(ask(engine.port(), post(chat(R"("stream":true,)"))).body))
    EXPECT_FALSE(each.is_object() && each.contains("usage"));
}

TEST(SimServer, MaxTokensCutsTheAnswer) {
  const SimEngine engine;
  const Json reply = Json::parse(ask(engine.port(), post(chat(R"("max_tokens":7,)"))).body);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 7);
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
}

TEST(SimServer, LogprobsCoverTheWholeText) {
  const SimEngine engine;
  const Json reply = Json::parse(ask(engine.port(), post(chat(R"("logprobs":true,"top_logprobs":1,)"))).body);
  std::string text;
  for (const Json& each : reply["choices"][0]["logprobs"]["content"]) {
    text += each["token"].get<std::string>();
    EXPECT_LE(each["logprob"], 0);
    EXPECT_EQ(each["top_logprobs"].size(), 1U);
  }
  EXPECT_EQ(text, reply["choices"][0]["message"]["content"].get<std::string>());
}

TEST(SimServer, TheProbabilityOfTokensCanBeSet) {
  const SimEngine engine({"--probability", "0.5"});
  const Json reply = Json::parse(ask(engine.port(), post(chat(R"("logprobs":true,)"))).body);
  double sum = 0;
  const Json& tokens = reply["choices"][0]["logprobs"]["content"];
  for (const Json& each : tokens) sum += each["logprob"].get<double>();
  EXPECT_NEAR(std::exp(sum / static_cast<double>(tokens.size())), 0.5, 0.1);
  for (const char* bad : {R"({"probability": 0})", R"({"probability": 1.5})", R"({"probability": "often"})"})
    EXPECT_ANY_THROW(engine.control(bad)) << bad;
}

TEST(SimServer, TextMayBeAFileOrThePrompt) {
  const TempFolder folder;
  const std::string file = folder.path() / "answer.md";
  std::ofstream(file) << "Fixed \"text\"\n";
  const SimEngine engine({"--text", file});
  EXPECT_EQ(content_of(ask(engine.port(), post(chat()))), "Fixed \"text\"\n");
  engine.control(R"({"text": "echo"})");
  EXPECT_EQ(content_of(ask(engine.port(), post(chat()))), "Read.");
  engine.control(R"({"text": "page", "grounding": true})");
  EXPECT_THAT(content_of(ask(engine.port(), post(chat()))), HasSubstr("<|ref|>title<|/ref|><|det|>[["));
}

TEST(SimServer, RefusalsHaveTheShapeOfTheDialect) {
  struct Case {
    std::string_view name;
    std::string_view as;
    std::string_view settings;
    std::string request;
    int status;
    std::string_view body;
  };
  const Case cases[] = {
      {"key", "vllm", R"({"api-key":"s"})", post(chat()), 401, R"({"error":"Unauthorized"})"},
      {"key", "llama-server", R"({"api-key":"s"})", post(chat()), 401, R"("type":"authentication_error")"},
      {"good key", "vllm", R"({"api-key":"s"})", post(chat(), "Authorization: Bearer s\r\n"), 200, "# Page"},
      {"x-api-key", "llama-server", R"({"api-key":"s"})", post(chat(), "X-Api-Key: s\r\n"), 200, "# Page"},
      {"open pages", "vllm", R"({"api-key":"s"})", get("/health"), 200, ""},
      {"model", "vllm", R"({"model":"other"})", post(chat()), 404,
       R"("type":"NotFoundError","param":"model","code":404)"},
      {"model", "llama-server", R"({"model":"other"})", post(chat()), 200, "# Page"},
      {"context", "vllm", R"({"context-tokens":10})", post(chat()), 400, "maximum context length"},
      {"context", "llama-server", R"({"context-tokens":10})", post(chat()), 400,
       R"("type":"exceed_context_size_error","n_prompt_tokens")"},
      {"broken JSON", "vllm", "{}", post("{"), 400, R"("type":"Bad Request")"},
      {"broken JSON", "llama-server", "{}", post("{"), 500, R"("type":"server_error")"},
      {"bad image", "vllm", R"({"check-images":true})", post(chat()), 400, "Failed to load image"},
      {"options without stream", "vllm", "{}", post(chat(R"("stream_options":{},)")), 400, "stream_options"},
      {"loading", "llama-server", R"({"loading":true})", post(chat()), 503, R"("type":"unavailable_error")"},
      {"no such page", "vllm", "{}", get("/slots"), 404, ""},
      {"models", "vllm", "{}", get("/v1/models"), 200, R"("max_model_len":)"},
      {"models", "llama-server", "{}", get("/v1/models"), 200, R"("meta":)"},
      {"metrics", "vllm", "{}", get("/metrics"), 200, "vllm:num_requests_running{"},
      {"metrics", "llama-server", "{}", get("/metrics"), 200, "llamacpp:requests_deferred 0"},
      {"slots", "llama-server", R"({"slots":2})", get("/slots?fail_on_no_slot=1"), 200, R"("is_processing":false)"},
      {"props", "llama-server", R"({"slots":2})", get("/props"), 200, R"("total_slots":2)"},
      {"not HTTP", "vllm", "{}", "hello\r\n\r\n", 400, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(fmt::format("{} {}", c.as, c.name));
    const SimEngine engine({"--as", std::string(c.as)});
    engine.control(c.settings);
    const auto reply = ask(engine.port(), c.request);
    EXPECT_EQ(reply.status, c.status);
    EXPECT_THAT(reply.body, HasSubstr(std::string(c.body)));
  }
}

TEST(SimServer, ChunkedBodiesAndExpectContinueAreUnderstood) {
  const SimEngine engine;
  RawClient client(engine.port());
  const std::string body = chat();
  client.send("POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(client.read_until("100 Continue\r\n\r\n"));
  client.send(fmt::format("{:x}\r\n{}\r\n", 10, body.substr(0, 10)));
  client.send(fmt::format("{:x}\r\n{}\r\n0\r\n\r\n", body.size() - 10, body.substr(10)));
  ASSERT_TRUE(client.read_until("finish_reason"));
}

TEST(SimServer, RequestsOnOneConnectionAreAnsweredInTurn) {
  const SimEngine engine;
  RawClient client(engine.port());
  client.send(post(chat()) + get("/health") + post(chat(streamed)));
  EXPECT_EQ(client.reply()->status, 200);
  EXPECT_EQ(client.reply()->body, "");
  EXPECT_THAT(client.reply()->body, HasSubstr("[DONE]"));
}

TEST(SimServer, VllmStartsAStreamAtOnceAndLlamaServerWhenASlotIsFree) {
  for (const std::string as : {"vllm", "llama-server"}) {
    SCOPED_TRACE(as);
    const SimEngine engine({"--as", as, "--slots", "1", "--latency", "fixed:1000s"});
    RawClient first(engine.port());
    first.send(post(chat(streamed)));
    engine.await("running=1");
    ASSERT_TRUE(first.read_until("\r\n\r\n")) << "with a slot both send their headers before the first token";
    RawClient second(engine.port());
    second.send(post(chat(streamed)));
    engine.await("running=1&waiting=1");
    if (as == "vllm") {
      EXPECT_TRUE(second.read_until("\r\n\r\n"));
    } else {
      second.send(get("/health"));  // would be answered only after the stream
      first.close();                // frees the slot
      engine.await("running=1&waiting=0&cancelled=1");
      EXPECT_TRUE(second.read_until("\r\n\r\n"));
    }
  }
}

TEST(SimServer, AClientThatLeavesFreesItsSlot) {
  for (const std::string as : {"vllm", "llama-server"}) {
    SCOPED_TRACE(as);
    const SimEngine engine({"--as", as, "--slots", "1", "--latency", "fixed:1000s"});
    for (const bool is_streamed : {true, false}) {  // not streamed, llama-server notices after a quiet second
      RawClient client(engine.port());
      client.send(post(chat(is_streamed ? streamed : "")));
      engine.await("running=1");
      client.close();
      engine.await("running=0");
    }
  }
}

TEST(SimServer, SlotsQueueAndTheFiguresSaySo) {
  const SimEngine engine({"--slots", "2", "--latency", "fixed:1000s"});
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<RawClient>(engine.port()));
    clients.back()->send(post(chat()));
  }
  engine.await("running=2&waiting=3");
  engine.control(R"({"time-scale": 1e-9})");
  for (auto& each : clients) EXPECT_EQ(each->reply()->status, 200);
  const Json stats = Json::parse(engine.await("answered=5&running=0"));
  EXPECT_EQ(stats["requests"], 5);
  EXPECT_EQ(stats["running_max"], 2);
  EXPECT_EQ(stats["waiting_max"], 3);
  EXPECT_GT(stats["slot_busy_s"], 0);
  EXPECT_GT(stats["queue_wait_s"], 0);
  EXPECT_EQ(stats["connections"], 5);
  engine.reset();
  EXPECT_EQ(Json::parse(engine.stats())["requests"], 0);
}

TEST(SimServer, PausedRequestsWaitUntilWoken) {
  const SimEngine engine({"--paused"});
  RawClient client(engine.port());
  client.send(post(chat()));
  engine.await("waiting=1&running=0");
  engine.control(R"({"paused": false})");
  EXPECT_EQ(client.reply()->status, 200);
}

TEST(SimServer, IdleConnectionsAreClosed) {
  const SimEngine engine({"--keep-alive", "1ms"});
  RawClient client(engine.port());
  client.send(get("/health"));
  EXPECT_EQ(client.reply()->status, 200);
  EXPECT_EQ(client.read_all(), "");
}

TEST(SimServer, LlamaServerEndsAConnectionAfterAHundredRequests) {
  const SimEngine engine({"--as", "llama-server", "--words", "1"});
  RawClient client(engine.port());
  for (int i = 1; i <= 100; ++i) {
    client.send(post(chat()));
    const auto reply = client.reply();
    ASSERT_TRUE(reply.has_value());
    EXPECT_EQ(reply->head.find("Connection: close") != std::string::npos, i == 100) << i;
  }
  EXPECT_EQ(client.read_all(), "");
}

TEST(SimServer, ADeadEngineRefusesConnectionsAndComesBack) {
  const SimEngine engine({"--latency", "fixed:1000s"});
  RawClient client(engine.port());
  client.send(post(chat(streamed)));
  engine.await("running=1");
  engine.control(R"({"dead": true})");
  client.read_all();  // ends: the server has closed it
  EXPECT_FALSE(RawClient(engine.port()).is_connected());
  engine.control(R"({"dead": false, "time-scale": 1e-9})");
  engine.await("running=0&deaths=1");
  EXPECT_EQ(ask(engine.port(), post(chat())).status, 200);
}

TEST(SimServer, DiesOnTheNamedRequestAndReturnsByItself) {
  const SimEngine engine({"--die-after", "2", "--back-after", "1ms"});
  EXPECT_EQ(ask(engine.port(), post(chat())).status, 200);
  RawClient client(engine.port());
  client.send(post(chat()));
  EXPECT_EQ(client.read_all(), "");
  engine.await("deaths=1");
  while (!RawClient(engine.port()).is_connected()) {  // refused until it is back
  }
  EXPECT_EQ(ask(engine.port(), post(chat())).status, 200);
}

TEST(SimServer, VllmDoesNotListenWhileItLoads) {
  const SimEngine engine({"--loading"});
  EXPECT_FALSE(RawClient(engine.port()).is_connected());
  engine.control(R"({"loading": false})");
  engine.await("running=0");
  EXPECT_EQ(ask(engine.port(), post(chat())).status, 200);
}

TEST(SimServer, AUnixSocketServesAndGoesWhenTheEngineDies) {
  const TempFolder folder;
  const std::string path = folder.path() / "engine.sock";
  const SimEngine engine({"--listen", "unix:" + path});
  RawClient client(path);
  client.send(post(chat()));
  EXPECT_EQ(client.reply()->status, 200);
  engine.control(R"({"dead": true})");
  engine.await("deaths=1");
  EXPECT_FALSE(RawClient(path).is_connected());
  EXPECT_FALSE(std::filesystem::exists(path));
  engine.control(R"({"dead": false})");
  engine.await("running=0");
  EXPECT_TRUE(RawClient(path).is_connected());
}

TEST(SimServer, TheLoadHeaderComesWhenAskedFor) {
  const SimEngine engine({"--slots", "4"});
  EXPECT_THAT(ask(engine.port(), post(chat(), "endpoint-load-metrics-format: text\r\n")).head,
              HasSubstr("endpoint-load-metrics: TEXT named_metrics.kv_cache_usage_perc=0"));
  EXPECT_EQ(ask(engine.port(), post(chat())).head.find("endpoint-load-metrics"), std::string::npos);
}

TEST(SimServer, AControlThatIsNotUnderstoodChangesNothing) {
  const SimEngine engine;
  EXPECT_THROW(engine.control(R"({"words": 1, "slots": "many"})"), std::runtime_error);
  EXPECT_THROW(engine.control(R"({"colour": "red"})"), std::runtime_error);
  EXPECT_GT(content_of(ask(engine.port(), post(chat()))).size(), 200U);
}

}  // namespace
}  // namespace lectern::sim
