// Finds columns and the order in which the parts of a page are read.
//
// The page is cut into strips (rows of white run between them). Neighbouring strips that leave the same vertical gap
// free make a band; a title, a figure or a paragraph across the gap ends it. A band is then read as columns, as a
// table, or row by row, by what stands in it; columns are cut again in the same way.
#pragma once

#include <cstddef>
#include <vector>

#include "base/geometry.h"

namespace lectern::reading::layout {

struct Item {
  RectPt box;      // the core of a line segment, or the whole of an atom
  float size = 0;  // font size; 0 for an atom
  float baseline = 0;
  int chars = 0;
  bool atom = false;     // a table or figure that was already found; text never joins with it
  bool marker = false;   // opens a list item: "•", "3.", "[12]"
  bool numeric = false;  // a number, a date, a sign: what cells of tables hold
};

struct Gap {
  float x0 = 0;
  float x1 = 0;
};

struct Piece {
  enum class Kind { lines, table, atom };
  Kind kind = Kind::lines;
  std::vector<std::size_t> items;  // indices of Items, by baseline, then from left to right
  std::vector<Gap> gaps;           // kind table: the white between its columns
};

struct OrderOptions {
  bool right_to_left = false;  // columns are read from the right
};

std::vector<Piece> find_reading_order(const std::vector<Item>& items, const OrderOptions& options);

}  // namespace lectern::reading::layout
