// The first step of layout: characters as a backend gives them → clean glyphs in a frame where the page's main text
// runs from left to right. Ligatures are opened, accents joined, overprinted doubles and control characters dropped.
#pragma once

#include <cstdint>
#include <vector>

#include "document/page_content.h"

namespace lectern::reading::layout {

// The turn that brings the page's main text upright: quarter turns, clockwise degrees of the text's baseline.
// Boxes are turned for the analysis and turned back for the result.
struct Frame {
  int turn = 0;         // 0, 90, 180 or 270
  SizePt page;          // the page as it stands
  SizePt size() const;  // the page in the frame
  RectPt into(const RectPt& box) const;
  RectPt back(const RectPt& box) const;
};

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
  Frame frame;
  std::vector<Glyph> upright;         // text along the frame
  std::vector<document::Char> askew;  // text in any other direction, untouched
};

Glyphs clean_glyphs(const document::PageContent& content);

}  // namespace lectern::reading::layout
