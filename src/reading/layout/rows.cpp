#include "reading/layout/rows.h"

#include <cmath>

namespace lectern::reading::layout {

std::vector<Line> join_rows(std::vector<Line> segments) {
  std::vector<Line> rows;
  std::vector<Line> row;
  const auto finish = [&] {
    if (!row.empty()) rows.push_back(join_segments(std::move(row)));
    row.clear();
  };
  for (Line& s : segments) {
    if (!row.empty() && std::abs(s.baseline - row.back().baseline) > 0.3F * std::min(s.size, row.back().size)) finish();
    row.push_back(std::move(s));
  }
  finish();
  return rows;
}

std::vector<Line> lines_of(std::vector<Word> words) {
  return join_rows(make_segments(std::move(words)));
}

}  // namespace lectern::reading::layout
