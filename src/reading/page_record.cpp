#include "reading/page_record.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <array>
#include <cstdio>

#include "reading/page_result.h"

namespace lectern::reading {
namespace {

// Reads what to_iso8601() writes, and nothing else.
std::optional<WallTime> from_iso8601(const std::string& text) {
  int year = 0;
  unsigned month = 0;
  unsigned day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int millisecond = 0;
  int used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%3dZ%n", &year, &month, &day, &hour, &minute, &second,
                  &millisecond, &used) != 7 ||
      static_cast<std::size_t>(used) != text.size()) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  if (!date.ok() || year < 1970 || year > 2200) return std::nullopt;  // what the clock's nanoseconds can hold
  const WallTime time{std::chrono::sys_days{date} + std::chrono::hours{hour} + std::chrono::minutes{minute} +
                      std::chrono::seconds{second} + std::chrono::milliseconds{millisecond}};
  if (to_iso8601(time) != text) return std::nullopt;  // an hour 25, a sign, a blank
  return time;
}

std::optional<PageState> state_from(std::string_view name) {
  for (const PageState state : {PageState::pending, PageState::ok, PageState::fallback, PageState::failed}) {
    if (to_string(state) == name) return state;
  }
  return std::nullopt;
}

// Attempts that no model made: the builtin reader's, those to draw the page or save a figure, and empty pages.
bool is_model(const Attempt& attempt) {
  constexpr std::array<std::string_view, 4> others = {"builtin", "figure", "render", "blank"};
  return std::ranges::find(others, attempt.reader) == others.end();
}

// No model's answer was whole, and the page has what there was of one.
bool is_partial(const PageResult& result) {
  if (result.model.empty()) return false;
  bool part = false;
  for (const Attempt& attempt : result.attempts) {
    if (attempt.reader != result.model) continue;
    if (attempt.outcome == "ok" || attempt.outcome == "doubtful") return false;
    part |= attempt.outcome == "truncated" || attempt.outcome == "looping";
  }
  return part;
}

std::optional<Tokens> tokens_from(simdjson::dom::element value) {
  simdjson::dom::object object;
  Tokens tokens;
  if (value.get_object().get(object) != simdjson::SUCCESS ||
      object["prompt"].get_int64().get(tokens.prompt) != simdjson::SUCCESS || tokens.prompt < 0 ||
      object["completion"].get_int64().get(tokens.completion) != simdjson::SUCCESS || tokens.completion < 0) {
    return std::nullopt;
  }
  return tokens;
}

std::optional<std::vector<std::string>> texts_from(simdjson::dom::element value) {
  simdjson::dom::array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return std::nullopt;
  std::vector<std::string> texts;
  for (const auto item : items) {
    std::string_view text;
    if (item.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    texts.emplace_back(text);
  }
  return texts;
}

}  // namespace

std::optional<std::string> fallback_reason(const PageResult& result) {
  const auto first = std::ranges::find_if(result.attempts, is_model);
  if (!result.error.empty() || first == result.attempts.end()) return std::nullopt;
  if (is_partial(result)) return result.confidence_why.empty() ? "the answer is not whole" : result.confidence_why;
  const std::string& reader = result.model.empty() ? result.reader : result.model;
  if (first->reader == reader) return std::nullopt;
  std::string reason;
  for (const Attempt& attempt : result.attempts) {
    if (attempt.reader == first->reader && attempt.outcome != "ok") reason = attempt.reason;
  }
  return reason.empty() ? first->outcome : reason;
}

bool was_cut_short(const PageResult& result) {
  return !result.error.empty() && !result.attempts.empty() &&
         result.attempts.back().outcome == to_string(ErrorKind::cancelled);
}

std::string_view to_string(PageState state) {
  switch (state) {
    case PageState::pending:
      return "pending";
    case PageState::ok:
      return "ok";
    case PageState::fallback:
      return "fallback";
    case PageState::failed:
      return "failed";
  }
  return "failed";
}

PageRecord record_of(const PageResult& result, WallTime started_at, int attempts_before) {
  PageRecord record;
  record.page = result.page;
  record.state = result.error.empty() ? PageState::ok : PageState::failed;
  record.reason = result.error;
  if (auto reason = fallback_reason(result)) {
    record.state = PageState::fallback;
    record.reason = std::move(*reason);
  }
  record.reader = result.reader;
  record.model = result.model;
  record.tokens = result.tokens.value_or(Tokens{});
  // A reader that does not list its attempts has still tried once.
  record.attempts = attempts_before + std::max(1, static_cast<int>(result.attempts.size()));
  record.started_at = std::chrono::floor<std::chrono::milliseconds>(started_at);  // what the manifest can hold
  record.ms = result.ms.total;
  for (const Block& block : result.blocks) {
    if (!block.file.empty()) record.figures.push_back(block.file);
  }
  return record;
}

std::string to_json(const PageRecord& record, std::string_view document) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!document.empty()) json["document"] = document;
  if (record.page > 0) json["page"] = record.page;
  json["state"] = to_string(record.state);
  if (!record.reader.empty()) json["reader"] = record.reader;
  if (!record.model.empty()) json["model"] = record.model;
  json["attempts"] = record.attempts;
  if (!record.reason.empty()) json["reason"] = record.reason;
  if (record.started_at != WallTime{}) json["started_at"] = to_iso8601(record.started_at);
  json["ms"] = record.ms;
  if (record.tokens != Tokens{}) {
    json["tokens"] = {{"prompt", record.tokens.prompt}, {"completion", record.tokens.completion}};
  }
  if (!record.figures.empty()) json["figures"] = record.figures;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Result<NamedRecord> record_from_json(std::string_view json) {
  const auto wrong = [](std::string_view key) { return fail(ErrorKind::corrupt, "the row has a wrong '{}'", key); };
  thread_local simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS) {
    return fail(ErrorKind::corrupt, "the row is not a JSON object");
  }
  NamedRecord named;
  PageRecord& record = named.record;
  for (const auto& [key, value] : object) {
    std::int64_t number = 0;
    std::string_view text;
    const bool is_text = value.get_string().get(text) == simdjson::SUCCESS;
    const bool is_number = value.get_int64().get(number) == simdjson::SUCCESS && number >= 0;
    if (key == "document" && is_text) {
      named.document = text;
    } else if (key == "page" && is_number && std::in_range<int>(number)) {
      record.page = static_cast<int>(number);
    } else if (key == "state" && is_text && state_from(text)) {
      record.state = *state_from(text);
    } else if (key == "reader" && is_text) {
      record.reader = text;
    } else if (key == "model" && is_text) {
      record.model = text;
    } else if (key == "tokens" && tokens_from(value)) {
      record.tokens = *tokens_from(value);
    } else if (auto figures = key == "figures" ? texts_from(value) : std::nullopt) {
      record.figures = std::move(*figures);
    } else if (key == "attempts" && is_number && std::in_range<int>(number)) {
      record.attempts = static_cast<int>(number);
    } else if (key == "reason" && is_text) {
      record.reason = text;
    } else if (key == "started_at" && is_text && from_iso8601(std::string(text))) {
      record.started_at = *from_iso8601(std::string(text));
    } else if (key == "ms" && is_number) {
      record.ms = number;
    } else {
      return wrong(key);
    }
  }
  return named;
}

}  // namespace lectern::reading
