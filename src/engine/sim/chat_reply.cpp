#include "engine/sim/chat_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "engine/sim/draw.h"
#include "engine/sim/http_reply.h"
#include "engine/sim/json_scan.h"

namespace lectern::sim {
namespace {

std::string model_name(const ChatReplyInput& in) {
  std::string name;
  append_escaped(name, in.settings->model == "*" ? in.request->model : in.settings->model);
  return name;
}

bool is_llama(const ChatReplyInput& in) {
  return in.settings->as == Dialect::llama_server;
}

std::string usage_json(const ChatReplyInput& in) {
  const int prompt = in.answer->prompt_tokens;
  const int completion = in.answer->completion_tokens();
  return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}}})", prompt, prompt + completion,
                     completion);
}

std::string timings_json(const ChatReplyInput& in) {
  const int prompt = in.answer->prompt_tokens;
  const int predicted = in.answer->completion_tokens();
  const double prompt_ms = std::max(in.prefill_s * 1000, 0.001);
  const double predicted_ms = std::max(in.decode_s * 1000, 0.001);
  return fmt::format(
      R"({{"cache_n":0,"prompt_n":{},"prompt_ms":{:.3f},"prompt_per_second":{:.3f},"predicted_n":{},"predicted_ms":{:.3f},"predicted_per_second":{:.3f}}})",
      prompt, prompt_ms, prompt * 1000 / prompt_ms, predicted, predicted_ms, predicted * 1000 / predicted_ms);
}

void append_entry(std::string& to, std::string_view token, double logprob) {
  to += R"({"token":")";
  append_escaped(to, token);
  fmt::format_to(std::back_inserter(to), R"(","logprob":{:.5f},"bytes":[)", logprob);
  for (std::size_t i = 0; i < token.size(); ++i)
    fmt::format_to(std::back_inserter(to), "{}{}", i == 0 ? "" : ",", static_cast<unsigned char>(token[i]));
  to += "]";
}

// Evenly spread, so that the mean of the logarithms is that of the setting.
std::string logprobs_json(const ChatReplyInput& in, std::size_t from, std::size_t to) {
  if (!in.request->logprobs) return "null";
  std::string json = R"({"content":[)";
  const double mean = std::log(in.settings->probability);
  for (std::size_t i = from; i < to; ++i) {
    const double logprob = 2 * mean * draw(in.request->digest[0], i, 0x6c6f67);
    if (i != from) json += ",";
    append_entry(json, in.answer->token(i), logprob);
    json += R"(,"top_logprobs":[)";
    if (in.request->top_logprobs > 0) {
      append_entry(json, in.answer->token(i), logprob);
      json += "}";
    }
    json += "]}";
  }
  return json + "]}";
}

}  // namespace

std::string plain_body(const ChatReplyInput& in) {
  const Answer& answer = *in.answer;
  std::string body = fmt::format(R"({{"id":"chatcmpl-sim-{}","object":"chat.completion","created":{},"model":"{}",)",
                                 in.number, in.created, model_name(in));
  body.reserve(body.size() + answer.text.size() * 2 + 512);
  body += R"("choices":[{"index":0,"message":{"role":"assistant","content":")";
  append_escaped(body, answer.text);
  fmt::format_to(std::back_inserter(body), R"("}},"logprobs":{},"finish_reason":"{}"}}],"usage":{})",
                 in.request->logprobs ? logprobs_json(in, 0, answer.ends.size()) : "null", answer.finish,
                 usage_json(in));
  if (is_llama(in)) body += R"(,"timings":)" + timings_json(in);
  return body + "}";
}

StreamEvents::StreamEvents(const ChatReplyInput& input)
    : in_(input),
      head_(fmt::format(R"(data: {{"id":"chatcmpl-sim-{}","object":"chat.completion.chunk","created":{},"model":"{}",)",
                        input.number, input.created, model_name(input))) {}

std::string StreamEvents::chunk(std::string_view choices, std::string_view more) const {
  return fmt::format("{}\"choices\":[{}]{}}}\n\n", head_, choices, more);
}

std::string StreamEvents::role() const {
  return chunk(
      fmt::format(R"({{"index":0,"delta":{{"role":"assistant","content":{}}},"logprobs":null,"finish_reason":null}})",
                  is_llama(in_) ? "null" : R"("")"),
      "");
}

std::string StreamEvents::content(std::size_t from_token, std::size_t to_token) const {
  std::string event = head_;
  event += R"("choices":[{"index":0,"delta":{"content":")";
  append_escaped(event, in_.answer->piece(from_token, to_token));
  event += R"("},"logprobs":)";
  event += logprobs_json(in_, from_token, to_token);
  event += ",\"finish_reason\":null}]}\n\n";
  return event;
}

std::string StreamEvents::finish() const {
  const std::string more = is_llama(in_) && !in_.request->include_usage ? R"(,"timings":)" + timings_json(in_) : "";
  return chunk(fmt::format(R"({{"index":0,"delta":{{{}}},"logprobs":null,"finish_reason":"{}"}})",
                           is_llama(in_) ? "" : R"("content":"")", in_.answer->finish),
               more);
}

std::string StreamEvents::usage() const {
  if (!in_.request->include_usage) return {};
  std::string more = R"(,"usage":)" + usage_json(in_);
  if (is_llama(in_)) more += R"(,"timings":)" + timings_json(in_);
  return chunk("", more);
}

std::string StreamEvents::error(std::string_view message) const {
  return "data: " + error_body(in_.settings->as, {.status = 500, .message = std::string(message)}) + "\n\n";
}

}  // namespace lectern::sim
