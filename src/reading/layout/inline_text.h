// Lines → the text of a block, plain and as inline markdown: broken words mended, spaces settled, emphasis, links and
// scripts marked.
#pragma once

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "document/page_content.h"
#include "reading/layout/lines.h"

namespace lectern::reading::layout {

// The words of a page, in lower case, that stand unbroken: they tell whether "self-" + "locking" is one word or two.
class Vocabulary {
 public:
  void add(const std::vector<Line>& lines);
  bool knows(const std::u32string& lower) const { return words_.contains(lower); }

 private:
  std::unordered_set<std::u32string> words_;
};

struct InlineText {
  std::string text;
  std::string markdown;  // empty when it is the same as `text`, escaped
};

struct InlineOptions {
  bool emphasis = true;        // mark bold and italic words
  bool code = false;           // words of fixed pitch are code
  bool keep_breaks = false;    // lines end in '\n' (code, cells of several lines) and are not joined
  std::size_t skip_words = 0;  // words of the first line left out (a list item's marker)
};

InlineText inline_text(std::span<const Line> lines, const std::vector<document::Link>& links,
                       const Vocabulary& vocabulary, const InlineOptions& options = {});

// How the end of one line joins with the start of the next.
enum class Join { space, none, drop_hyphen };
Join join_of(std::u32string_view last_word, std::u32string_view first_word, const Vocabulary& vocabulary);

// Joins two finished texts in the same way (a paragraph that goes on in the next column).
std::string join_texts(const std::string& first, const std::string& second);

}  // namespace lectern::reading::layout
