#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vision/orientation.h"
#include "vision/test_images.h"

namespace lectern::vision {
namespace {

// Three columns and four rows of 200 × 100 pixels from (100, 80), drawn two pixels thick.
image::Image grid() {
  image::Image page = filled(900, 700, 255);
  for (int row = 0; row <= 4; ++row) fill_box(page, 100, 80 + 100 * row, 702, 82 + 100 * row, 0);
  for (int column = 0; column <= 3; ++column) fill_box(page, 100 + 200 * column, 80, 102 + 200 * column, 482, 0);
  return page;
}

void expect_grid(const Rulings& rulings) {
  ASSERT_EQ(rulings.horizontal.size(), 5U);
  ASSERT_EQ(rulings.vertical.size(), 4U);
  for (std::size_t row = 0; row < 5; ++row) {
    const BoxPx& line = rulings.horizontal[row];
    EXPECT_NEAR(line.x0, 100, 2);
    EXPECT_NEAR(line.x1, 702, 2);
    EXPECT_NEAR((line.y0 + line.y1) / 2, 81 + 100 * static_cast<int>(row), 2);
    EXPECT_LE(line.y1 - line.y0, 5);
  }
  for (std::size_t column = 0; column < 4; ++column) {
    const BoxPx& line = rulings.vertical[column];
    EXPECT_NEAR((line.x0 + line.x1) / 2, 101 + 200 * static_cast<int>(column), 2);
    EXPECT_NEAR(line.y0, 80, 2);
    EXPECT_NEAR(line.y1, 482, 2);
  }
}

TEST(Rulings, OfADrawnGrid) {
  expect_grid(find_rulings(grid()));
}
TEST(Rulings, OfAGridInColour) {
  expect_grid(find_rulings(to_rgb(grid())));
}
TEST(Rulings, OfALightGridOnDark) {
  expect_grid(find_rulings(inverted(grid())));
}

TEST(Rulings, SurviveSmallBreaks) {
  image::Image page = grid();
  for (int x = 130; x < 700; x += 60) fill_box(page, x, 75, x + 3, 90, 255);
  expect_grid(find_rulings(page));
}

TEST(Rulings, SurviveASlightSlant) {
  const Rulings rulings = find_rulings(turned_by(grid(), 0.3F));
  EXPECT_EQ(rulings.horizontal.size(), 5U);
  EXPECT_EQ(rulings.vertical.size(), 4U);
}

TEST(Rulings, AreFoundInLargeScansAtTheirPlace) {
  image::Image page = filled(3000, 4000, 255);
  fill_box(page, 500, 2000, 2500, 2005, 0);
  fill_box(page, 500, 2000, 505, 3000, 0);
  const Rulings rulings = find_rulings(page);
  ASSERT_EQ(rulings.horizontal.size(), 1U);
  ASSERT_EQ(rulings.vertical.size(), 1U);
  EXPECT_NEAR(rulings.horizontal[0].x0, 500, 5);
  EXPECT_NEAR(rulings.horizontal[0].x1, 2500, 5);
  EXPECT_NEAR(rulings.horizontal[0].y0, 2000, 5);
  EXPECT_NEAR(rulings.vertical[0].y1, 3000, 5);
}

TEST(Rulings, TextAndFilledAreasHaveNone) {
  for (const char* name : {"story.png", "letter.png", "label.png", "french.png"}) {
    SCOPED_TRACE(name);
    const Rulings rulings = find_rulings(load_picture(name));
    EXPECT_EQ(rulings.horizontal.size(), 0U);
    EXPECT_EQ(rulings.vertical.size(), 0U);
  }
  image::Image bar = filled(800, 600, 255);
  fill_box(bar, 100, 100, 700, 160, 0);
  EXPECT_THAT(find_rulings(bar).horizontal, testing::IsEmpty());
}

TEST(Rulings, AnUnderlinedWordIsNotATable) {
  image::Image label = load_picture("label.png");  // one line, drawn at (60, 60) in 26 pixels; its baseline is at 84
  fill_box(label, 62, 88, 370, 90, 0);
  EXPECT_THAT(find_rulings(label).horizontal, testing::IsEmpty());
}

TEST(Rulings, OfNothing) {
  for (const image::Image& image : {filled(1, 1, 0), filled(3, 2000, 0), filled(600, 400, 255), filled(600, 400, 0)}) {
    const Rulings rulings = find_rulings(image);
    EXPECT_THAT(rulings.horizontal, testing::IsEmpty());
    EXPECT_THAT(rulings.vertical, testing::IsEmpty());
  }
}

}  // namespace
}  // namespace lectern::vision
