#include "reading/layout/rows.h"

#include <cmath>

namespace lectern::reading::layout {
namespace {

bool same_row(const Line& a, const Line& b) {
  if (std::abs(a.baseline - b.baseline) <= 0.3F * std::min(a.size, b.size)) return true;
  // A raised mark with a gap after it, as footnotes begin, is small and lies beside the line it belongs to.
  const Line& small = a.size < b.size ? a : b;
  const Line& big = a.size < b.size ? b : a;
  if (small.size > 0.9F * big.size || small.chars > 4) return false;
  const float overlap = std::min(a.box.y1, b.box.y1) - std::max(a.box.y0, b.box.y0);
  const bool beside = small.box.x1 <= big.box.x0 + 0.2F * big.size || small.box.x0 >= big.box.x1 - 0.2F * big.size;
  return beside && overlap > 0.5F * small.box.height();
}

}  // namespace

std::vector<Line> join_rows(std::vector<Line> segments) {
  std::vector<Line> rows;
  std::vector<Line> row;
  const auto finish = [&] {
    if (!row.empty()) rows.push_back(join_segments(std::move(row)));
    row.clear();
  };
  for (Line& s : segments) {
    if (!row.empty() && !same_row(row.back(), s)) finish();
    row.push_back(std::move(s));
  }
  finish();
  return rows;
}

std::vector<Line> lines_of(std::vector<Word> words) {
  return join_rows(make_segments(std::move(words)));
}

}  // namespace lectern::reading::layout
