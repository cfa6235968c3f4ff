// Lines inside the cells of a table → the table's block.
#pragma once

#include <vector>

#include "reading/layout/block_kinds.h"
#include "reading/layout/rule_grid.h"

namespace lectern::reading::layout {

struct CellLines {
  GridCell cell;
  std::vector<Line> lines;  // from top to bottom
};

// Empty rows and columns are dropped. `cells` may come in any order.
Block table_block(std::vector<CellLines> cells, const RectPt& box, const BlockContext& context);

// The text of a cell: wrapped lines joined, list items and paragraphs on lines of their own.
std::string cell_text(const std::vector<Line>& lines, const BlockContext& context, bool emphasis);

}  // namespace lectern::reading::layout
