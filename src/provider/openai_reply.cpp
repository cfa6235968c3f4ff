#include "provider/openai_reply.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "provider/sse.h"

namespace lectern::provider {
namespace {

using simdjson::SUCCESS;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

static_assert(SseParser::padding >= simdjson::SIMDJSON_PADDING);

// Servers clamp the logarithm of "impossible" at -9999 or at the lowest float; one such token must not be the mean.
constexpr double logprob_min = -100;

std::string_view string_or_empty(simdjson::simdjson_result<element> value) {
  std::string_view text;
  return value.get(text) == SUCCESS ? text : std::string_view();
}

std::int64_t number_or_zero(simdjson::simdjson_result<element> value) {
  std::int64_t number = 0;
  return value.get(number) == SUCCESS ? number : 0;
}

}  // namespace

struct ReplyParser::Reading {
  ReplyParser& to;

  // A string, or a list of parts of which those with text count.
  void content(simdjson::simdjson_result<element> value) const {
    if (std::string_view text; value.get(text) == SUCCESS) {
      to.reply_.text += text;
      return;
    }
    array parts;
    if (value.get(parts) != SUCCESS) return;
    for (const element part : parts) to.reply_.text += string_or_empty(part["text"]);
  }

  void logprobs(object choice) const {
    array tokens;
    if (choice["logprobs"]["content"].get(tokens) != SUCCESS) return;
    for (const element token : tokens) {
      double logprob = 0;
      if (token["logprob"].get(logprob) != SUCCESS) continue;
      to.logprob_sum_ += std::max(logprob, logprob_min);
      ++to.logprob_count_;
    }
  }

  void choice(object choice) const {
    if (number_or_zero(choice["index"]) != 0) return;  // we ask for one
    to.saw_choice_ = true;
    object message;
    const std::size_t text_before = to.reply_.text.size();
    const std::size_t reasoning_before = to.reply_.reasoning.size();
    if (choice["delta"].get(message) == SUCCESS || choice["message"].get(message) == SUCCESS) {
      content(message["content"]);
      std::string_view reasoning = string_or_empty(message["reasoning_content"]);
      if (reasoning.empty()) reasoning = string_or_empty(message["reasoning"]);
      to.reply_.reasoning += reasoning;
    }
    // A chunk of reasoning alone brings probabilities that are not those of the text.
    const bool only_reasoning = to.reply_.text.size() == text_before && to.reply_.reasoning.size() > reasoning_before;
    if (!only_reasoning) logprobs(choice);
    if (const std::string_view reason = string_or_empty(choice["finish_reason"]); !reason.empty()) {
      to.reply_.finish = finish_reason_of(reason);
      to.finished_ = true;
    }
  }

  void usage(object usage) const {
    Usage found{.prompt_tokens = number_or_zero(usage["prompt_tokens"]),
                .completion_tokens = number_or_zero(usage["completion_tokens"]),
                .cached_tokens = number_or_zero(usage["prompt_tokens_details"]["cached_tokens"])};
    to.reply_.usage = found;
  }

  bool is_error(object root) const {
    element error;
    if (root["error"].get(error) == SUCCESS && !error.is_null()) return true;
    return string_or_empty(root["object"]) == "error";
  }
};

FinishReason finish_reason_of(std::string_view name) {
  if (name == "stop" || name == "tool_calls" || name == "function_call" || name == "eos") return FinishReason::stop;
  if (name == "length" || name == "max_tokens") return FinishReason::length;
  if (name == "content_filter") return FinishReason::content_filter;
  if (name == "abort" || name == "error") return FinishReason::abort;
  if (name == "repetition") return FinishReason::repetition;
  return FinishReason::unknown;
}

void ReplyParser::become(State state, std::string_view what) {
  state_ = state;
  error_ = what;
}

void ReplyParser::take(std::string_view json) {
  thread_local simdjson::dom::parser parser;
  element value;
  object root;
  if (parser.parse(json.data(), json.size(), false).get(value) != SUCCESS || value.get(root) != SUCCESS) {
    if (!finished_) become(State::broken, json);  // else the answer is whole, whatever this is
    return;
  }
  const Reading reading{*this};
  if (reading.is_error(root)) {
    become(State::error, json);
    return;
  }
  if (reply_.model.empty()) reply_.model = string_or_empty(root["model"]);
  if (object usage; root["usage"].get(usage) == SUCCESS) reading.usage(usage);
  array choices;
  if (root["choices"].get(choices) != SUCCESS) return;
  for (const element choice : choices) {
    if (object item; choice.get(item) == SUCCESS) reading.choice(item);
  }
}

std::string_view ReplyParser::take_event(std::string_view event) {
  const std::size_t start = event.find_first_not_of(" \t\n");
  if (start == event.npos) return {};  // an empty "data:" keeps a connection alive
  if (event.substr(start, event.find_last_not_of(" \t\n") + 1 - start) == "[DONE]") {
    state_ = State::ended;
    return {};
  }
  const std::size_t before = reply_.text.size();
  take(event);
  return std::string_view(reply_.text).substr(before);
}

std::string_view ReplyParser::take_whole(std::string body) {
  body.reserve(body.size() + SseParser::padding);
  take(body);
  if (state_ == State::open) {
    if (saw_choice_) {
      state_ = State::ended;
    } else {
      become(State::broken, body);
    }
  }
  return reply_.text;
}

Reply ReplyParser::take_reply() {
  if (logprob_count_ > 0) reply_.mean_logprob = logprob_sum_ / static_cast<double>(logprob_count_);
  return std::move(reply_);
}

}  // namespace lectern::provider
