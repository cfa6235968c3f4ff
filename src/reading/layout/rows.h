// Segments that share a baseline → lines, for text that stands in one column.
#pragma once

#include <vector>

#include "reading/layout/lines.h"

namespace lectern::reading::layout {

// `segments` ordered by baseline.
std::vector<Line> join_rows(std::vector<Line> segments);

// Words of one column (a cell of a table) → its lines.
std::vector<Line> lines_of(std::vector<Word> words);

}  // namespace lectern::reading::layout
