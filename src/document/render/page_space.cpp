#include "document/render/page_space.h"

#include <algorithm>

namespace lectern::document {

RectPt apply(const fpdf::Matrix& m, float left, float bottom, float right, float top) {
  const PointPt corners[] = {apply(m, left, bottom), apply(m, right, bottom), apply(m, left, top),
                             apply(m, right, top)};
  RectPt box{corners[0].x, corners[0].y, corners[0].x, corners[0].y};
  for (const PointPt& p : corners) {
    box = {std::min(box.x0, p.x), std::min(box.y0, p.y), std::max(box.x1, p.x), std::max(box.y1, p.y)};
  }
  return box;
}

PageSpace make_page_space(const fpdf::RectF& box, int quarter_turns) {
  const float width = box.right - box.left;
  const float height = box.top - box.bottom;
  const int turns = ((quarter_turns % 4) + 4) % 4;
  PageSpace space{.size = {width, height}, .page_rotate = turns * 90};
  switch (turns) {
    case 0:
      space.to_upright = {1, 0, 0, -1, -box.left, box.top};
      break;
    case 1:
      space.to_upright = {0, 1, 1, 0, -box.bottom, -box.left};
      break;
    case 2:
      space.to_upright = {-1, 0, 0, 1, box.right, -box.bottom};
      break;
    default:
      space.to_upright = {0, -1, -1, 0, box.top, box.right};
      break;
  }
  if (turns % 2 == 1) std::swap(space.size.width, space.size.height);
  return space;
}

}  // namespace lectern::document
