// Where the columns of a table without vertical rules lie.
#pragma once

#include <vector>

#include "reading/layout/lines.h"
#include "reading/layout/reading_order.h"

namespace lectern::reading::layout {

// Indices of segments that share a baseline (or overlap so far that no two lines could lie there), from top to bottom.
using SegmentRow = std::vector<std::size_t>;
std::vector<SegmentRow> rows_by_baseline(const std::vector<Line>& segments);

// The white that nearly all rows leave free; a title over several columns may cross it.
std::vector<Gap> column_gaps(const std::vector<Line>& segments, const std::vector<SegmentRow>& rows);

}  // namespace lectern::reading::layout
