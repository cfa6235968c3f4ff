#include "provider/openai_request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace lectern::provider {
namespace {

using Json = nlohmann::ordered_json;

// Texts come from files and people; a stray byte must cost itself, not the page.
std::string to_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse(const std::string& text) {
  return Json::parse(text, nullptr, false);
}

std::unexpected<Failure> bad_request(std::string message) {
  return std::unexpected(Failure{.reason = FailureReason::bad_request, .message = std::move(message)});
}

// Everything but the messages. `sent` loses the features that this request does not use.
Json fields_of(const Prompt& prompt, const ChatBodyOptions& options, FeatureSet& sent) {
  const Parameters& parameters = prompt.parameters;
  const FeatureSet features = options.features;
  Json fields = Json::object();
  if (!prompt.model.empty()) fields["model"] = prompt.model;
  fields["stream"] = options.stream;
  const auto when = [&](Feature feature, bool wanted) {
    if (!wanted || !features.has(feature)) sent = sent.without(feature);
    return wanted && features.has(feature);
  };
  if (when(Feature::stream_options, options.stream)) fields["stream_options"] = {{"include_usage", true}};
  const bool old_name = when(Feature::max_tokens, true);
  fields[old_name ? "max_tokens" : "max_completion_tokens"] = parameters.tokens_max;
  if (when(Feature::temperature, true)) fields["temperature"] = parameters.temperature;
  if (parameters.top_p) fields["top_p"] = *parameters.top_p;
  if (when(Feature::penalties, parameters.repetition_penalty && !options.hosted)) {
    fields["repetition_penalty"] = *parameters.repetition_penalty;
    fields["repeat_penalty"] = *parameters.repetition_penalty;  // llama-server's name for it
  }
  if (parameters.frequency_penalty) fields["frequency_penalty"] = *parameters.frequency_penalty;
  if (parameters.seed) fields["seed"] = *parameters.seed;
  if (!parameters.stop.empty()) fields["stop"] = parameters.stop;
  if (when(Feature::logprobs, parameters.logprobs)) {
    fields["logprobs"] = true;
    fields["top_logprobs"] = 1;  // llama-server would send twenty for each token
  }
  if (!when(Feature::response_format, !parameters.json_schema.empty())) return fields;
  fields["response_format"] = {{"type", "json_schema"},
                               {"json_schema", {{"name", "reply"}, {"schema", parse(parameters.json_schema)}}}};
  return fields;
}

// Images before text: models are trained so, and DeepSeek-OCR insists.
std::vector<BodyPiece> messages_of(const Prompt& prompt, std::string text) {
  std::vector<BodyPiece> pieces;
  text += R"("messages":[)";
  if (!prompt.system.empty()) {
    text += to_text(Json{{"role", "system"}, {"content", prompt.system}});
    text += ',';
  }
  if (prompt.images.empty()) {
    text += to_text(Json{{"role", "user"}, {"content", prompt.user}});
  } else {
    text += R"({"role":"user","content":[)";
    for (const PromptImage& image : prompt.images) {
      std::string prefix = to_text("data:" + image.media_type + ";base64,");
      prefix.pop_back();  // its closing quote comes after the picture
      text += R"({"type":"image_url","image_url":{"url":)" + prefix;
      pieces.emplace_back(std::exchange(text, {}));
      pieces.emplace_back(Base64Piece{image.bytes});
      text = R"("}},)";
    }
    text += to_text(Json{{"type", "text"}, {"text", prompt.user}}) + "]}";
  }
  text += "]}";
  pieces.emplace_back(std::move(text));
  return pieces;
}

}  // namespace

bool is_json_object(const std::string& text) {
  return text.empty() || parse(text).is_object();
}

std::expected<ChatBody, Failure> build_chat_body(const Prompt& prompt, const ChatBodyOptions& options) {
  const Parameters& parameters = prompt.parameters;
  if (!is_json_object(parameters.json_schema)) return bad_request("the JSON schema of a prompt is no JSON object");
  if (!is_json_object(parameters.extra_body)) return bad_request("the extra body of a prompt is no JSON object");
  for (const PromptImage& image : prompt.images) {
    if (!image.bytes || image.bytes->empty()) return bad_request("a prompt holds an empty picture");
  }
  FeatureSet sent = options.features;
  Json fields = fields_of(prompt, options, sent);
  for (const std::string* extra : {&options.extra_body, &parameters.extra_body}) {
    if (extra->empty()) continue;
    const Json members = parse(*extra);
    for (const auto& [key, value] : members.items()) fields[key] = value;
  }
  std::string text = to_text(fields);
  if (fields.contains("messages")) {
    return ChatBody{HttpBody({BodyPiece(std::move(text))}), sent};
  }
  text.back() = ',';  // in place of the brace: the messages are the last member
  return ChatBody{HttpBody(messages_of(prompt, std::move(text))), sent};
}

}  // namespace lectern::provider
