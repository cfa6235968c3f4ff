#include "reading/layout/ruled_tables.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "reading/layout/rows.h"
#include "reading/layout/unruled_tables.h"

namespace lectern::reading::layout {
namespace {

struct Filled {
  std::vector<std::vector<Word>> words;  // by cell
  std::size_t cells_with_text = 0;
  std::size_t count = 0;
};

bool inside(const RectPt& box, const Word& w) {
  const float x = w.box.center_x();
  const float y = w.box.center_y();
  return x > box.x0 && x < box.x1 && y > box.y0 && y < box.y1;
}

// The cell of every elementary field of the grid, so that a word finds its cell by two binary searches.
std::vector<std::size_t> cell_map(const Grid& grid) {
  std::vector<std::size_t> map(static_cast<std::size_t>(grid.rows() * grid.columns()));
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    const GridCell& c = grid.cells[i];
    for (int r = c.row; r < c.row + c.row_span; ++r) {
      for (int k = c.column; k < c.column + c.column_span; ++k)
        map[static_cast<std::size_t>(r * grid.columns() + k)] = i;
    }
  }
  return map;
}

std::size_t slot(const std::vector<float>& borders, float at) {
  const auto it = std::ranges::upper_bound(borders, at);
  const auto i = static_cast<std::size_t>(it - borders.begin());
  return std::clamp<std::size_t>(i, 1, borders.size() - 1) - 1;
}

// A grid is a table when its cells hold text as tables do. Charts have grids with nothing inside; boxes around prose
// have one cell with everything in it.
bool is_table(const Grid& grid, const Filled& filled) {
  if (filled.count == 0 || filled.cells_with_text < 2) return false;
  if (grid.columns() == 1 && grid.rows() < 2) return false;
  const double share = static_cast<double>(filled.cells_with_text) / static_cast<double>(grid.cells.size());
  if (grid.cells.size() > 60 && share < 0.15) return false;
  if (grid.cells.size() > 6 && share < 0.1) return false;
  std::size_t fullest = 0;
  for (const auto& w : filled.words) fullest = std::max(fullest, w.size());
  // A frame around prose, divided or not, lays out a page; it tabulates nothing.
  const bool one_holds_most = fullest > 80 && fullest * 2 > filled.count;
  return !one_holds_most;
}

// Listings have a frame, and a ground under each line: one column of fixed pitch on a page that is set otherwise.
bool is_listing(const Grid& grid, const Filled& filled) {
  int column = -1;
  for (std::size_t i = 0; i < grid.cells.size(); ++i) {
    if (filled.words[i].empty()) continue;
    if (column >= 0 && grid.cells[i].column != column) return false;
    column = grid.cells[i].column;
    if (!std::ranges::all_of(filled.words[i], &Word::mono)) return false;
  }
  return true;
}

// Rows that are ruled only at their ends: cells whose lines stand on the same baselines are as many rows.
void split_unruled_rows(std::vector<CellLines>& cells, int rows) {
  std::vector<std::vector<std::size_t>> by_row(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < cells.size(); ++i) by_row[static_cast<std::size_t>(cells[i].cell.row)].push_back(i);
  std::vector<CellLines> out;
  int shift = 0;
  std::vector<int> new_row(static_cast<std::size_t>(rows) + 1);
  for (int r = 0; r < rows; ++r) {
    new_row[static_cast<std::size_t>(r)] = r + shift;
    const auto& members = by_row[static_cast<std::size_t>(r)];
    std::vector<float> ys;
    std::size_t filled = 0;
    bool even = true;
    for (const std::size_t i : members) {
      const CellLines& c = cells[i];
      if (c.lines.empty()) continue;
      ++filled;
      if (c.cell.row_span > 1) even = false;
      if (ys.empty()) {
        for (const Line& l : c.lines) ys.push_back(l.baseline);
      } else if (ys.size() == c.lines.size()) {
        for (std::size_t k = 0; k < ys.size(); ++k)
          even = even && std::abs(ys[k] - c.lines[k].baseline) < 0.25F * c.lines[k].size;
      } else {
        even = false;
      }
    }
    const bool split = even && filled >= 2 && ys.size() >= 3 && filled * 2 > members.size();
    if (!split) continue;
    shift += static_cast<int>(ys.size()) - 1;
    for (const std::size_t i : members) {
      CellLines whole = std::move(cells[i]);
      for (std::size_t k = 0; k < ys.size(); ++k) {
        CellLines part{whole.cell, {}};
        part.cell.row = new_row[static_cast<std::size_t>(r)] + static_cast<int>(k);
        if (k < whole.lines.size()) part.lines.push_back(std::move(whole.lines[k]));
        out.push_back(std::move(part));
      }
      cells[i].cell.row = -1;
    }
  }
  if (shift == 0) return;
  new_row[static_cast<std::size_t>(rows)] = rows + shift;
  for (CellLines& c : cells) {
    if (c.cell.row < 0) continue;
    const int end = new_row[static_cast<std::size_t>(c.cell.row + c.cell.row_span)];
    c.cell.row = new_row[static_cast<std::size_t>(c.cell.row)];
    c.cell.row_span = end - c.cell.row;
    out.push_back(std::move(c));
  }
  cells = std::move(out);
}

// Tables with tinted rows draw borders in every other row only. A cell that seems to span columns is cut at each border
// that its text leaves free, when there is text on both sides.
void split_false_spans(std::vector<CellLines>& cells, const Grid& grid) {
  std::vector<CellLines> out;
  for (CellLines& whole : cells) {
    GridCell rest = whole.cell;
    std::vector<Word> words;
    for (Line& l : whole.lines) std::ranges::move(l.words, std::back_inserter(words));
    if (rest.column_span == 1 || words.empty()) {
      whole.lines = lines_of(std::move(words));
      out.push_back(std::move(whole));
      continue;
    }
    const std::vector<Line> segments = make_segments(words);
    for (int c = rest.column + 1; c < whole.cell.column + whole.cell.column_span; ++c) {
      const float border = grid.xs[static_cast<std::size_t>(c)];
      const bool crossed =
          std::ranges::any_of(segments, [&](const Line& s) { return s.box.x0 < border - 1 && s.box.x1 > border + 1; });
      const auto is_left = [&](const Word& w) { return w.box.center_x() < border; };
      const bool left = std::ranges::any_of(words, is_left);
      const bool right = !std::ranges::all_of(words, is_left);
      if (crossed || !left || !right) continue;
      CellLines part{rest, {}};
      part.cell.column_span = c - rest.column;
      std::vector<Word> own;
      for (Word& w : words) {
        if (is_left(w)) own.push_back(w);
      }
      std::erase_if(words, is_left);
      part.lines = lines_of(std::move(own));
      out.push_back(std::move(part));
      rest.column_span -= c - rest.column;
      rest.column = c;
    }
    out.push_back({rest, lines_of(std::move(words))});
  }
  cells = std::move(out);
}

// Rules between rows, white between columns: when the text has clearly more columns than the rules have, the text is
// right.
std::optional<std::vector<CellLines>> finer_columns(const Grid& grid, const Filled& filled) {
  if (grid.columns() > 3 || grid.rows() < 3) return std::nullopt;
  std::vector<Word> words;
  for (const auto& cell : filled.words) words.insert(words.end(), cell.begin(), cell.end());
  std::vector<Edge> rules;
  for (const float y : grid.ys) rules.push_back({y, grid.xs.front(), grid.xs.back()});
  UnruledInput input{make_segments(std::move(words)), rules, true};
  auto cells = build_unruled_table(input);
  if (!cells) return std::nullopt;
  int columns = 0;
  for (const CellLines& c : *cells) columns = std::max(columns, c.cell.column + c.cell.column_span);
  const int more = grid.columns() == 1 ? 1 : 2;
  return columns >= grid.columns() + more ? std::move(cells) : std::nullopt;
}

// One row of boxes is a banner or a form's heading; it reads better as text.
bool has_two_rows(const std::vector<CellLines>& cells) {
  int first = -1;
  for (const CellLines& c : cells) {
    if (c.lines.empty()) continue;
    if (first < 0) first = c.cell.row;
    if (c.cell.row != first) return true;
  }
  return false;
}

void take_out(std::vector<Word>& words, const std::vector<std::size_t>& taken) {
  std::size_t next = 0;
  std::size_t at = 0;
  std::erase_if(words,
                [&](const Word&) { return next < taken.size() && taken[next] == at++ ? (++next, true) : false; });
}

}  // namespace

std::vector<FoundTable> take_ruled_tables(std::vector<Word>& words, const std::vector<Grid>& grids, SizePt page) {
  std::vector<FoundTable> tables;
  const bool typewritten = std::ranges::count_if(words, &Word::mono) * 10 > std::ssize(words) * 7;
  for (const Grid& grid : grids) {
    const RectPt box = grid.box();
    if (box.width() < 30 || box.height() < 10) continue;
    // A frame around the whole page is a border, not a table, unless it is divided like one.
    if (box.area() > 0.85F * page.width * page.height && grid.cells.size() < 8) continue;
    const std::vector<std::size_t> map = cell_map(grid);
    Filled filled;
    filled.words.resize(grid.cells.size());
    std::vector<std::size_t> taken;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!inside(box, words[i])) continue;
      const std::size_t c = slot(grid.xs, words[i].box.center_x());
      const std::size_t r = slot(grid.ys, words[i].box.center_y());
      auto& cell = filled.words[map[r * static_cast<std::size_t>(grid.columns()) + c]];
      if (cell.empty()) ++filled.cells_with_text;
      cell.push_back(words[i]);
      ++filled.count;
      taken.push_back(i);
    }
    if (!is_table(grid, filled)) continue;
    if (auto finer = finer_columns(grid, filled)) {
      tables.push_back({box, std::move(*finer)});
      take_out(words, taken);
      continue;
    }
    if (!typewritten && is_listing(grid, filled)) continue;
    FoundTable table{box, {}};
    for (std::size_t i = 0; i < grid.cells.size(); ++i) {
      table.cells.push_back({grid.cells[i], lines_of(std::move(filled.words[i]))});
    }
    split_false_spans(table.cells, grid);
    split_unruled_rows(table.cells, grid.rows());
    if (!has_two_rows(table.cells)) continue;
    tables.push_back(std::move(table));
    take_out(words, taken);
  }
  return tables;
}

}  // namespace lectern::reading::layout
