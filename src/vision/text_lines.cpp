#include "vision/text_lines.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace lectern::vision {
namespace {

int gap(int a0, int a1, int b0, int b1) {
  return std::max(a0, b0) - std::min(a1, b1);
}  // negative: they overlap

bool similar_size(const Glyph& a, const Glyph& b) {
  constexpr int ratio_max = 3;
  const int one = std::max(a.width(), a.height());
  const int other = std::max(b.width(), b.height());
  return std::max(one, other) <= ratio_max * std::min(one, other);
}

bool similar_height(const Glyph& a, const Glyph& b) {
  return 2 * std::max(a.height(), b.height()) <= 3 * std::min(a.height(), b.height());
}

void extend(TextLine& line, const Glyph& g) {
  line.box = {std::min(line.box.x0, g.x0), std::min(line.box.y0, g.y0), std::max(line.box.x1, g.x1),
              std::max(line.box.y1, g.y1)};
  ++line.glyphs;
}

void sort_by_length(std::vector<TextLine>& lines) {
  std::ranges::sort(lines, {}, [](const TextLine& l) { return std::tuple(-l.glyphs, l.box.y0, l.box.x0); });
}

// Glyphs by the cell of a coarse grid that their centre lies in, so that neighbours are found without comparing all.
class Grid {
 public:
  explicit Grid(std::span<const Glyph> glyphs) : glyphs_(glyphs) {
    for (const Glyph& g : glyphs) {
      columns_ = std::max(columns_, column_of(g) + 1);
      rows_ = std::max(rows_, row_of(g) + 1);
    }
    // Sorted by cell: how many there are in each, where each begins, then the glyphs themselves.
    begins_.resize(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) + 1);
    for (const Glyph& g : glyphs) ++begins_[cell(column_of(g), row_of(g)) + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<int> next(begins_.begin(), begins_.end() - 1);
    sorted_.resize(glyphs.size());
    for (int i = 0; i < static_cast<int>(glyphs.size()); ++i) {
      const Glyph& g = glyphs[static_cast<std::size_t>(i)];
      sorted_[static_cast<std::size_t>(next[cell(column_of(g), row_of(g))]++)] = i;
    }
  }

  // Calls `visit(index)` for glyphs whose centre may lie within the rectangle.
  template <class Visit>
  void near(int x0, int y0, int x1, int y1, Visit visit) const {
    const int last_column = std::min(std::max(0, x1) / cell_px, columns_ - 1);
    const int last_row = std::min(std::max(0, y1) / cell_px, rows_ - 1);
    for (int row = std::max(0, y0) / cell_px; row <= last_row; ++row) {
      for (int column = std::max(0, x0) / cell_px; column <= last_column; ++column) {
        const std::size_t at = cell(column, row);
        for (int i = begins_[at]; i < begins_[at + 1]; ++i) {
          const int index = sorted_[static_cast<std::size_t>(i)];
          visit(index, glyphs_[static_cast<std::size_t>(index)]);
        }
      }
    }
  }

 private:
  static constexpr int cell_px = 32;
  static int column_of(const Glyph& g) { return std::max(0, g.x0 + g.x1) / 2 / cell_px; }
  static int row_of(const Glyph& g) { return std::max(0, g.y0 + g.y1) / 2 / cell_px; }
  std::size_t cell(int column, int row) const {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(column);
  }

  std::span<const Glyph> glyphs_;
  int columns_ = 0;
  int rows_ = 0;
  std::vector<int> begins_;  // of each cell, in sorted_
  std::vector<int> sorted_;  // indices into glyphs_
};

}  // namespace

Glyph transposed(const Glyph& g) {
  return {g.y0, g.x0, g.y1, g.x1};
}

AxisVotes vote_on_axis(std::span<const Glyph> glyphs) {
  const Grid grid(glyphs);
  AxisVotes votes;
  for (int i = 0; i < static_cast<int>(glyphs.size()); ++i) {
    const Glyph& a = glyphs[static_cast<std::size_t>(i)];
    const int reach = 2 * std::max(a.width(), a.height()) + 4;
    int best = reach;
    int direction = 0;  // +1 horizontal, -1 vertical
    grid.near(a.x0 - reach, a.y0 - reach, a.x1 + reach, a.y1 + reach, [&](int j, const Glyph& b) {
      if (j == i || !similar_size(a, b)) return;
      const int gap_x = gap(a.x0, a.x1, b.x0, b.x1);
      const int gap_y = gap(a.y0, a.y1, b.y0, b.y1);
      const bool beside = 2 * -gap_y >= std::min(a.height(), b.height()) && gap_x > gap_y;
      const bool below = 2 * -gap_x >= std::min(a.width(), b.width()) && gap_y > gap_x;
      if (beside && std::max(gap_x, 0) < best) {
        best = std::max(gap_x, 0);
        direction = 1;
      } else if (below && std::max(gap_y, 0) < best) {
        best = std::max(gap_y, 0);
        direction = -1;
      }
    });
    if (direction > 0) ++votes.horizontal;
    if (direction < 0) ++votes.vertical;
  }
  return votes;
}

std::vector<TextLine> find_lines(std::span<const Glyph> glyphs) {
  const Grid grid(glyphs);
  std::vector<int> parent(glyphs.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[static_cast<std::size_t>(i)] != i) {
      i = parent[static_cast<std::size_t>(i)] = parent[static_cast<std::size_t>(parent[static_cast<std::size_t>(i)])];
    }
    return i;
  };
  for (int i = 0; i < static_cast<int>(glyphs.size()); ++i) {
    const Glyph& a = glyphs[static_cast<std::size_t>(i)];
    const int reach = 3 * a.height() / 2 + 3;  // a word space
    int best = reach;
    int neighbour = -1;
    // Centres of wide glyphs lie further off than their edges, hence twice the reach.
    grid.near(a.x0, a.y0 - a.height(), a.x1 + 2 * reach, a.y1 + a.height(), [&](int j, const Glyph& b) {
      if (j == i || b.x0 + b.x1 <= a.x0 + a.x1 || !similar_size(a, b)) return;
      if (2 * -gap(a.y0, a.y1, b.y0, b.y1) < std::min(a.height(), b.height())) return;
      const int distance = gap(a.x0, a.x1, b.x0, b.x1);
      if (distance < best) {
        best = distance;
        neighbour = j;
      }
    });
    if (neighbour >= 0) parent[static_cast<std::size_t>(root(neighbour))] = root(i);
  }
  std::unordered_map<int, TextLine> by_root;
  for (int i = 0; i < static_cast<int>(glyphs.size()); ++i) {
    const Glyph& g = glyphs[static_cast<std::size_t>(i)];
    extend(by_root.try_emplace(root(i), TextLine{g, 0}).first->second, g);
  }
  std::vector<TextLine> lines;
  lines.reserve(by_root.size());
  for (const auto& [ignored, line] : by_root) lines.push_back(line);
  sort_by_length(lines);
  return lines;
}

std::vector<TextLine> join_lone_glyphs(std::span<const TextLine> lines) {
  constexpr int row_glyphs_min = 3;
  std::vector<Glyph> lone;
  for (const TextLine& line : lines) {
    if (line.glyphs == 1) lone.push_back(line.box);
  }
  // From the top by their middles; a glyph joins a row by the row's first one, so that rows do not creep downwards.
  const auto twice_middle = [](const Glyph& g) { return g.y0 + g.y1; };
  std::ranges::sort(lone, {}, [&](const Glyph& g) { return std::tuple(twice_middle(g), g.x0, g.x1); });
  std::vector<TextLine> rows;
  std::vector<Glyph> first_of_row;
  for (const Glyph& g : lone) {
    std::size_t row = rows.size();
    for (std::size_t i = rows.size(); i > 0 && row == rows.size(); --i) {
      const Glyph& first = first_of_row[i - 1];
      const int apart = twice_middle(g) - twice_middle(first);
      if (apart > g.height()) break;  // all others lie higher still
      if (apart <= first.height() && similar_height(g, first)) row = i - 1;
    }
    if (row == rows.size()) {
      rows.push_back({g, 0});
      first_of_row.push_back(g);
    }
    extend(rows[row], g);
  }
  std::erase_if(rows, [](const TextLine& row) { return row.glyphs < row_glyphs_min; });
  sort_by_length(rows);
  return rows;
}

}  // namespace lectern::vision
