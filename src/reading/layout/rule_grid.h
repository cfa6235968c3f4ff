// Rules and fills → grids: where a table's lines run, and which of its cells span several rows or columns.
#pragma once

#include <vector>

#include "document/page_content.h"
#include "reading/layout/glyphs.h"

namespace lectern::reading::layout {

// A straight line of a grid: at `at` on one axis, from..to on the other.
struct Edge {
  float at = 0;
  float from = 0;
  float to = 0;
};

struct Edges {
  std::vector<Edge> horizontal;  // sorted by `at`
  std::vector<Edge> vertical;
};

// Collinear pieces merged, near-parallel doubles snapped together, crumbs dropped. Rules are drawn to be seen; the
// sides of backgrounds are weaker evidence, because rows may be tinted in turn and tints be padded.
enum class EdgeSource { rules, rules_and_fills };
Edges collect_edges(const document::PageContent& content, EdgeSource source);

struct GridCell {
  int row = 0;
  int column = 0;
  int row_span = 1;
  int column_span = 1;
};

struct Grid {
  std::vector<float> xs;  // column borders, one more than there are columns
  std::vector<float> ys;
  std::vector<GridCell> cells;  // row-major, covered cells absent
  RectPt box() const { return {xs.front(), ys.front(), xs.back(), ys.back()}; }
  int rows() const { return static_cast<int>(ys.size()) - 1; }
  int columns() const { return static_cast<int>(xs.size()) - 1; }
  RectPt box_of(const GridCell& c) const {
    const auto column = static_cast<std::size_t>(c.column);
    const auto row = static_cast<std::size_t>(c.row);
    return {xs[column], ys[row], xs[column + static_cast<std::size_t>(c.column_span)],
            ys[row + static_cast<std::size_t>(c.row_span)]};
  }
};

// Grids of at least two cells whose lines touch each other.
std::vector<Grid> find_grids(const Edges& edges);

}  // namespace lectern::reading::layout
