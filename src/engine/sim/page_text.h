// The answers: markdown that depends on the image's content alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace lectern::sim {

struct TextOptions {
  int words = 150;
  bool grounding = false;  // DeepSeek-OCR's markup around each block
};

// The first line is "# Page <hash in hex>": whoever reads the answer sees which image it answers.
std::string page_text(const Sha256Digest& digest, const TextOptions& options);

// A text that says the same sentence again and again, at least `tokens` tokens long.
std::string looping_text(const Sha256Digest& digest, int tokens);

// Cuts a text into pieces such as a tokenizer would make: a word's beginning with the space before it, its rest, a
// sign. Joined they are the text again; none splits a UTF-8 sequence.
std::vector<std::string_view> tokens_of(std::string_view text);

}  // namespace lectern::sim
