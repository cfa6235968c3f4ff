#include "reading/layout/bands.h"

#include <algorithm>
#include <cmath>

namespace lectern::reading::layout {
namespace {

std::vector<Gap> merged_ranges(std::vector<Gap> ranges) {
  std::ranges::sort(ranges, {}, &Gap::x0);
  std::vector<Gap> out;
  for (const Gap& r : ranges) {
    if (!out.empty() && r.x0 <= out.back().x1)
      out.back().x1 = std::max(out.back().x1, r.x1);
    else
      out.push_back(r);
  }
  return out;
}

std::vector<Gap> white_between(const std::vector<Gap>& covered, float gap_min) {
  std::vector<Gap> out;
  for (std::size_t i = 1; i < covered.size(); ++i) {
    if (covered[i].x0 - covered[i - 1].x1 >= gap_min) out.push_back({covered[i - 1].x1, covered[i].x0});
  }
  return out;
}

// What is left of `gaps` when `covered` is taken out.
std::vector<Gap> still_free(const std::vector<Gap>& gaps, const std::vector<Gap>& covered, float gap_min) {
  std::vector<Gap> out;
  for (const Gap& g : gaps) {
    float from = g.x0;
    for (const Gap& c : covered) {
      if (c.x1 <= from) continue;
      if (c.x0 >= g.x1) break;
      if (c.x0 - from >= gap_min) out.push_back({from, c.x0});
      from = std::max(from, c.x1);
    }
    if (g.x1 - from >= gap_min) out.push_back({from, g.x1});
  }
  return out;
}

struct Column {
  std::vector<std::size_t> items;
  float x0 = 1e9F;
  float x1 = -1e9F;
  int lines = 0;
  int chars = 0;
  int markers = 0;
  int numeric = 0;
  bool atoms = false;
  double fill = 0;  // how much of the column's width its lines take, on average
  double chars_per_line() const { return lines > 0 ? static_cast<double>(chars) / lines : 0; }
};

std::vector<Column> columns_of(const std::vector<Item>& all, const Band& band) {
  std::vector<Column> columns(band.gaps.size() + 1);
  for (const std::size_t i : band.items) {
    Column& c = columns[column_of(band.gaps, all[i].box)];
    c.items.push_back(i);
    c.x0 = std::min(c.x0, all[i].box.x0);
    c.x1 = std::max(c.x1, all[i].box.x1);
    c.atoms = c.atoms || all[i].atom;
    if (all[i].atom) continue;
    ++c.lines;
    c.chars += all[i].chars;
    c.markers += all[i].marker ? 1 : 0;
    c.numeric += all[i].numeric ? 1 : 0;
  }
  for (Column& c : columns) {
    for (const std::size_t i : c.items) {
      if (!all[i].atom) c.fill += all[i].box.width();
    }
    if (c.lines > 0 && c.x1 > c.x0) c.fill /= c.lines * static_cast<double>(c.x1 - c.x0);
  }
  return columns;
}

// The share of lines of the sparser of two columns that have a line on the same baseline in the other.
double partnered(const std::vector<Item>& all, const Column& a, const Column& b) {
  const Column& few = a.lines <= b.lines ? a : b;
  const Column& many = a.lines <= b.lines ? b : a;
  std::vector<float> ys;
  for (const std::size_t i : many.items) {
    if (!all[i].atom) ys.push_back(all[i].baseline);
  }
  std::ranges::sort(ys);
  int with = 0;
  for (const std::size_t i : few.items) {
    if (all[i].atom) continue;
    const float play = 0.33F * all[i].size;  // values on a form's lines stand a little higher than their labels
    const auto it = std::ranges::lower_bound(ys, all[i].baseline - play);
    if (it != ys.end() && *it <= all[i].baseline + play) ++with;
  }
  return few.lines > 0 ? static_cast<double>(with) / few.lines : 0;
}

}  // namespace

std::size_t column_of(std::span<const Gap> gaps, const RectPt& box) {
  const float middle = box.center_x();
  std::size_t column = 0;
  while (column < gaps.size() && middle > (gaps[column].x0 + gaps[column].x1) / 2) ++column;
  return column;
}

std::vector<Strip> cut_strips(const std::vector<Item>& all, std::vector<std::size_t> members) {
  std::ranges::sort(members, [&](std::size_t a, std::size_t b) {
    return all[a].box.y0 != all[b].box.y0 ? all[a].box.y0 < all[b].box.y0 : a < b;
  });
  std::vector<Strip> strips;
  for (const std::size_t i : members) {
    const RectPt& box = all[i].box;
    if (strips.empty() || box.y0 >= strips.back().bottom) {
      strips.push_back({{}, {}, box.y0, box.y1});
    }
    strips.back().items.push_back(i);
    strips.back().bottom = std::max(strips.back().bottom, box.y1);
  }
  for (Strip& s : strips) {
    std::vector<Gap> ranges;
    ranges.reserve(s.items.size());
    for (const std::size_t i : s.items) ranges.push_back({all[i].box.x0, all[i].box.x1});
    s.covered = merged_ranges(std::move(ranges));
  }
  return strips;
}

std::vector<Band> gather_bands(const std::vector<Strip>& strips, float gap_min) {
  std::vector<Band> bands;
  float bottom = 0;
  float height = 0;
  for (const Strip& s : strips) {
    const bool far = !bands.empty() && s.top - bottom > 4 * std::max(height, 1.0F) && s.covered.size() < 2;
    bool joined = false;
    if (!bands.empty() && !bands.back().gaps.empty() && !far) {
      std::vector<Gap> rest = still_free(bands.back().gaps, s.covered, gap_min);
      // A gap at the edge of everything separates nothing.
      if (!rest.empty()) {
        bands.back().gaps = std::move(rest);
        joined = true;
      }
    }
    if (!joined) {
      std::vector<Gap> gaps = white_between(s.covered, gap_min);
      if (!bands.empty() && bands.back().gaps.empty() && gaps.empty())
        joined = true;
      else
        bands.push_back({{}, std::move(gaps), 0});
    }
    Band& band = bands.back();
    band.items.insert(band.items.end(), s.items.begin(), s.items.end());
    ++band.strips;
    bottom = s.bottom;
    height = s.bottom - s.top;
  }
  return bands;
}

namespace {

bool close_marker_gaps(const std::vector<Item>& all, Band& band) {
  const std::vector<Column> columns = columns_of(all, band);
  std::vector<Gap> kept;
  for (std::size_t i = 0; i < band.gaps.size(); ++i) {
    const Column& left = columns[i];
    const bool markers = left.lines >= 2 && left.markers * 10 >= left.lines * 7;
    if (!markers) kept.push_back(band.gaps[i]);
  }
  const bool any = kept.size() != band.gaps.size();
  band.gaps = std::move(kept);
  return any;
}

}  // namespace

BandKind judge_band(const std::vector<Item>& all, Band& band) {
  if (band.gaps.empty()) return BandKind::rows;
  // Bullets and numbers in front of their text are no column of their own; lists side by side are no table.
  if (close_marker_gaps(all, band)) return band.gaps.empty() ? BandKind::rows : BandKind::columns;
  std::vector<Column> columns = columns_of(all, band);
  std::erase_if(columns, [](const Column& c) { return c.items.empty(); });
  if (columns.size() < 2) return BandKind::rows;

  double aligned = 1;
  int filled = 0;  // columns of running text
  int lines_most = 0;
  int lines = 0;
  bool atoms = false;
  double longest = 0;
  std::size_t short_columns = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& c = columns[i];
    if (i > 0) aligned = std::min(aligned, partnered(all, columns[i - 1], c));
    if (c.lines >= 3 && c.chars_per_line() >= 18 && c.fill >= 0.55 && c.numeric * 3 < c.lines) ++filled;
    if (c.chars_per_line() <= 22) ++short_columns;
    longest = std::max(longest, c.chars_per_line());
    lines_most = std::max(lines_most, c.lines);
    lines += c.lines;
    atoms = atoms || c.atoms;
  }
  if (filled >= 2) return BandKind::columns;
  if (atoms) return BandKind::columns;
  if (aligned >= 0.6 && short_columns + 1 >= columns.size()) {
    const int rows_min = columns.size() >= 3 ? 2 : 3;
    if (lines_most >= rows_min) return BandKind::table;
    return BandKind::rows;
  }
  if (lines >= 4 && (aligned < 0.6 || longest >= 25)) return BandKind::columns;
  return BandKind::rows;
}

}  // namespace lectern::reading::layout
