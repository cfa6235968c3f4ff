// Tables drawn with lines: the words that lie in a grid's cells, taken out of the flow.
#pragma once

#include <vector>

#include "reading/layout/table_text.h"

namespace lectern::reading::layout {

struct FoundTable {
  RectPt box;
  std::vector<CellLines> cells;
};

// Takes the words of accepted tables out of `words`.
std::vector<FoundTable> take_ruled_tables(std::vector<Word>& words, const std::vector<Grid>& grids, SizePt page);

}  // namespace lectern::reading::layout
