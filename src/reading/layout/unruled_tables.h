// Tables without a grid: columns of short texts with white between them, perhaps with a few horizontal rules.
#pragma once

#include <optional>
#include <vector>

#include "reading/layout/reading_order.h"
#include "reading/layout/rule_grid.h"
#include "reading/layout/table_text.h"

namespace lectern::reading::layout {

struct UnruledInput {
  std::vector<Line> segments;      // ordered by baseline
  const std::vector<Edge>& rules;  // horizontal ones, sorted; those inside the table part its rows and headers
  bool between_rules = false;      // rules above and below say that this is a table
};

// The cells, or nothing when the segments do not make a table after all (then `input.segments` is untouched).
std::optional<std::vector<CellLines>> build_unruled_table(UnruledInput& input);

// Lines over and under a table that stand in one of its columns by chance: a heading, a note.
struct TableParts {
  std::vector<Line> before, table, after;
};
TableParts peel_table(std::vector<Line> segments);

// Stretches between horizontal rules of the same extent that may hold a table (rules over and under it, as books set
// them).
std::vector<RectPt> rule_zones(const std::vector<Edge>& rules, const std::vector<Line>& segments);

}  // namespace lectern::reading::layout
