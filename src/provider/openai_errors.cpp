#include "provider/openai_errors.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>

#include "provider/retry_after.h"

namespace lectern::provider {
namespace {

using enum FailureReason;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::size_t message_max = 400;

std::string lower(std::string_view text) {
  std::string copy(text);
  std::ranges::transform(copy, copy.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return copy;
}

bool has_any(std::string_view text, std::initializer_list<std::string_view> needles) {
  return std::ranges::any_of(needles, [&](std::string_view needle) { return text.find(needle) != text.npos; });
}

// One line, no control characters, whole characters only.
std::string readable(std::string_view text) {
  std::string out;
  bool space = false;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      space = !out.empty();
      continue;
    }
    if (space) out += ' ';
    space = false;
    out += c;
    if (out.size() > message_max + 8) break;
  }
  if (out.size() <= message_max) return out;
  std::size_t end = message_max;
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xc0) == 0x80) --end;
  return out.substr(0, end) + "…";
}

// A proxy's page: its title, else its text without the tags.
std::string text_of_html(std::string_view html) {
  const std::string small = lower(html);
  const std::size_t title = small.find("<title>");
  const std::size_t end = small.find("</title>");
  if (title != small.npos && end != small.npos && end > title + 7) {
    return std::string(html.substr(title + 7, end - title - 7));
  }
  std::string text;
  bool tag = false;
  for (const char c : html) {
    if (c == '<') tag = true;
    if (!tag) text += c;
    if (c == '>') {
      tag = false;
      text += ' ';
    }
  }
  return text;
}

std::string text_of(element value) {
  if (std::string_view text; value.get(text) == simdjson::SUCCESS) return std::string(text);
  if (std::int64_t number = 0; value.get(number) == simdjson::SUCCESS) return std::to_string(number);
  return {};
}

std::string member(object holder, std::string_view key) {
  element value;
  return holder[key].get(value) == simdjson::SUCCESS ? text_of(value) : std::string();
}

// FastAPI's list of what is wrong: [{"loc": ["body", "stream_options"], "msg": "…"}]
void read_detail(element detail, ErrorText& out) {
  if (const std::string text = text_of(detail); !text.empty()) {
    out.message = text;
    return;
  }
  simdjson::dom::array list;
  if (detail.get(list) != simdjson::SUCCESS) return;
  for (const element entry : list) {
    object item;
    if (entry.get(item) != simdjson::SUCCESS) continue;
    simdjson::dom::array place;
    if (out.param.empty() && item["loc"].get(place) == simdjson::SUCCESS) {
      for (const element step : place) out.param = text_of(step);
    }
    out.message += (out.message.empty() ? "" : "; ") + member(item, "msg");
  }
}

void read_object(object body, ErrorText& out) {
  object holder = body;
  element error;
  if (body["error"].get(error) == simdjson::SUCCESS && !error.is_null()) {
    if (error.get(holder) != simdjson::SUCCESS) {
      out.message = text_of(error);
      return;
    }
  }
  out.message = member(holder, "message");
  out.type = member(holder, "type");
  out.code = member(holder, "code");
  out.param = member(holder, "param");
  element detail;
  if (out.message.empty() && body["detail"].get(detail) == simdjson::SUCCESS) read_detail(detail, out);
}

// Reasons that a text gives away, whatever the status.
std::optional<FailureReason> reason_of_words(std::string_view words) {
  if (has_any(words,
              {"out of memory", "outofmemory", "out-of-memory", "cannot allocate memory", "failed to allocate",
               "requires more system memory", "not enough memory", "insufficient memory", "cuda_error_out_of"})) {
    return out_of_memory;
  }
  if (has_any(words, {"exceed_context_size", "context_length_exceeded", "maximum context length",
                      "maximum model length", "context size", "context length", "context window", "max_model_len",
                      "prompt is too long", "input is too long", "too many tokens", "maximum allowed length"})) {
    return too_long;
  }
  return std::nullopt;
}

bool complains_of_image(std::string_view words) {
  return has_any(words, {"image", "picture", "base64", "mmproj", "multimodal", "multi-modal"}) &&
         has_any(words, {"load", "decode", "identify", "invalid", "unsupported", "not support", "at most", "failed",
                         "unknown format", "incorrect", "cannot", "mmproj", "not a multimodal", "too large", "corrupt",
                         "truncated", "exceed"});
}

bool about_money(std::string_view words) {
  return has_any(words, {"insufficient_quota", "credit_balance", "spend_limit", "usage_limit", "billing",
                         "exceeded your current quota", "insufficient credits", "payment required"});
}

FailureReason reason_of_client_error(std::string_view words) {
  if (has_any(words, {"api key", "api_key"})) return unauthorized;
  if (has_any(words, {"model_not_found"}) ||
      (has_any(words, {"model"}) && has_any(words, {"not found", "does not exist", "no such", "unknown model"}))) {
    return unknown_model;
  }
  if (complains_of_image(words)) return bad_image;
  if (has_any(words, {"not supported", "unsupported", "not support"})) return not_supported;
  return bad_request;
}

FailureReason reason_of(int status, std::string_view words) {
  if (status == 401) return unauthorized;
  if (status == 402 || ((status == 403 || status == 429) && about_money(words))) return quota;
  if (status == 403) return unauthorized;
  if (status == 429) return rate_limited;
  if (const auto told = reason_of_words(words)) return *told;
  switch (status) {
    case 400:
    case 422:
      return reason_of_client_error(words);
    case 404:
    case 405:
    case 410:
      return unknown_model;
    case 408:
    case 504:
    case 524:
      return timed_out;
    case 413:
      return too_long;
    case 500:
      if (has_any(words, {"parse error", "json.exception", "invalid json"})) return bad_request;
      return complains_of_image(words) ? bad_image : engine_failed;
    case 501:
      return not_supported;
    case 502:
      return unreachable;
    case 503:
      return has_any(words, {"loading"}) ? loading : overloaded;
    case 529:
      return overloaded;
    default:
      return status < 500 ? bad_request : engine_failed;
  }
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::chrono::milliseconds> time_to_wait(const ErrorReply& reply, WallTime now) {
  static constexpr double day_ms = 86'400'000;
  if (const auto value = number(reply.retry_after_ms)) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::clamp(*value, 0.0, day_ms)));
  }
  return retry_after(reply.retry_after, now);
}

std::string message_of(std::string_view engine, const ErrorReply& reply, const ErrorText& text) {
  std::string said = text.message;
  if (said.empty() && reply.status >= 300 && reply.status < 400 && !reply.location.empty()) {
    said = fmt::format("it redirects to {}; give that address instead", readable(reply.location));
  }
  if (said.empty() && reply.status == 413) said = "the request is too large for it";
  if (said.empty()) said = "it says no more";
  return fmt::format("{} answered {}: {}", engine, reply.status, said);
}

Failure failure_of(std::string_view engine, const ErrorReply& reply, const ErrorText& text, WallTime now) {
  const std::string words = lower(text.type + " " + text.code + " " + text.message);
  return {.reason = reason_of(reply.status, words),
          .message = message_of(engine, reply, text),
          .retry_after = time_to_wait(reply, now),
          .http_status = reply.status};
}

}  // namespace

ErrorText read_error_body(std::string_view body) {
  ErrorText text;
  thread_local simdjson::dom::parser parser;
  element root;
  const auto start = body.find_first_not_of(" \t\r\n");
  if (start == body.npos) return text;
  if (parser.parse(body.data(), body.size()).get(root) == simdjson::SUCCESS) {
    simdjson::dom::array list;
    if (root.get(list) == simdjson::SUCCESS && list.size() > 0) root = list.at(0).value_unsafe();
    object whole;
    if (root.get(whole) == simdjson::SUCCESS) {
      read_object(whole, text);
    } else {
      text.message = text_of(root);
    }
    if (text.message.empty() && text.type.empty()) text.message = body;
  } else {
    text.message = body[start] == '<' ? text_of_html(body) : std::string(body);
  }
  text.message = readable(text.message);
  return text;
}

Failure classify(std::string_view engine, const ErrorReply& reply, WallTime now) {
  return failure_of(engine, reply, read_error_body(reply.body), now);
}

Failure classify_in_stream(std::string_view engine, std::string_view event) {
  const ErrorText text = read_error_body(event);
  int status = 500;
  int code = 0;
  std::from_chars(text.code.data(), text.code.data() + text.code.size(), code);
  if (code >= 400 && code <= 599) status = code;
  Failure failure = failure_of(engine, {.status = status}, text, WallTime{});
  failure.reply_started = true;
  return failure;
}

}  // namespace lectern::provider
