// The first step of layout: characters as a backend gives them → clean glyphs. Ligatures are opened, accents joined,
// overprinted doubles and control characters dropped. The page is upright: whoever has one whose main text runs
// sideways turns it first (reading/upright.h).
#pragma once

#include <cstdint>
#include <vector>

#include "document/page_content.h"

namespace lectern::reading::layout {

struct Glyph {
  char32_t code = 0;
  RectPt cell;  // advance wide, ascent to descent high; never degenerate in height
  float baseline = 0;
  float size = 0;
  std::uint32_t color = 0;
  std::uint16_t font = 0;
  std::uint16_t flags = 0;  // document::Char::Flag
  bool space_before = false;
  bool break_before = false;  // the content order has a line break here
};

struct Glyphs {
  std::vector<Glyph> upright;         // text that runs from left to right
  std::vector<document::Char> askew;  // text in any other direction, untouched
};

Glyphs clean_glyphs(const document::PageContent& content);

}  // namespace lectern::reading::layout
