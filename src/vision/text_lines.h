// From glyphs to lines of text, without reading them: which way lines run, and where the longest are. Pure functions.
#pragma once

#include <span>
#include <vector>

#include "vision/ink.h"

namespace lectern::vision {

// Along which axis the neighbours of glyphs stand: letters stand closer within a line than lines to one another.
struct AxisVotes {
  int horizontal = 0;
  int vertical = 0;
  int total() const { return horizontal + vertical; }
  double horizontal_share() const { return total() == 0 ? 0.5 : static_cast<double>(horizontal) / total(); }
};
AxisVotes vote_on_axis(std::span<const Glyph> glyphs);

struct TextLine {
  Glyph box;
  int glyphs = 0;
};

// Rows of neighbouring glyphs, those with most glyphs first. For lines that run vertically, swap the axes of the glyphs
// before and of the boxes after (transposed()).
std::vector<TextLine> find_lines(std::span<const Glyph> glyphs);

// Rows of `lines` of a single glyph each that stand level and have about the same height, three or more, however far
// apart: the numbers over the columns of a table are no neighbours, but one line to a reader.
std::vector<TextLine> join_lone_glyphs(std::span<const TextLine> lines);

Glyph transposed(const Glyph& glyph);

}  // namespace lectern::vision
