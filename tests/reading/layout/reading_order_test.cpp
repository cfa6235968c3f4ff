#include "reading/layout/reading_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lectern::reading::layout {
namespace {

// Items in a size of 10, from `x0` to `x1` on a baseline.
Item line(float x0, float x1, float y) {
  Item item;
  item.box = {x0, y - 6, x1, y};
  item.size = 10;
  item.baseline = y;
  item.chars = static_cast<int>((x1 - x0) / 5);
  return item;
}
Item atom(float x0, float y0, float x1, float y1) {
  Item item;
  item.box = {x0, y0, x1, y1};
  item.atom = true;
  return item;
}

std::vector<std::size_t> order_of(const std::vector<Item>& items, OrderOptions options = {}) {
  std::vector<std::size_t> out;
  for (const Piece& p : find_reading_order(items, options)) out.insert(out.end(), p.items.begin(), p.items.end());
  return out;
}

void add_column(std::vector<Item>& items, float x0, float x1, float y, int lines) {
  for (int i = 0; i < lines; ++i) items.push_back(line(x0, x1, y + static_cast<float>(i) * 12));
}

TEST(ReadingOrder, TwoColumnsAreReadOneAfterTheOther) {
  std::vector<Item> items;
  for (int i = 0; i < 5; ++i) {
    items.push_back(line(50, 280, 100 + static_cast<float>(i) * 12));
    items.push_back(line(310, 540, 100 + static_cast<float>(i) * 12));
  }
  EXPECT_EQ(order_of(items), (std::vector<std::size_t>{0, 2, 4, 6, 8, 1, 3, 5, 7, 9}));
}

TEST(ReadingOrder, RightToLeftPagesBeginOnTheRight) {
  std::vector<Item> items;
  add_column(items, 50, 280, 100, 4);
  add_column(items, 310, 540, 100, 4);
  EXPECT_EQ(order_of(items, {.right_to_left = true}), (std::vector<std::size_t>{4, 5, 6, 7, 0, 1, 2, 3}));
}

TEST(ReadingOrder, ATitleAcrossTheColumnsComesFirstAndASpanningFigurePartsThem) {
  std::vector<Item> items;
  items.push_back(line(100, 500, 60));
  add_column(items, 50, 280, 100, 4);   // 1-4
  add_column(items, 310, 540, 100, 4);  // 5-8
  items.push_back(atom(50, 160, 540, 300));
  add_column(items, 50, 280, 320, 4);   // 10-13
  add_column(items, 310, 540, 320, 4);  // 14-17
  std::vector<std::size_t> expected(18);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i;
  EXPECT_EQ(order_of(items), expected);
}

TEST(ReadingOrder, ColumnsOffTheGridAreColumnsToo) {
  std::vector<Item> items;
  add_column(items, 50, 280, 100, 6);
  add_column(items, 310, 540, 105, 6);  // baselines between those of the first
  EXPECT_EQ(order_of(items), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(ReadingOrder, AFigureInOneColumnStaysThere) {
  std::vector<Item> items;
  add_column(items, 50, 280, 100, 3);
  items.push_back(atom(50, 140, 280, 240));
  add_column(items, 310, 540, 100, 12);
  const auto order = order_of(items);
  EXPECT_LT(std::ranges::find(order, 3U), std::ranges::find(order, 4U));
}

TEST(ReadingOrder, ShortAlignedCellsAreATable) {
  std::vector<Item> items;
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 3; ++c)
      items.push_back(
          line(50 + static_cast<float>(c) * 150, 90 + static_cast<float>(c) * 150, 100 + static_cast<float>(r) * 14));
  }
  const auto pieces = find_reading_order(items, {});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].kind, Piece::Kind::table);
}

TEST(ReadingOrder, MarkersBeforeTheirTextAreNoColumn) {
  std::vector<Item> items;
  for (int r = 0; r < 5; ++r) {
    items.push_back(line(50, 55, 100 + static_cast<float>(r) * 12));
    items.back().marker = true;
    items.push_back(line(75, 500, 100 + static_cast<float>(r) * 12));
  }
  const auto pieces = find_reading_order(items, {});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].kind, Piece::Kind::lines);
  EXPECT_EQ(order_of(items), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(ReadingOrder, OneGapInOneLineIsNoColumn) {
  std::vector<Item> items = {line(50, 500, 100), line(50, 120, 112), line(400, 500, 112), line(50, 500, 124)};
  EXPECT_EQ(order_of(items), (std::vector<std::size_t>{0, 1, 2, 3}));
}

TEST(ReadingOrder, EveryItemComesOnce) {
  std::vector<Item> items;
  unsigned seed = 7;
  const auto next = [&] { return static_cast<float>((seed = seed * 1664525 + 1013904223) >> 16 & 511); };
  for (int i = 0; i < 400; ++i) {
    const float x = next();
    items.push_back(line(x, x + next() / 4, next()));
    if (i % 9 == 0) items.push_back(atom(x, next(), x + 40, next()));
  }
  std::vector<std::size_t> order = order_of(items);
  std::ranges::sort(order);
  ASSERT_EQ(order.size(), items.size());
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], i);
}

}  // namespace
}  // namespace lectern::reading::layout
