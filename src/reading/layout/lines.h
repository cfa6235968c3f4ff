// Words → line segments (words on one baseline without a wide gap between them) and segments → lines. Works from
// positions alone, so a shuffled content order does no harm.
#pragma once

#include <vector>

#include "reading/layout/words.h"

namespace lectern::reading::layout {

struct Line {
  std::vector<Word> words;  // in reading order; Word::space_before is final
  RectPt box;               // around the cells
  float baseline = 0;
  float size = 0;          // of most of its characters
  std::uint16_t font = 0;  // of most of its characters
  bool one_font = false;   // all letters are set in it
  bool bold = false;       // most of it
  bool italic = false;
  bool mono = false;  // all of it
  bool rtl = false;   // runs from right to left
  int chars = 0;
  // The band that belongs to this line alone: cells of neighbouring lines overlap, cores do not.
  float core_top() const { return baseline - 0.62F * size; }
  float core_bottom() const { return std::max(baseline + 0.04F * size, core_top() + 0.1F); }
};

// Segments ordered by baseline, then from left to right.
std::vector<Line> make_segments(std::vector<Word> words);

// One line from segments that share a baseline: sorts, orders directions, decides spaces and super- and subscripts.
Line join_segments(std::vector<Line> segments);

// Fills everything but `words` from them, and settles order, spaces and scripts. `line.words` need not be sorted.
void settle(Line& line);

std::u32string text_of(const Line& line);

}  // namespace lectern::reading::layout
