#include "reading/layout/grid_choice.h"

#include <algorithm>

namespace lectern::reading::layout {
namespace {

// Where only some rows are tinted, the tints border too little; where they lie over each other, they are no cells.
bool fully_tinted(const Grid& grid, const document::PageContent& content) {
  const RectPt box = grid.box();
  float tint = 0;
  for (const document::Fill& f : content.fills) {
    const RectPt fill = f.box;
    if (fill.area() < 0.95F * box.area()) tint += std::max(0.0F, intersection(fill, box).area());
  }
  return tint >= 0.8F * box.area() && tint <= 1.6F * box.area();
}

bool adds_rows_only(const Grid& ruled, const Grid& tinted) {
  if (tinted.columns() != ruled.columns() || tinted.rows() <= ruled.rows() || tinted.rows() > ruled.rows() + 3)
    return false;
  return intersection(ruled.box(), tinted.box()).area() > 0.7F * ruled.box().area();
}

}  // namespace

std::vector<Grid> choose_grids(const Edges& rules, const Edges& tinted, const document::PageContent& content) {
  std::vector<Grid> chosen = find_grids(rules);
  const std::size_t ruled = chosen.size();
  for (Grid& grid : find_grids(tinted)) {
    bool met = false;
    std::size_t replaced = 0;  // `ruled` = none
    for (; replaced < ruled; ++replaced) {
      if (intersection(chosen[replaced].box(), grid.box()).empty()) continue;
      met = true;
      if (adds_rows_only(chosen[replaced], grid)) break;
    }
    if (replaced < ruled)
      chosen[replaced] = std::move(grid);
    else if (!met && fully_tinted(grid, content))
      chosen.push_back(std::move(grid));
  }
  return chosen;
}

}  // namespace lectern::reading::layout
