#include "document/render/page_space.h"

#include <gtest/gtest.h>

namespace lectern::document {
namespace {

// A page of 100 by 200 points whose visible part begins at (10, 20), with a mark near its lower left corner.
const fpdf::RectF box{.left = 10, .top = 220, .right = 110, .bottom = 20};
const RectPt mark_in_pdf{15, 25, 35, 35};  // 5 right of and 5 above the corner, 20 wide, 10 high

RectPt mark_upright(int quarter_turns) {
  const PageSpace space = make_page_space(box, quarter_turns);
  return apply(space.to_upright, mark_in_pdf.x0, mark_in_pdf.y0, mark_in_pdf.x1, mark_in_pdf.y1);
}

TEST(PageSpace, PutsTheOriginAtTheTopLeftOfTheUprightPage) {
  struct Case {
    int turns;
    SizePt size;
    RectPt mark;
  };
  const Case cases[] = {
      {0, {100, 200}, {5, 185, 25, 195}},   // lower left stays lower left
      {1, {200, 100}, {5, 5, 15, 25}},      // turned clockwise, it comes to the upper left
      {2, {100, 200}, {75, 5, 95, 15}},     // upper right
      {3, {200, 100}, {185, 75, 195, 95}},  // lower right
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.turns);
    const PageSpace space = make_page_space(box, c.turns);
    EXPECT_EQ(space.size, c.size);
    EXPECT_EQ(space.page_rotate, c.turns * 90);
    EXPECT_EQ(mark_upright(c.turns), c.mark);
  }
  EXPECT_EQ(make_page_space(box, -1).page_rotate, 270);
}

TEST(Matrix, TheInnerOneActsFirst) {
  const fpdf::Matrix twice{2, 0, 0, 2, 0, 0};
  const fpdf::Matrix shift{1, 0, 0, 1, 10, 20};
  EXPECT_EQ(apply(concat(twice, shift), 1, 1), (PointPt{12, 22}));
  EXPECT_EQ(apply(concat(shift, twice), 1, 1), (PointPt{22, 42}));
}

}  // namespace
}  // namespace lectern::document
