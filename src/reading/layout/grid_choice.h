// Which grids of a page are worth trying as tables: those of its rules, helped by the backgrounds of cells.
#pragma once

#include <vector>

#include "reading/layout/rule_grid.h"

namespace lectern::reading::layout {

// `rules` from rules alone, `tinted` from rules and fills together. A tinted header adds its row to a ruled grid; a
// grid of backgrounds counts by itself only where every cell has one.
std::vector<Grid> choose_grids(const Edges& rules, const Edges& tinted, const document::PageContent& content);

}  // namespace lectern::reading::layout
