// What models and servers wrap around an answer: thoughts, special tokens, JSON, fences, remarks to the reader. Each
// function takes one kind off; text that only looks like it is left alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lectern::reading {

// "\n" alone ends lines; no control characters; sound UTF-8.
std::string plain_lines(std::string_view reply);

// <think>…</think> before the answer, also when its beginning is missing. A reply that ends in the middle of thinking
// has no answer.
std::string_view without_thoughts(std::string_view reply);

// <|im_end|>, <｜end▁of▁sentence｜> and their like anywhere, </s> and <s> at the ends.
std::string without_special_tokens(std::string_view reply);

// {"markdown": "…"}, {"natural_text": "…", "is_diagram": …}: also inside a fence, and when the end is missing.
struct WrappedInJson {
  std::string text;
  std::string front_matter;  // the other members that say something, as lines "key: value"
  bool nothing = false;      // its text is null
};
std::optional<WrappedInJson> unwrap_json(std::string_view reply);

// "Here is the transcription:" before, "Let me know if…" after, and a fence around the whole answer. A page that begins
// or ends with such words itself keeps them: a remark stands on a line of its own and speaks of transcribing, or
// stands outside the fence.
std::string without_remarks(std::string_view reply);

// The reply says that there is nothing to read ("[blank page]", "There is no text in the image.").
bool says_nothing(std::string_view reply);

}  // namespace lectern::reading
