#include "vision/text_lines.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
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

// Glyphs by the cell of a coarse grid that their centre lies in, so that neighbours are found without comparing all.
class Grid {
 public:
  explicit Grid(std::span<const Glyph> glyphs) : glyphs_(glyphs) {
    for (int i = 0; i < static_cast<int>(glyphs.size()); ++i) {
      const Glyph& g = glyphs[static_cast<std::size_t>(i)];
      cells_[key((g.x0 + g.x1) / 2 / cell_px, (g.y0 + g.y1) / 2 / cell_px)].push_back(i);
    }
  }

  // Calls `visit(index)` for glyphs whose centre may lie within the rectangle.
  template <class Visit>
  void near(int x0, int y0, int x1, int y1, Visit visit) const {
    for (int cy = std::max(0, y0) / cell_px; cy <= std::max(0, y1) / cell_px; ++cy) {
      for (int cx = std::max(0, x0) / cell_px; cx <= std::max(0, x1) / cell_px; ++cx) {
        const auto found = cells_.find(key(cx, cy));
        if (found == cells_.end()) continue;
        for (const int index : found->second) visit(index, glyphs_[static_cast<std::size_t>(index)]);
      }
    }
  }

 private:
  static constexpr int cell_px = 32;
  static std::int64_t key(int x, int y) { return static_cast<std::int64_t>(y) << 32 | static_cast<std::uint32_t>(x); }

  std::span<const Glyph> glyphs_;
  std::unordered_map<std::int64_t, std::vector<int>> cells_;
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
    TextLine& line = by_root.try_emplace(root(i), TextLine{g, 0}).first->second;
    line.box = {std::min(line.box.x0, g.x0), std::min(line.box.y0, g.y0), std::max(line.box.x1, g.x1),
                std::max(line.box.y1, g.y1)};
    ++line.glyphs;
  }
  std::vector<TextLine> lines;
  lines.reserve(by_root.size());
  for (const auto& [ignored, line] : by_root) lines.push_back(line);
  std::ranges::sort(lines, [](const TextLine& a, const TextLine& b) {
    return std::tuple(-a.glyphs, a.box.y0, a.box.x0) < std::tuple(-b.glyphs, b.box.y0, b.box.x0);
  });
  return lines;
}

}  // namespace lectern::vision
