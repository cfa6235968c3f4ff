#include "provider/process_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lectern::provider {
namespace {

using Json = nlohmann::ordered_json;
using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

// Texts come from files and people; a stray byte must cost itself, not the page.
std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unexpected<Failure> bad_request(std::string message) {
  return std::unexpected(Failure{.reason = FailureReason::bad_request, .message = std::move(message)});
}

std::expected<Json, Failure> parameters_of(const Parameters& parameters) {
  Json fields = {{"max_tokens", parameters.tokens_max}, {"temperature", parameters.temperature}};
  if (parameters.top_p) fields["top_p"] = *parameters.top_p;
  if (parameters.repetition_penalty) fields["repetition_penalty"] = *parameters.repetition_penalty;
  if (parameters.frequency_penalty) fields["frequency_penalty"] = *parameters.frequency_penalty;
  if (parameters.seed) fields["seed"] = *parameters.seed;
  if (!parameters.stop.empty()) fields["stop"] = parameters.stop;
  if (parameters.logprobs) fields["logprobs"] = true;
  if (!parameters.json_schema.empty()) {
    Json schema = Json::parse(parameters.json_schema, nullptr, false);
    if (!schema.is_object()) return bad_request("the schema for the reply is no JSON object");
    fields["json_schema"] = std::move(schema);
  }
  if (!parameters.extra_body.empty()) {
    const Json extra = Json::parse(parameters.extra_body, nullptr, false);
    if (!extra.is_object()) return bad_request("the extra body of the request is no JSON object");
    fields.update(extra);
  }
  return fields;
}

std::string text_of(const Object& object, std::string_view key) {
  std::string_view text;
  if (object[key].get_string().get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

std::optional<std::int64_t> number_of(const Object& object, std::string_view key) {
  std::int64_t number = 0;
  if (object[key].get_int64().get(number) != simdjson::SUCCESS || number < 0) return std::nullopt;
  return number;
}

bool flag_of(const Object& object, std::string_view key) {
  bool flag = false;
  return object[key].get_bool().get(flag) == simdjson::SUCCESS && flag;
}

bool has(const Object& object, std::string_view key) {
  Element element;
  return object[key].get(element) == simdjson::SUCCESS && !element.is_null();
}

FinishReason finish_of(std::string_view text) {
  using enum FinishReason;
  for (const FinishReason reason : {stop, length, content_filter, abort, repetition}) {
    if (text == to_string(reason)) return reason;
  }
  return unknown;
}

FailureReason reason_of(std::string_view text) {
  struct Name {
    std::string_view name;
    FailureReason reason;
  };
  static constexpr std::array names = {
      Name{"out_of_memory", FailureReason::out_of_memory}, Name{"too_long", FailureReason::too_long},
      Name{"bad_image", FailureReason::bad_image},         Name{"bad_request", FailureReason::bad_request},
      Name{"not_supported", FailureReason::not_supported}, Name{"unknown_model", FailureReason::unknown_model},
      Name{"overloaded", FailureReason::overloaded},       Name{"cancelled", FailureReason::cancelled},
  };
  const auto* found = std::ranges::find(names, text, &Name::name);
  return found == names.end() ? FailureReason::engine_failed : found->reason;
}

ProgramLine ready_line(const Object& object) {
  if (!flag_of(object, "ready")) return CannotStartLine{.message = text_of(object, "message")};
  ReadyLine line{.model = text_of(object, "model"), .batch = flag_of(object, "batch")};
  const auto small = [](std::int64_t number) { return static_cast<int>(std::clamp<std::int64_t>(number, 1, 65'536)); };
  if (const auto batch_max = number_of(object, "batch_max")) line.batch_max = small(*batch_max);
  if (const auto parallel = number_of(object, "parallel")) line.parallel = small(*parallel);
  return line;
}

ErrorLine error_line(const Object& object, std::uint64_t id, std::optional<std::size_t> index) {
  ErrorLine line{.id = id, .index = index};
  Object error;
  if (object["error"].get_object().get(error) == simdjson::SUCCESS) {
    line.reason = reason_of(text_of(error, "reason"));
    line.message = text_of(error, "message");
  } else {
    line.message = text_of(object, "error");
  }
  return line;
}

AnswerLine answer_line(const Object& object, std::uint64_t id, std::size_t index) {
  AnswerLine line{.id = id, .index = index};
  if (has(object, "text")) line.text = text_of(object, "text");
  line.finish = finish_of(text_of(object, "finish"));
  Object usage;
  if (object["usage"].get_object().get(usage) == simdjson::SUCCESS) {
    line.usage = Usage{.prompt_tokens = number_of(usage, "prompt_tokens").value_or(0),
                       .completion_tokens = number_of(usage, "completion_tokens").value_or(0),
                       .cached_tokens = number_of(usage, "cached_tokens").value_or(0)};
  }
  double logprob = 0;
  if (object["mean_logprob"].get_double().get(logprob) == simdjson::SUCCESS) line.mean_logprob = logprob;
  return line;
}

}  // namespace

std::expected<ProgramLine, std::string> parse_program_line(std::string_view line) {
  thread_local simdjson::dom::parser parser;
  Object object;
  if (parser.parse(line.data(), line.size()).get_object().get(object) != simdjson::SUCCESS) {
    return std::unexpected("it is no JSON object");
  }
  if (has(object, "ready")) return ready_line(object);
  const auto id = number_of(object, "id");
  if (!id) return std::unexpected("it has no \"id\"");
  const auto number = static_cast<std::uint64_t>(*id);
  std::optional<std::size_t> index;
  if (const auto given = number_of(object, "index")) index = static_cast<std::size_t>(*given);
  if (has(object, "error")) return error_line(object, number, index);
  if (!index) return std::unexpected("it has no \"index\"");
  if (has(object, "piece")) return PieceLine{.id = number, .index = *index, .text = text_of(object, "piece")};
  if (!has(object, "text") && !has(object, "finish")) {
    return std::unexpected(R"(it has neither "text", "piece", "finish" nor "error")");
  }
  return answer_line(object, number, *index);
}

std::expected<std::vector<BodyPiece>, Failure> prompt_pieces(const Prompt& prompt, const std::string& model,
                                                             bool stream) {
  auto parameters = parameters_of(prompt.parameters);
  if (!parameters) return std::unexpected(std::move(parameters.error()));
  Json fields = Json::object();
  const std::string& wanted = prompt.model.empty() ? model : prompt.model;
  if (!wanted.empty()) fields["model"] = wanted;
  fields["system"] = prompt.system;
  fields["user"] = prompt.user;
  fields["stream"] = stream;
  fields["parameters"] = std::move(*parameters);
  // The pictures come last, so that all the rest is one piece of text.
  std::string text = to_text(fields);
  text.pop_back();
  text += R"(,"images":[)";
  std::vector<BodyPiece> pieces;
  for (std::size_t i = 0; i < prompt.images.size(); ++i) {
    const PromptImage& image = prompt.images[i];
    if (!image.bytes || image.bytes->empty()) {
      return std::unexpected(
          Failure{.reason = FailureReason::bad_image, .message = fmt::format("picture {} has no bytes", i + 1)});
    }
    text += fmt::format(R"({}{{"media_type":{},"base64":")", i == 0 ? "" : ",", to_text(Json(image.media_type)));
    pieces.emplace_back(std::exchange(text, R"("})"));
    pieces.emplace_back(Base64Piece{image.bytes});
  }
  text += "]}";
  pieces.emplace_back(std::move(text));
  return pieces;
}

HttpBody request_line(std::uint64_t id, std::span<const std::vector<BodyPiece>* const> prompts) {
  std::vector<BodyPiece> line;
  line.emplace_back(fmt::format(R"({{"id":{},"prompts":[)", id));
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    if (i > 0) line.emplace_back(std::string(","));
    line.insert(line.end(), prompts[i]->begin(), prompts[i]->end());
  }
  line.emplace_back(std::string("]}\n"));
  return HttpBody(std::move(line));
}

std::string cancel_line(std::uint64_t id, std::optional<std::size_t> index) {
  if (!index) return fmt::format("{{\"cancel\":{}}}\n", id);
  return fmt::format("{{\"cancel\":{},\"index\":{}}}\n", id, *index);
}

std::string clean_text(std::string_view text, std::size_t bytes_max) {
  const bool cut = text.size() > bytes_max;
  // Through JSON and back: what is no UTF-8 is dropped on the way.
  const std::string json =
      Json(std::string(text.substr(0, bytes_max))).dump(-1, ' ', false, Json::error_handler_t::ignore);
  std::string clean = Json::parse(json).get<std::string>();
  std::ranges::replace_if(clean, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return cut ? clean + "…" : clean;
}

}  // namespace lectern::provider
