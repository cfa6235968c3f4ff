#include "reading/layout/unruled_tables.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reading/layout/bands.h"
#include "reading/layout/markers.h"
#include "reading/layout/rows.h"
#include "reading/layout/unruled_columns.h"

namespace lectern::reading::layout {
namespace {

struct Slot {
  int row = 0;
  int first = 0;
  int last = 0;
};

// Which rows of text make one row of the table. Returns the table row of every text row.
std::vector<int> merge_rows(const std::vector<Line>& segments, const std::vector<SegmentRow>& rows,
                            const std::vector<Gap>& gaps, const std::vector<float>& rule_ys) {
  const auto y_of = [&](const SegmentRow& r) { return segments[r.front()].baseline; };
  const auto ruled_between = [&](float a, float b, float size) {
    const auto it = std::ranges::upper_bound(rule_ys, a);
    return it != rule_ys.end() && *it < b - 0.3F * size;
  };
  // The distance that parts rows from wrapped lines, when there are two distances to tell apart.
  std::vector<float> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const float size = segments[rows[i].front()].size;
    const float step = (y_of(rows[i]) - y_of(rows[i - 1])) / std::max(size, 1.0F);
    if (step >= 0.85F) steps.push_back(step);
  }
  std::ranges::sort(steps);
  float parting = 0;
  float jump = 1.25F;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i - 1] < 1.6F && steps[i] / steps[i - 1] > jump)
      jump = steps[i] / steps[i - 1], parting = (steps[i] + steps[i - 1]) / 2;
  }
  std::size_t ruled = 0;
  for (std::size_t i = 1; i < rows.size(); ++i)
    ruled += ruled_between(y_of(rows[i - 1]), y_of(rows[i]), segments[rows[i].front()].size) ? 1 : 0;
  const bool rows_are_ruled = ruled >= 3 && ruled * 3 >= rows.size();

  std::vector<int> table_row(rows.size());
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Line& line = segments[rows[i].front()];
    const float step = (y_of(rows[i]) - y_of(rows[i - 1])) / std::max(line.size, 1.0F);
    const bool rule = ruled_between(y_of(rows[i - 1]), y_of(rows[i]), line.size);
    bool joined = false;
    if (step < 0.85F) {
      joined = true;  // too close for two lines of one column: a cell centred beside a taller one
    } else if (!rule) {
      const std::size_t first_column = column_of(gaps, line.box);
      // A wrapped line lies under a cell of the row above, adds no first column, and fills few cells.
      bool under = true;
      for (const std::size_t k : rows[i]) {
        const std::size_t c = column_of(gaps, segments[k].box);
        under = under &&
                std::ranges::any_of(rows[i - 1], [&](std::size_t p) { return column_of(gaps, segments[p].box) == c; });
      }
      const bool few = rows[i].size() <= std::max<std::size_t>(1, (gaps.size() + 1) / 2);
      if (rows_are_ruled)
        joined = true;
      else if (parting > 0)
        joined = step < parting &&
                 (first_column > 0 ? under || few : rows[i].size() == 1 && under && rows[i - 1].size() > 1);
      else
        joined = first_column > 0 && under && few && step < 1.45F;
    }
    table_row[i] = table_row[i - 1] + (joined ? 0 : 1);
  }
  return table_row;
}

// The columns a segment takes, widened to those of a rule right under it (a header over several columns).
Slot slot_of(const Line& s, int row, const std::vector<Gap>& gaps, const std::vector<Edge>& rules, const RectPt& zone) {
  const auto column_at = [&](float x) {
    int c = 0;
    while (c < static_cast<int>(gaps.size()) &&
           x > (gaps[static_cast<std::size_t>(c)].x0 + gaps[static_cast<std::size_t>(c)].x1) / 2)
      ++c;
    return c;
  };
  Slot slot{row, column_at(s.box.x0 + 0.2F * s.size), column_at(s.box.x1 - 0.2F * s.size)};
  auto it = std::ranges::lower_bound(rules, s.baseline, {}, &Edge::at);
  for (; it != rules.end() && it->at < s.baseline + 1.1F * s.size; ++it) {
    if (it->to - it->from > 0.9F * zone.width()) break;  // a rule under the whole row
    if (s.box.center_x() < it->from || s.box.center_x() > it->to) continue;
    slot.first = std::min(slot.first, column_at(it->from + 0.5F * s.size));
    slot.last = std::max(slot.last, column_at(it->to - 0.5F * s.size));
  }
  return slot;
}

// Bullets and the text behind them, nothing else: a list, wherever its rules are.
bool is_list(const std::vector<Line>& segments, const std::vector<Gap>& gaps) {
  if (gaps.size() != 1) return false;
  return std::ranges::all_of(segments, [&](const Line& s) {
    if (column_of(gaps, s.box) > 0) return true;
    const std::u32string text = text_of(s);
    return text.size() == 1 && is_marker_text(text);
  });
}

struct Shape {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t filled = 0;       // cells with text
  std::size_t parted_rows = 0;  // rows with text in two columns or more
};

bool plausible(const std::vector<Line>& segments, const Shape& shape, bool between_rules) {
  if (shape.columns < 2 || shape.rows < 2 || shape.parted_rows < 2) return false;
  constexpr std::size_t columns_max = 200;
  constexpr std::size_t cells_max = 20'000;
  if (shape.columns > columns_max || shape.rows * shape.columns > cells_max) return false;
  if (!between_rules && shape.rows < (shape.columns == 2 ? 3U : 2U)) return false;
  // Wide spaces in a justified line or two look like columns; they do not go on for three lines.
  if (!between_rules && shape.parted_rows < 3 &&
      (shape.parted_rows < shape.rows || shape.filled < shape.rows * shape.columns))
    return false;
  // Text beside a column of something else meets it only now and then.
  if (shape.parted_rows * 2 < shape.rows) return false;
  double chars = 0;
  for (const Line& s : segments) chars += s.chars;
  const double per_segment = chars / static_cast<double>(segments.size());
  if (per_segment > (between_rules ? 60 : 45)) return false;
  return static_cast<double>(shape.filled) >= 0.35 * static_cast<double>(shape.rows * shape.columns);
}

}  // namespace

std::optional<std::vector<CellLines>> build_unruled_table(UnruledInput& input) {
  const std::vector<Line>& segments = input.segments;
  if (segments.size() < 4) return std::nullopt;
  const std::vector<SegmentRow> rows = rows_by_baseline(segments);
  const std::vector<Gap> gaps = column_gaps(segments, rows);
  if (gaps.empty() || is_list(segments, gaps)) return std::nullopt;
  RectPt zone = segments.front().box;
  for (const Line& s : segments) zone = union_of(zone, s.box);
  std::vector<float> rule_ys;
  for (const Edge& e : input.rules) {
    if (e.at > zone.y0 && e.at < zone.y1 && e.to - e.from > 0.9F * zone.width() && e.from < zone.center_x() &&
        e.to > zone.center_x())
      rule_ys.push_back(e.at);
  }
  const std::vector<int> table_row = merge_rows(segments, rows, gaps, rule_ys);

  // Segments go to their cells; one that would cover a column in which its row has another text is cut back.
  std::map<std::pair<int, int>, std::vector<std::size_t>> cells;
  std::map<std::pair<int, int>, int> span;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<Slot> slots;
    for (const std::size_t i : rows[r]) slots.push_back(slot_of(segments[i], table_row[r], gaps, input.rules, zone));
    for (std::size_t k = 0; k < slots.size(); ++k) {
      Slot& s = slots[k];
      const auto middle = static_cast<int>(column_of(gaps, segments[rows[r][k]].box));
      for (std::size_t o = 0; o < slots.size(); ++o) {
        if (o == k) continue;
        const auto other = static_cast<int>(column_of(gaps, segments[rows[r][o]].box));
        if (other > middle) s.last = std::min(s.last, std::max(other - 1, s.first));
        if (other < middle) s.first = std::max(s.first, std::min(other + 1, s.last));
      }
      cells[{s.row, s.first}].push_back(rows[r][k]);
      int& width = span[{s.row, s.first}];
      width = std::max({width, s.last - s.first + 1, 1});
    }
  }
  const std::size_t table_rows = static_cast<std::size_t>(table_row.back()) + 1;
  Shape shape{table_rows, gaps.size() + 1, cells.size(), 0};
  std::map<int, int> cells_in_row;
  for (const auto& [at, members] : cells) shape.parted_rows += ++cells_in_row[at.first] == 2 ? 1U : 0U;
  if (!plausible(segments, shape, input.between_rules)) return std::nullopt;

  // Cells covered by a span to their left lose the span rather than their text.
  for (auto& [at, width] : span) {
    for (int c = at.second + 1; c < at.second + width; ++c) {
      if (cells.contains({at.first, c})) {
        width = c - at.second;
        break;
      }
    }
  }
  std::vector<CellLines> out;
  const int columns = static_cast<int>(gaps.size()) + 1;
  for (int r = 0; r < static_cast<int>(table_rows); ++r) {
    for (int c = 0; c < columns;) {
      CellLines cell{{r, c, 1, 1}, {}};
      if (const auto it = cells.find({r, c}); it != cells.end()) {
        std::vector<Line> parts;
        for (const std::size_t i : it->second) parts.push_back(std::move(input.segments[i]));
        cell.lines = join_rows(std::move(parts));
        cell.cell.column_span = span[{r, c}];
      }
      c += cell.cell.column_span;
      out.push_back(std::move(cell));
    }
  }
  return out;
}

TableParts peel_table(std::vector<Line> segments) {
  const std::vector<SegmentRow> rows = rows_by_baseline(segments);
  std::vector<float> steps;
  std::vector<float> sizes;
  std::size_t bold = 0;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (r > 0) steps.push_back(segments[rows[r].front()].baseline - segments[rows[r - 1].front()].baseline);
    for (const std::size_t i : rows[r]) sizes.push_back(segments[i].size), bold += segments[i].bold ? 1U : 0U;
  }
  TableParts parts;
  if (rows.size() < 3) return parts.table = std::move(segments), parts;
  std::ranges::sort(steps);
  std::ranges::sort(sizes);
  const float step = steps[steps.size() / 2];
  const float size = sizes[sizes.size() / 2];
  const bool mostly_bold = bold * 2 > segments.size();
  const auto stranger = [&](std::size_t r, std::size_t neighbour) {
    if (rows[r].size() != 1) return false;
    const Line& line = segments[rows[r].front()];
    const float gap = std::abs(line.baseline - segments[rows[neighbour].front()].baseline);
    return std::abs(line.size - size) > 0.07F * size || gap > 1.6F * step ||
           (line.bold && !mostly_bold && gap > 1.2F * step);
  };
  std::size_t first = 0;
  std::size_t last = rows.size();
  while (first + 2 < last && stranger(first, first + 1)) ++first;
  while (last > first + 2 && stranger(last - 1, last - 2)) --last;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<Line>& to = r < first ? parts.before : r < last ? parts.table : parts.after;
    for (const std::size_t i : rows[r]) to.push_back(std::move(segments[i]));
  }
  return parts;
}

std::vector<RectPt> rule_zones(const std::vector<Edge>& rules, const std::vector<Line>& segments) {
  std::vector<RectPt> zones;
  std::vector<bool> used(rules.size(), false);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (used[i] || rules[i].to - rules[i].from < 60) continue;
    std::vector<std::size_t> family = {i};
    for (std::size_t k = i + 1; k < rules.size() && rules[k].at - rules[i].at < 700; ++k) {
      if (std::abs(rules[k].from - rules[i].from) < 6 && std::abs(rules[k].to - rules[i].to) < 6)
        family.push_back(k), used[k] = true;
    }
    // Neighbouring intervals whose rows are parted by white make one zone.
    std::size_t from = 0;
    bool open = false;
    const auto close = [&](std::size_t to) {
      if (open) zones.push_back({rules[i].from, rules[family[from]].at, rules[i].to, rules[family[to]].at});
      open = false;
    };
    for (std::size_t k = 0; k + 1 < family.size(); ++k) {
      const float top = rules[family[k]].at;
      const float bottom = rules[family[k + 1]].at;
      int parted = 0;
      int whole = 0;
      float last_y = -1e9F;
      int in_row = 0;
      const auto count_row = [&] {
        if (in_row > 1) ++parted;
        if (in_row == 1) ++whole;
        in_row = 0;
      };
      auto it = std::ranges::lower_bound(segments, top, {}, &Line::baseline);
      for (; it != segments.end() && it->baseline < bottom + 1; ++it) {
        if (it->box.center_x() < rules[i].from - 4 || it->box.center_x() > rules[i].to + 4) continue;
        if (it->baseline - last_y > 0.35F * it->size) count_row(), last_y = it->baseline;
        ++in_row;
      }
      count_row();
      const bool tabular = parted > 0 && parted * 2 >= whole;
      const bool blank = parted + whole == 0;
      if (tabular && !open)
        open = true, from = k;
      else if (!tabular && !(blank && open))
        close(k);
    }
    close(family.size() - 1);
  }
  return zones;
}

}  // namespace lectern::reading::layout
