// Glyphs → words: runs of glyphs that stand side by side in one style. A change of style inside a word (a superscript,
// one bold letter) makes two words without a space between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/page_content.h"
#include "reading/layout/glyphs.h"

namespace lectern::reading::layout {

struct Word {
  std::u32string text;
  RectPt box;
  float baseline = 0;
  float size = 0;
  std::uint32_t color = 0;
  std::uint16_t font = 0;  // index into PageContent::fonts
  std::int32_t order = 0;  // place in the content order
  std::int32_t link = -1;  // index into PageContent::links
  std::int8_t script = 0;  // +1 superscript, -1 subscript; known once the word stands in a line
  bool bold = false;
  bool italic = false;
  bool mono = false;
  bool math = false;  // set in a font for formulas
  bool rtl = false;
  bool struck = false;
  bool space_before = false;  // as the content order has it; lines decide in the end
  bool hyphen_end = false;    // ends in a hyphen that the backend took for a broken word's
};

std::vector<Word> make_words(const std::vector<Glyph>& glyphs, const std::vector<document::Font>& fonts);

// Marks the words that lie on a link, and those struck through by a rule.
void attach_links(std::vector<Word>& words, const std::vector<document::Link>& links);

bool is_math_font(const document::Font& font);

}  // namespace lectern::reading::layout
