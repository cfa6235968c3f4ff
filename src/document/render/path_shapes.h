// Sorts vector paths into rules (table lines, underlines), fills (cell grounds) and shapes (drawings). Pure.
#pragma once

#include <span>
#include <vector>

#include "base/geometry.h"
#include "document/page_content.h"
#include "document/render/page_space.h"

namespace lectern::document {

struct PathPoint {
  enum Kind : std::uint8_t { move, line, curve };
  PointPt at;  // on the upright page
  Kind kind = move;
  bool closes = false;  // a straight line leads from here back to the last `move`
};

struct PathPaint {
  bool filled = false;
  bool stroked = false;
  std::uint32_t fill_rgb = 0;
  std::uint32_t stroke_rgb = 0;
  float stroke_width_pt = 1;
  RectPt clip;  // nothing is visible outside
};

struct PathSorting {
  std::vector<Rule>& rules;
  std::vector<Fill>& fills;
  std::vector<RectPt>& shapes;
};

// Subpath by subpath: a filled rectangle is a fill, or a rule when thin; a stroked one is four rules; straight strokes
// along an axis are rules; whatever has curves or slants is a shape.
void classify_path(std::span<const PathPoint> path, const PathPaint& paint, PathSorting to);

}  // namespace lectern::document
