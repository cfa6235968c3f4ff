// Rectangles and points in page space: points (1/72 inch), origin at the top left of the upright page, y grows down.
#pragma once

#include <algorithm>

namespace lectern {

struct SizePt {
  float width = 0;
  float height = 0;
  bool operator==(const SizePt&) const = default;
};

struct RectPt {
  float x0 = 0;
  float y0 = 0;
  float x1 = 0;
  float y1 = 0;

  float width() const { return x1 - x0; }
  float height() const { return y1 - y0; }
  float area() const { return std::max(0.0F, width()) * std::max(0.0F, height()); }
  float center_x() const { return (x0 + x1) / 2; }
  float center_y() const { return (y0 + y1) / 2; }
  bool empty() const { return x1 <= x0 || y1 <= y0; }
  bool operator==(const RectPt&) const = default;
};

inline RectPt intersection(const RectPt& a, const RectPt& b) {
  return {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1), std::min(a.y1, b.y1)};
}

// The smallest rectangle around both; an empty one does not count.
inline RectPt union_of(const RectPt& a, const RectPt& b) {
  if (a.empty() && a == RectPt{}) return b;
  if (b.empty() && b == RectPt{}) return a;
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

}  // namespace lectern
