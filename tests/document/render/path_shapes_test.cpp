#include "document/render/path_shapes.h"

#include <gtest/gtest.h>

#include "document/render/drawing_areas.h"

namespace lectern::document {
namespace {

using Kind = PathPoint::Kind;

std::vector<PathPoint> rectangle(float x, float y, float width, float height) {
  return {{{x, y}, Kind::move, false},
          {{x + width, y}, Kind::line, false},
          {{x + width, y + height}, Kind::line, false},
          {{x, y + height}, Kind::line, true}};
}

struct Sorted {
  std::vector<Rule> rules;
  std::vector<Fill> fills;
  std::vector<RectPt> shapes;
};

Sorted sort(const std::vector<PathPoint>& path, PathPaint paint) {
  if (paint.clip == RectPt{}) paint.clip = {0, 0, 600, 800};
  Sorted sorted;
  classify_path(path, paint, {sorted.rules, sorted.fills, sorted.shapes});
  return sorted;
}

TEST(ClassifyPath, AFilledRectangleIsAFillOrARule) {
  const Sorted box = sort(rectangle(10, 10, 50, 40), {.filled = true, .fill_rgb = 0xEEEEEE});
  ASSERT_EQ(box.fills.size(), 1U);
  EXPECT_EQ(box.fills[0], (Fill{{10, 10, 60, 50}, 0xEEEEEE}));
  EXPECT_TRUE(box.rules.empty() && box.shapes.empty());

  const Sorted bar = sort(rectangle(10, 10, 200, 0.5F), {.filled = true});
  ASSERT_EQ(bar.rules.size(), 1U);
  EXPECT_TRUE(bar.rules[0].horizontal());
  EXPECT_TRUE(bar.fills.empty());

  const Sorted upright = sort(rectangle(10, 10, 1, 90), {.filled = true});
  ASSERT_EQ(upright.rules.size(), 1U);
  EXPECT_FALSE(upright.rules[0].horizontal());
}

TEST(ClassifyPath, AStrokedRectangleIsFourRules) {
  const Sorted frame = sort(rectangle(10, 10, 50, 40), {.stroked = true, .stroke_rgb = 0xFF0000, .stroke_width_pt = 2});
  ASSERT_EQ(frame.rules.size(), 4U);
  EXPECT_EQ(frame.rules[0], (Rule{{10, 9, 60, 11}, 0xFF0000}));
  EXPECT_EQ(frame.rules[3], (Rule{{9, 10, 11, 50}, 0xFF0000}));
  EXPECT_TRUE(frame.fills.empty());
}

// As Google Sheets draws the lines of a grid: six points, of which one comes twice.
TEST(ClassifyPath, ADoubledCornerChangesNothing) {
  auto path = rectangle(10, 10, 200, 0.5F);
  path.insert(path.begin() + 1, {{10, 10}, Kind::line, false});
  path.back().closes = false;
  path.push_back({{10, 10}, Kind::line, true});
  const Sorted bar = sort(path, {.filled = true});
  EXPECT_EQ(bar.rules.size(), 1U);
  EXPECT_TRUE(bar.fills.empty() && bar.shapes.empty());

  auto closing_twice = rectangle(10, 10, 50, 40);
  closing_twice.back().closes = false;
  closing_twice.push_back({{10, 50}, Kind::line, true});
  EXPECT_EQ(sort(closing_twice, {.stroked = true}).rules.size(), 4U);
}

TEST(ClassifyPath, AnOpenRectangleHasNoFourthSide) {
  auto path = rectangle(10, 10, 50, 40);
  path.back().closes = false;
  EXPECT_EQ(sort(path, {.stroked = true}).rules.size(), 3U);
}

TEST(ClassifyPath, SlantsAndCurvesAreShapes) {
  const std::vector<PathPoint> slant{{{0, 0}, Kind::move, false}, {{50, 30}, Kind::line, false}};
  EXPECT_EQ(sort(slant, {.stroked = true}).shapes.size(), 1U);
  const std::vector<PathPoint> curve{{{0, 0}, Kind::move, false},
                                     {{5, 9}, Kind::curve, false},
                                     {{9, 9}, Kind::curve, false},
                                     {{9, 0}, Kind::curve, true}};
  EXPECT_EQ(sort(curve, {.filled = true}).shapes.size(), 1U);
}

TEST(ClassifyPath, EachSubpathIsJudgedAlone) {
  auto path = rectangle(10, 10, 50, 40);
  const auto line = rectangle(10, 100, 300, 1);
  path.insert(path.end(), line.begin(), line.end());
  const Sorted sorted = sort(path, {.filled = true});
  EXPECT_EQ(sorted.fills.size(), 1U);
  EXPECT_EQ(sorted.rules.size(), 1U);
}

TEST(ClassifyPath, NothingIsSeenOutsideTheClip) {
  const PathPaint clipped{.filled = true, .stroked = true, .clip = {0, 0, 30, 30}};
  const Sorted sorted = sort(rectangle(10, 10, 50, 40), clipped);
  ASSERT_EQ(sorted.fills.size(), 1U);
  EXPECT_EQ(sorted.fills[0].box, (RectPt{10, 10, 30, 30}));
  EXPECT_EQ(sorted.rules.size(), 2U);
}

TEST(DrawingAreas, FindsAChartAndSparesATable) {
  std::vector<RectPt> shapes;
  for (int i = 0; i < 12; ++i) {  // a curve of small strokes
    const auto x = static_cast<float>(100 + i * 10);
    shapes.push_back({x, 200, x + 11, 220});
  }
  const std::vector<Rule> axes{{{95, 150, 95.5F, 250}, 0}, {{95, 250, 230, 250.5F}, 0}, {{50, 500, 550, 501}, 0}};
  const auto areas = find_drawing_areas(shapes, axes, {}, {600, 800});
  ASSERT_EQ(areas.size(), 1U);
  EXPECT_GE(areas[0].paths, 12);
  EXPECT_FLOAT_EQ(areas[0].box.x0, 95);
  EXPECT_FLOAT_EQ(areas[0].box.y1, 250.5F);

  std::vector<Rule> grid;
  for (int i = 0; i < 20; ++i)
    grid.push_back({{50, 300.0F + static_cast<float>(i) * 20, 550, 300.5F + static_cast<float>(i) * 20}, 0});
  EXPECT_TRUE(find_drawing_areas({}, grid, {}, {600, 800}).empty());
}

TEST(DrawingAreas, ABulletIsNoDrawingAndTwoChartsStayTwo) {
  EXPECT_TRUE(find_drawing_areas(std::vector<RectPt>{{50, 50, 54, 54}}, {}, {}, {600, 800}).empty());
  std::vector<RectPt> shapes;
  for (const float left : {50.0F, 350.0F}) {
    for (int i = 0; i < 10; ++i)
      shapes.push_back({left + static_cast<float>(i) * 10, 100, left + static_cast<float>(i) * 10 + 9, 160});
  }
  EXPECT_EQ(find_drawing_areas(shapes, {}, {}, {600, 800}).size(), 2U);
}

}  // namespace
}  // namespace lectern::document
