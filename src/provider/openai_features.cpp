#include "provider/openai_features.h"

#include <array>
#include <cctype>
#include <string_view>

namespace lectern::provider {
namespace {

struct FieldName {
  std::string_view name;
  Feature feature;
};
constexpr std::array<FieldName, 9> field_names = {{{"stream_options", Feature::stream_options},
                                                   {"include_usage", Feature::stream_options},
                                                   {"logprobs", Feature::logprobs},
                                                   {"top_logprobs", Feature::logprobs},
                                                   {"response_format", Feature::response_format},
                                                   {"repetition_penalty", Feature::penalties},
                                                   {"repeat_penalty", Feature::penalties},
                                                   {"temperature", Feature::temperature},
                                                   {"max_tokens", Feature::max_tokens}}};

bool part_of_a_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !part_of_a_name(text[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == text.size() || !part_of_a_name(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::optional<Feature> refused_feature(const Failure& failure, const ErrorText& text, FeatureSet sent) {
  const bool refusal = failure.http_status == 400 || failure.http_status == 422 || failure.http_status == 501;
  if (!refusal || failure.reason == FailureReason::too_long) return std::nullopt;
  for (const auto& [name, feature] : field_names) {
    if (!sent.has(feature)) continue;
    // Only a server that wants the other name helps us on; one that finds the number too large does not.
    if (feature == Feature::max_tokens && !has_word(text.message, "max_completion_tokens")) continue;
    if (text.param == name || has_word(text.message, name)) return feature;
  }
  return std::nullopt;
}

}  // namespace lectern::provider
