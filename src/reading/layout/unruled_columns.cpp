#include "reading/layout/unruled_columns.h"

#include <algorithm>
#include <cmath>

namespace lectern::reading::layout {

std::vector<SegmentRow> rows_by_baseline(const std::vector<Line>& segments) {
  std::vector<SegmentRow> rows;
  float last = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Line& s = segments[i];
    if (rows.empty() || s.baseline - last > 0.35F * s.size) rows.emplace_back();
    if (rows.back().empty()) last = s.baseline;
    rows.back().push_back(i);
  }
  return rows;
}

std::vector<Gap> column_gaps(const std::vector<Line>& segments, const std::vector<SegmentRow>& rows) {
  // Rows with one segment (a wrapped cell, a spanning title) say nothing about where white must be, but may not be
  // crossed by more than a few.
  struct Event {
    float x;
    int step;
  };
  std::vector<Event> events;
  float size = 0;
  std::size_t parted = 0;
  for (const SegmentRow& row : rows) {
    if (row.size() > 1) ++parted;
    std::vector<Gap> ranges;
    for (const std::size_t i : row) {
      ranges.push_back({segments[i].box.x0, segments[i].box.x1});
      size += segments[i].size;
    }
    std::ranges::sort(ranges, {}, &Gap::x0);
    float end = -1e9F;
    for (const Gap& r : ranges) {
      const float from = std::max(r.x0, end);
      if (r.x1 <= from) continue;
      events.push_back({from, 1});
      events.push_back({r.x1, -1});
      end = r.x1;
    }
  }
  if (segments.empty() || parted == 0) return {};
  size /= static_cast<float>(segments.size());
  const int crossings_max =
      std::max(rows.size() >= 4 ? 1 : 0, static_cast<int>(0.15 * static_cast<double>(rows.size())));
  std::ranges::sort(events, [](const Event& a, const Event& b) { return a.x != b.x ? a.x < b.x : a.step < b.step; });
  std::vector<Gap> gaps;
  int depth = 0;
  float from = 0;
  bool white = false;
  bool seen_text = false;
  for (const Event& e : events) {
    const int before = depth;
    depth += e.step;
    const bool was_text = before > crossings_max;
    const bool is_text = depth > crossings_max;
    if (was_text && !is_text) from = e.x, white = true, seen_text = true;
    if (!was_text && is_text && white && seen_text) {
      if (e.x - from >= 0.5F * size) gaps.push_back({from, e.x});
      white = false;
    }
  }
  return gaps;
}

}  // namespace lectern::reading::layout
