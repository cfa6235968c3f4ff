// What servers send, byte for byte, and what becomes of it.
#include "provider/openai_answer.h"

#include <gtest/gtest.h>

#include <numeric>

namespace lectern::provider {
namespace {

constexpr std::string_view event_stream = "Content-Type: text/event-stream; charset=utf-8\r\n";
constexpr std::string_view json = "Content-Type: application/json\r\n";

struct Heard {
  Answer answer;
  std::vector<std::string> pieces;
  std::string all() const { return std::accumulate(pieces.begin(), pieces.end(), std::string()); }
};

struct Sent {
  std::string_view bytes;
  std::string_view headers = event_stream;
  int status = 200;
  std::optional<FailureReason> lost;  // how the transfer ended, if not well
};

Heard hear(const Sent& sent, std::size_t step, int pieces_max = 1'000'000) {
  std::vector<std::string> pieces;
  AnswerReader reader("http://gpu", [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return static_cast<int>(pieces.size()) < pieces_max;
  });
  reader.take_head({.status = sent.status, .lines = std::string(sent.headers)});
  for (std::size_t at = 0; at < sent.bytes.size(); at += step) {
    if (!reader.take_body(sent.bytes.substr(at, step))) break;
  }
  HttpAnswer end = HttpResponse{};
  if (sent.lost) end = std::unexpected(Failure{.reason = *sent.lost, .message = "lost"});
  return {reader.finish(end), pieces};
}

// Whatever the sizes in which the bytes come.
void expect_reply(const Sent& sent, const Reply& expected) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{64}, sent.bytes.size() + 1}) {
    SCOPED_TRACE(step);
    const Heard heard = hear(sent, step);
    ASSERT_TRUE(heard.answer) << heard.answer.error().message;
    EXPECT_EQ(heard.answer->text, expected.text);
    EXPECT_EQ(heard.all(), expected.text);
    EXPECT_EQ(heard.answer->reasoning, expected.reasoning);
    EXPECT_EQ(heard.answer->finish, expected.finish);
    EXPECT_EQ(heard.answer->usage, expected.usage);
    EXPECT_EQ(heard.answer->model, expected.model);
    EXPECT_EQ(heard.answer->mean_logprob.has_value(), expected.mean_logprob.has_value());
    if (expected.mean_logprob) EXPECT_DOUBLE_EQ(*heard.answer->mean_logprob, *expected.mean_logprob);
  }
}

Failure expect_failure(const Sent& sent, FailureReason reason) {
  Failure failure;
  for (const std::size_t step : {std::size_t{1}, sent.bytes.size() + 1}) {
    const Heard heard = hear(sent, step);
    EXPECT_FALSE(heard.answer);
    if (heard.answer) return {};
    failure = heard.answer.error();
    EXPECT_EQ(failure.reason, reason) << to_string(failure.reason) << ": " << failure.message;
    EXPECT_FALSE(failure.message.empty());
  }
  return failure;
}

TEST(OpenAiAnswer, VllmStream) {
  expect_reply(
      {R"(data: {"id":"c","model":"qwen","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c","model":"qwen","choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}]}

data: {"id":"c","model":"qwen","choices":[{"index":0,"delta":{"content":"llo\n"},"finish_reason":null}]}

data: {"id":"c","model":"qwen","choices":[{"index":0,"delta":{},"finish_reason":"stop","stop_reason":null}]}

data: {"id":"c","model":"qwen","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

)"},
      {.text = "Héllo\n",
       .finish = FinishReason::stop,
       .usage = Usage{.prompt_tokens = 10, .completion_tokens = 3, .cached_tokens = 4},
       .model = "qwen"});
}

TEST(OpenAiAnswer, LlamaServerStreamWithPingsAndNoDone) {
  expect_reply(
      {":\n\n:\r\n\r\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\r\n\r\n"
       ":\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"
       "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],\"timings\":{\"n\":1}}\n\n"},
      {.text = "a", .finish = FinishReason::length});
}

TEST(OpenAiAnswer, EventOfSeveralLines) {
  expect_reply({"data: {\"choices\":[{\"index\":0,\"delta\":\ndata: "
                "{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
               {.text = "a", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, ReasoningIsKeptApart) {
  for (const std::string key : {"reasoning_content", "reasoning"}) {
    const std::string bytes = "data: {\"choices\":[{\"delta\":{\"" + key +
                              "\":\"hm \"},\"logprobs\":{\"content\":[{\"logprob\":-9}]}}]}\n\n" +
                              "data: {\"choices\":[{\"delta\":{\"" + key + "\":\"yes\"}}]}\n\n" +
                              "data: "
                              "{\"choices\":[{\"delta\":{\"content\":\"42\"},\"logprobs\":{\"content\":[{\"logprob\":-"
                              "1}]},\"finish_reason\":\"stop\"}]}\n\n";
    expect_reply({bytes}, {.text = "42", .reasoning = "hm yes", .finish = FinishReason::stop, .mean_logprob = -1.0});
  }
}

TEST(OpenAiAnswer, LogprobsBecomeTheirMean) {
  expect_reply(
      {R"(data: {"choices":[{"index":0,"delta":{"content":"ab"},"logprobs":{"content":[{"token":"a","logprob":-0.5,"top_logprobs":[]},{"token":"b","logprob":-1}]}}]}

data: {"choices":[{"index":0,"delta":{"content":"c"},"logprobs":{"content":[{"token":"c","logprob":-9999.0}]},"finish_reason":"stop"}]}

data: {"choices":[{"index":0,"delta":{},"logprobs":null}]}

data: [DONE]

)"},
      {.text = "abc", .finish = FinishReason::stop, .mean_logprob = -101.5 / 3});
}

TEST(OpenAiAnswer, PlainBodyWhereAStreamWasAskedFor) {
  constexpr std::string_view body =
      R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"so"},"finish_reason":"stop","logprobs":{"content":[{"logprob":-2}]}}],"usage":{"prompt_tokens":1,"completion_tokens":2}})";
  const Reply expected{.text = "hi",
                       .reasoning = "so",
                       .finish = FinishReason::stop,
                       .usage = Usage{.prompt_tokens = 1, .completion_tokens = 2},
                       .mean_logprob = -2.0,
                       .model = "m"};
  expect_reply({body, json}, expected);
  expect_reply({body, ""}, expected);
  expect_reply({body, "Content-Type: text/plain\r\n"}, expected);
}

TEST(OpenAiAnswer, StreamWithoutItsContentType) {
  expect_reply({"\r\n: hi\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", ""},
               {.text = "a", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, StreamThatOpensWithData) {
  expect_reply({"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n", ""},
               {.text = "a", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, ContentInParts) {
  expect_reply(
      {R"({"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]})",
       json},
      {.text = "ab", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, OtherChoicesDoNotMixIn) {
  expect_reply(
      {R"({"choices":[{"index":1,"message":{"content":"no"},"finish_reason":"length"},{"index":0,"message":{"content":"yes"},"finish_reason":"stop"}]})",
       json},
      {.text = "yes", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, FinishReasons) {
  struct Case {
    std::string_view name;
    FinishReason reason;
  };
  const Case cases[] = {{"stop", FinishReason::stop},        {"tool_calls", FinishReason::stop},
                        {"length", FinishReason::length},    {"content_filter", FinishReason::content_filter},
                        {"abort", FinishReason::abort},      {"repetition", FinishReason::repetition},
                        {"something", FinishReason::unknown}};
  for (const Case& c : cases) EXPECT_EQ(finish_reason_of(c.name), c.reason) << c.name;
}

TEST(OpenAiAnswer, EmptyAnswerIsAnAnswer) {
  expect_reply({"data: {\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"},
               {.finish = FinishReason::stop});
  expect_reply({"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"}, {.text = "a"});
}

TEST(OpenAiAnswer, NothingCountsAfterDone) {
  expect_reply({"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: "
                "[DONE]\n\ndata: junk\n\n"},
               {.text = "a", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, ErrorInsideAStream) {
  const Failure nested =
      expect_failure({"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n"
                      "data: {\"error\":{\"message\":\"CUDA out of memory\",\"code\":500}}\n\ndata: [DONE]\n\n"},
                     FailureReason::out_of_memory);
  EXPECT_EQ(nested.partial_text, "half");
  EXPECT_TRUE(nested.reply_started);
  EXPECT_NE(nested.message.find("CUDA out of memory"), std::string::npos);
  expect_failure({"data: {\"object\":\"error\",\"message\":\"The request queue is full.\",\"code\":503}\n\n"},
                 FailureReason::overloaded);
  expect_failure({"data: {\"error\":\"odd\"}\n\n"}, FailureReason::engine_failed);
  expect_failure({R"({"error":{"message":"Loading model","code":503}})", json}, FailureReason::loading);
}

TEST(OpenAiAnswer, LostInTheMiddle) {
  constexpr std::string_view half = "data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n";
  const Failure cut = expect_failure({half}, FailureReason::connection_lost);
  EXPECT_EQ(cut.partial_text, "half");
  EXPECT_TRUE(cut.reply_started);
  const Failure lost =
      expect_failure({.bytes = half, .lost = FailureReason::connection_lost}, FailureReason::connection_lost);
  EXPECT_EQ(lost.partial_text, "half");
  expect_failure({.bytes = half, .lost = FailureReason::timed_out}, FailureReason::timed_out);
}

TEST(OpenAiAnswer, LostAfterTheModelWasDoneIsAnAnswer) {
  expect_reply({.bytes = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n",
                .lost = FailureReason::connection_lost},
               {.text = "a", .finish = FinishReason::stop});
}

TEST(OpenAiAnswer, WhatIsNoAnswer) {
  expect_failure({""}, FailureReason::bad_reply);
  expect_failure({"data: [DONE]\n\n"}, FailureReason::bad_reply);
  expect_failure({": only comments\n\n"}, FailureReason::bad_reply);
  expect_failure({"data: {broken\n\n"}, FailureReason::bad_reply);
  expect_failure({"data: 7\n\n"}, FailureReason::bad_reply);
  expect_failure({"", json}, FailureReason::bad_reply);
  expect_failure({"{}", json}, FailureReason::bad_reply);
  expect_failure({R"({"choices":[]})", json}, FailureReason::bad_reply);
  const Failure page =
      expect_failure({"<html><title>Welcome</title></html>", "Content-Type: text/html\r\n"}, FailureReason::bad_reply);
  EXPECT_NE(page.message.find("Welcome"), std::string::npos);
}

TEST(OpenAiAnswer, StatusDecidesBeforeTheBody) {
  const Failure failure = expect_failure(
      {.bytes = R"({"error":{"message":"slow","code":"slow_down"}})", .headers = "Retry-After: 3\r\n", .status = 429},
      FailureReason::rate_limited);
  EXPECT_EQ(failure.retry_after, std::chrono::seconds(3));
  EXPECT_EQ(failure.http_status, 429);
  EXPECT_FALSE(failure.reply_started);
  expect_failure({.bytes = "", .headers = "", .status = 413}, FailureReason::too_long);
  expect_failure({.bytes = "{\"err", .headers = "", .status = 429, .lost = FailureReason::connection_lost},
                 FailureReason::rate_limited);
  expect_failure({.bytes = "{\"err", .headers = "", .status = 429, .lost = FailureReason::cancelled},
                 FailureReason::cancelled);
}

TEST(OpenAiAnswer, ListenerCuts) {
  const Sent sent{
      "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: "
      "{\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"
      "data: {\"choices\":[{\"delta\":{\"content\":\"c\"}}]}\n\n"};
  for (const std::size_t step : {std::size_t{1}, sent.bytes.size()}) {
    const Heard heard = hear(sent, step, 2);
    ASSERT_TRUE(heard.answer);
    EXPECT_EQ(heard.answer->finish, FinishReason::cut);
    EXPECT_EQ(heard.answer->text, "ab");
    EXPECT_EQ(heard.pieces.size(), 2U);
  }
}

TEST(OpenAiAnswer, WhatComesAfterTheEndDoesNotCostTheAnswer) {
  const std::string whole =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"page\"},\"finish_reason\":\"stop\"}]}\n\n";
  const Reply expected{.text = "page", .finish = FinishReason::stop};
  for (const std::string_view end : {"data: [DONE] \n\n", "data:  [DONE]\t\n\n", "data: bye\n\n",
                                     "data: bye\n\ndata: [DONE]\n\n", "data: [\"trace\"]\n\ndata: [DONE]\n\n"}) {
    SCOPED_TRACE(end);
    const std::string bytes = whole + std::string(end);
    expect_reply({.bytes = bytes}, expected);
  }
}

TEST(OpenAiAnswer, AnAnswerWithoutEndIsGivenUp) {
  const std::string chunk =
      "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"" + std::string(1 << 20, 'x') + "\"}}]}\n\n";
  AnswerReader reader("http://gpu", nullptr);
  reader.take_head({.status = 200, .lines = std::string(event_stream)});
  int chunks = 0;
  while (chunks < 200 && reader.take_body(chunk)) ++chunks;
  EXPECT_EQ(chunks, 64);
  const Answer answer = reader.finish(HttpResponse{});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::bad_reply);
  EXPECT_NE(answer.error().message.find("http://gpu sent an answer without end"), std::string::npos);
}

TEST(OpenAiAnswer, AnEventWithoutEndIsGivenUp) {
  AnswerReader reader("http://gpu", nullptr);
  reader.take_head({.status = 200, .lines = std::string(event_stream)});
  int chunks = 0;
  while (chunks < 200 && reader.take_body(std::string(1 << 20, 'x'))) ++chunks;
  EXPECT_LE(chunks, 16);
  EXPECT_EQ(reader.finish(HttpResponse{}).error().reason, FailureReason::bad_reply);
}

}  // namespace
}  // namespace lectern::provider
