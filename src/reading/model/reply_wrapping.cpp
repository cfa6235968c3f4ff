#include "reading/model/reply_wrapping.h"

#include <simdjson.h>

#include <array>

#include "reading/layout/unicode.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr std::array anywhere = {
    "<|im_end|>"sv,          "<|im_start|>"sv,      "<|endoftext|>"sv,         "<|eot_id|>"sv,
    "<|end_of_text|>"sv,     "<|begin_of_text|>"sv, "<｜end▁of▁sentence｜>"sv, "<｜begin▁of▁sentence｜>"sv,
    "<|end▁of▁sentence|>"sv, "<|end|>"sv,           "<|assistant|>"sv,         "<|grounding|>"sv,
    "<|end_of_sentence|>"sv, "<end_of_turn>"sv,     "<start_of_turn>"sv,       "<|vision_start|>"sv,
    "<|vision_end|>"sv,      "<|image_pad|>"sv};
constexpr std::array at_ends = {"</s>"sv, "<s>"sv, "<eos>"sv, "<bos>"sv, "[INST]"sv, "[/INST]"sv, "<pad>"sv};

std::string without_ends(std::string text) {
  for (bool again = true; again;) {
    again = false;
    std::string_view view = trimmed(text);
    for (const std::string_view token : at_ends) {
      if (view.ends_with(token)) view.remove_suffix(token.size()), again = true;
      if (view.starts_with(token)) view.remove_prefix(token.size()), again = true;
    }
    if (again) text = std::string(view);
  }
  return text;
}

constexpr std::array text_keys = {"natural_text"sv, "markdown"sv, "text"sv, "content"sv, "transcription"sv};
constexpr std::array told_keys = {"primary_language"sv, "is_rotation_valid"sv, "rotation_correction"sv, "is_table"sv,
                                  "is_diagram"sv};

std::string scalar(const simdjson::dom::element& value) {
  if (value.is_bool()) return value.get_bool().value_unsafe() ? "true" : "false";
  if (value.is_int64()) return std::to_string(value.get_int64().value_unsafe());
  if (value.is_string()) return std::string(value.get_string().value_unsafe());
  return {};
}

// Only the text and what describes the page: an object with other members is the page's own.
std::optional<WrappedInJson> whole_object(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(simdjson::padded_string(json)).get_object().get(object) != simdjson::SUCCESS) return std::nullopt;
  WrappedInJson out;
  int texts = 0;
  for (const auto [key, value] : object) {
    if (std::ranges::find(told_keys, key) != told_keys.end()) {
      out.front_matter += std::string(key) + ": " + scalar(value) + "\n";
    } else if (std::ranges::find(text_keys, key) != text_keys.end() && (value.is_string() || value.is_null())) {
      ++texts;
      out.nothing = value.is_null();
      if (value.is_string()) out.text = std::string(value.get_string().value_unsafe());
    } else {
      return std::nullopt;
    }
  }
  if (texts != 1) return std::nullopt;
  return out;
}

// The same when the object breaks off inside its text: what is there of the string, unescaped.
std::optional<WrappedInJson> cut_object(std::string_view json) {
  for (const std::string_view key : text_keys) {
    const std::string quoted = "\"" + std::string(key) + "\"";
    const std::size_t at = json.find(quoted);
    if (at == std::string_view::npos || at > 400) continue;
    std::string_view rest = trimmed(json.substr(at + quoted.size()));
    if (!rest.starts_with(':')) continue;
    rest = trimmed(rest.substr(1));
    if (!rest.starts_with('"')) continue;
    std::string body(rest.substr(1));
    // Close it where it broke off: a lone escape at the end goes, the rest is a string again.
    for (int drop = 0; drop < 8 && !body.empty(); ++drop, body.pop_back()) {
      if (auto whole = whole_object("{\"text\": \"" + body + "\"}")) {
        for (const std::string_view told : told_keys) {
          const std::size_t found = json.substr(0, at).find("\"" + std::string(told) + "\"");
          if (found == std::string_view::npos) continue;
          const std::string_view value = json.substr(found + told.size() + 2, at - found - told.size() - 2);
          const std::string_view until = value.substr(0, value.find_first_of(",\n"));
          whole->front_matter += std::string(told) + std::string(until) + "\n";
        }
        return whole;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string plain_lines(std::string_view reply) {
  std::string sound;
  if (!simdjson::validate_utf8(reply.data(), reply.size())) {
    sound = layout::to_utf8(layout::from_utf8(reply));
    reply = sound;
  }
  std::string out;
  out.reserve(reply.size());
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const char c = reply[i];
    if (c == '\r') {
      if (i + 1 >= reply.size() || reply[i + 1] != '\n') out += '\n';
    } else if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') {
      if (c != '\x7F') out += c;
    }
  }
  return out;
}

std::string_view without_thoughts(std::string_view reply) {
  for (const auto& [open, close] : {std::pair("<think>"sv, "</think>"sv), std::pair("<thinking>"sv, "</thinking>"sv)}) {
    const std::string_view text = trimmed(reply);
    const std::size_t end = text.find(close);
    if (text.starts_with(open)) return end == std::string_view::npos ? ""sv : text.substr(end + close.size());
    // Templates that open the thoughts in the prompt leave only the end in the reply.
    if (end != std::string_view::npos && text.find(open) == std::string_view::npos)
      return text.substr(end + close.size());
  }
  return reply;
}

std::string without_special_tokens(std::string_view reply) {
  std::string out;
  out.reserve(reply.size());
  for (std::size_t i = 0; i < reply.size();) {
    std::size_t length = 0;
    if (reply[i] == '<') {
      for (const std::string_view token : anywhere) {
        if (reply.substr(i).starts_with(token)) length = token.size();
      }
    }
    if (length == 0) out += reply[i];
    i += std::max<std::size_t>(1, length);
  }
  return without_ends(std::move(out));
}

std::optional<WrappedInJson> unwrap_json(std::string_view reply) {
  std::string_view text = trimmed(reply);
  if (text.starts_with("```json\n"sv)) text = trimmed(text.substr(8));
  if (text.ends_with("```"sv)) text = trimmed(text.substr(0, text.size() - 3));
  if (!text.starts_with('{')) return std::nullopt;
  if (auto whole = whole_object(text)) return whole;
  if (text.ends_with('}')) return std::nullopt;
  return cut_object(text);
}

}  // namespace lectern::reading
