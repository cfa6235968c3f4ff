// Each fault once, streamed and not, as a client meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/chat_client.h"

namespace lectern::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FaultTest : public testing::Test {
 protected:
  RawClient::Reply plain(std::string_view fault) {
    set(fault);
    return ask(engine_.port(), post(chat()));
  }
  std::vector<Json> streamed_events(std::string_view fault) {
    set(fault);
    return events_of(ask(engine_.port(), post(chat(streamed))).body);
  }
  void set(std::string_view fault) { engine_.control(fmt::format(R"({{"fault": "{}"}})", fault)); }
  // All that comes before the server closes the connection.
  std::string until_closed(std::string_view fields) {
    RawClient client(engine_.port());
    client.send(post(chat(fields)));
    return client.read_all();
  }

  SimEngine engine_;
};

TEST_F(FaultTest, TooManyRequests) {
  const auto reply = plain("429:retry-after=2");
  EXPECT_EQ(reply.status, 429);
  EXPECT_THAT(reply.head, HasSubstr("Retry-After: 2\r\n"));
  EXPECT_THAT(reply.body, HasSubstr("rate_limit_exceeded"));
  EXPECT_THAT(plain("429").head, Not(HasSubstr("Retry-After")));
}

TEST_F(FaultTest, Unavailable) {
  EXPECT_EQ(plain("503").status, 503);
  EXPECT_EQ(Json::parse(engine_.stats())["faults"]["503"], 1);
}

TEST_F(FaultTest, OutOfMemory) {
  EXPECT_EQ(plain("oom").status, 500);
  EXPECT_THAT(plain("oom").body, HasSubstr("CUDA out of memory"));
  EXPECT_EQ(ask(engine_.port(), post(chat(streamed))).status, 500);
  engine_.control(R"({"as": "llama-server"})");
  EXPECT_THAT(plain("oom").body, HasSubstr("CUDA error: out of memory"));
}

TEST_F(FaultTest, DropSendsNothing) {
  set("drop");
  EXPECT_EQ(until_closed(""), "");
  EXPECT_EQ(until_closed(streamed), "");
}

TEST_F(FaultTest, HangSendsNothingAndKeepsItsSlot) {
  set("hang");
  for (const std::string_view fields : {std::string_view(""), streamed}) {
    RawClient client(engine_.port());
    client.send(post(chat(fields)));
    engine_.await("running=1");
    EXPECT_EQ(ask(engine_.port(), get("/health")).status, 200);
    client.close();
    engine_.await("running=0");
  }
  EXPECT_EQ(Json::parse(engine_.stats())["cancelled"], 2);
}

TEST_F(FaultTest, HangMidStreamSendsHalf) {
  set("hang-mid-stream");
  RawClient client(engine_.port());
  client.send(post(chat(streamed)));
  ASSERT_TRUE(client.read_until("# Page"));
  EXPECT_THAT(client.read(), Not(HasSubstr("[DONE]")));
  engine_.await("running=1");
  client.close();
  engine_.await("running=0");
}

TEST_F(FaultTest, CutEndsInTheMiddle) {
  set("cut");
  const std::string stream = until_closed(streamed);
  EXPECT_THAT(stream, HasSubstr("# Page"));
  EXPECT_THAT(stream, Not(HasSubstr("[DONE]")));
  const std::string body = until_closed("");
  EXPECT_THAT(body, HasSubstr("Content-Length"));
  EXPECT_THAT(body, Not(HasSubstr("finish_reason")));
}

TEST_F(FaultTest, SlowBytesTrickleButArrive) {
  set("slow-bytes:bytes=100:interval=100s");
  RawClient client(engine_.port());
  client.send(post(chat()));
  ASSERT_TRUE(client.read_until("HTTP/1.1 200"));
  EXPECT_EQ(client.read().size(), 100U);
  engine_.control(R"({"time-scale": 1e-9})");
  EXPECT_THAT(client.reply()->body, HasSubstr(R"("finish_reason":"stop")"));
}

TEST_F(FaultTest, Garbage) {
  const auto reply = plain("garbage");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(Json::accept(reply.body));
  const auto stream = ask(engine_.port(), post(chat(streamed)));
  EXPECT_THROW(events_of(stream.body), Json::parse_error);
}

TEST_F(FaultTest, WrongContentType) {
  for (const std::string_view fields : {std::string_view(""), streamed}) {
    set("wrong-content-type");
    const auto reply = ask(engine_.port(), post(chat(fields)));
    EXPECT_EQ(reply.status, 200);
    EXPECT_THAT(reply.head, HasSubstr("text/html"));
    EXPECT_THAT(reply.body, HasSubstr("<html>"));
  }
}

TEST_F(FaultTest, LoopRepeatsUntilMaxTokens) {
  set("loop");
  const Json reply = Json::parse(ask(engine_.port(), post(chat(R"("max_tokens":600,)"))).body);
  EXPECT_EQ(reply["usage"]["completion_tokens"], 600);
  EXPECT_EQ(reply["choices"][0]["finish_reason"], "length");
  const std::string text = reply["choices"][0]["message"]["content"];
  const std::size_t sentence = text.find("\n\n") + 2;
  const std::string first = text.substr(sentence, text.find('.', sentence) + 1 - sentence);
  EXPECT_NE(text.find(first, text.find(first) + first.size()), std::string::npos);
}

TEST_F(FaultTest, TruncatedEmptyRefusalAndAbort) {
  const std::string whole = content_of(plain("none"));
  const Json truncated = Json::parse(plain("truncated").body)["choices"][0];
  EXPECT_EQ(truncated["finish_reason"], "length");
  EXPECT_TRUE(whole.starts_with(truncated["message"]["content"].get<std::string>()));
  const Json aborted = Json::parse(plain("abort").body)["choices"][0];
  EXPECT_EQ(aborted["finish_reason"], "abort");
  EXPECT_LT(aborted["message"]["content"].get<std::string>().size(), whole.size());
  EXPECT_EQ(content_of(plain("empty")), "");
  EXPECT_THAT(content_of(plain("refusal")), HasSubstr("I'm sorry"));
  EXPECT_EQ(text_of(streamed_events("empty")), "");
  const auto events = streamed_events("abort");
  EXPECT_EQ(events[events.size() - 3]["choices"][0]["finish_reason"], "abort");
}

TEST_F(FaultTest, AnErrorInsideAStream) {
  const auto vllm = streamed_events("error-in-stream");
  EXPECT_EQ(vllm.back(), "[DONE]");
  EXPECT_EQ(vllm[vllm.size() - 2]["error"]["code"], 500);
  EXPECT_THAT(text_of(vllm), HasSubstr("# Page"));
  engine_.control(R"({"as": "llama-server"})");
  EXPECT_EQ(streamed_events("error-in-stream").back()["error"]["type"], "server_error") << "no [DONE] after it";
  EXPECT_EQ(plain("error-in-stream").status, 500);
}

TEST_F(FaultTest, ScheduledFaultsEndAndTheNextRequestIsWhole) {
  set("503:first=2");
  EXPECT_EQ(ask(engine_.port(), post(chat())).status, 503);
  EXPECT_EQ(ask(engine_.port(), post(chat())).status, 503);
  EXPECT_EQ(ask(engine_.port(), post(chat())).status, 200);
  engine_.reset();
  EXPECT_EQ(ask(engine_.port(), post(chat())).status, 503) << "a reset counts requests afresh";
}

TEST_F(FaultTest, APageChosenByItsImageFailsEachTime) {
  set("empty:image=" + sha256_hex("hello").substr(0, 8));
  EXPECT_EQ(content_of(ask(engine_.port(), post(chat()))), "");
  EXPECT_EQ(content_of(ask(engine_.port(), post(chat()))), "");
  EXPECT_NE(content_of(ask(engine_.port(), post(R"({"messages":[{"content":"other"}]})"))), "");
}

}  // namespace
}  // namespace lectern::sim
