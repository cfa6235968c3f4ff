#include "reading/layout/rule_grid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lectern::reading::layout {
namespace {

constexpr float snap_pt = 2.5F;          // lines closer than this are one
constexpr float crumb_pt = 7;            // shorter lines border nothing
constexpr std::size_t edges_max = 4000;  // more lines than any table has: a chart or a map

// Sorts and merges edges on (nearly) the same line that touch or overlap.
std::vector<Edge> merged(std::vector<Edge> edges) {
  std::ranges::sort(edges, [](const Edge& a, const Edge& b) { return a.at != b.at ? a.at < b.at : a.from < b.from; });
  std::vector<Edge> out;
  for (std::size_t i = 0; i < edges.size();) {
    // One line: everything within the snap distance of the first.
    std::size_t end = i;
    double sum = 0;
    while (end < edges.size() && edges[end].at - edges[i].at <= snap_pt) sum += edges[end++].at;
    const auto at = static_cast<float>(sum / static_cast<double>(end - i));
    std::sort(edges.begin() + static_cast<std::ptrdiff_t>(i), edges.begin() + static_cast<std::ptrdiff_t>(end),
              [](const Edge& a, const Edge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    const std::size_t first = out.size();
    for (std::size_t k = i; k < end; ++k) {
      if (out.size() > first && edges[k].from <= out.back().to + 3)
        out.back().to = std::max(out.back().to, edges[k].to);
      else
        out.push_back({at, edges[k].from, edges[k].to});
    }
    i = end;
  }
  std::erase_if(out, [](const Edge& e) { return e.to - e.from < crumb_pt; });
  return out;
}

class Sets {
 public:
  explicit Sets(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

std::vector<float> distinct(std::vector<float> values) {
  std::ranges::sort(values);
  std::vector<float> out;
  for (const float v : values) {
    if (out.empty() || v - out.back() > snap_pt) out.push_back(v);
  }
  return out;
}

// Whether lines at `at` cover most of from..to.
bool covered(const std::vector<Edge>& edges, float at, float from, float to) {
  float length = 0;
  for (const Edge& e : edges) {
    if (std::abs(e.at - at) > snap_pt) continue;
    length += std::max(0.0F, std::min(e.to, to) - std::max(e.from, from));
  }
  return length >= 0.6F * (to - from);
}

// Lines that end in the open (no border at the table's side) are closed with a border of their own.
void close_sides(std::vector<float>& borders, const std::vector<Edge>& across) {
  if (borders.empty() || across.size() < 2) return;
  std::vector<float> starts;
  std::vector<float> ends;
  for (const Edge& e : across) starts.push_back(e.from), ends.push_back(e.to);
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  const float low = starts[starts.size() / 2];
  const float high = ends[ends.size() / 2];
  if (low < borders.front() - 10) borders.insert(borders.begin(), low);
  if (high > borders.back() + 10) borders.push_back(high);
}

std::vector<GridCell> cells_of(const Grid& grid, const std::vector<Edge>& horizontal,
                               const std::vector<Edge>& vertical) {
  const int rows = grid.rows();
  const int columns = grid.columns();
  const auto at = [&](int r, int c) { return static_cast<std::size_t>(r * columns + c); };
  std::vector<char> right(static_cast<std::size_t>(rows * columns));  // a border on the right of the cell
  std::vector<char> below(right.size());
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const auto ur = static_cast<std::size_t>(r);
      const auto uc = static_cast<std::size_t>(c);
      right[at(r, c)] = c + 1 == columns || covered(vertical, grid.xs[uc + 1], grid.ys[ur], grid.ys[ur + 1]);
      below[at(r, c)] = r + 1 == rows || covered(horizontal, grid.ys[ur + 1], grid.xs[uc], grid.xs[uc + 1]);
    }
  }
  std::vector<char> taken(right.size());
  std::vector<GridCell> cells;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      if (taken[at(r, c)] != 0) continue;
      GridCell cell{r, c, 1, 1};
      while (right[at(r, c + cell.column_span - 1)] == 0 && taken[at(r, c + cell.column_span)] == 0) ++cell.column_span;
      const auto can_grow = [&] {
        const int next = r + cell.row_span;
        if (next >= rows) return false;
        for (int k = c; k < c + cell.column_span; ++k) {
          if (below[at(next - 1, k)] != 0 || taken[at(next, k)] != 0) return false;
          if (k + 1 < c + cell.column_span && right[at(next, k)] != 0) return false;
        }
        return right[at(next, c + cell.column_span - 1)] != 0 && (c == 0 || right[at(next, c - 1)] != 0);
      };
      while (can_grow()) ++cell.row_span;
      for (int i = r; i < r + cell.row_span; ++i) {
        for (int k = c; k < c + cell.column_span; ++k) taken[at(i, k)] = 1;
      }
      cells.push_back(cell);
    }
  }
  return cells;
}

}  // namespace

Edges collect_edges(const document::PageContent& content, EdgeSource source) {
  Edges edges;
  const SizePt page = content.size;
  for (const document::Rule& rule : content.rules) {
    const RectPt b = rule.box;
    if (b.width() >= b.height())
      edges.horizontal.push_back({b.center_y(), b.x0, b.x1});
    else
      edges.vertical.push_back({b.center_x(), b.y0, b.y1});
  }
  // Backgrounds of cells border them as lines do; one that fills the page borders nothing.
  const bool use_fills = source == EdgeSource::rules_and_fills;
  for (const document::Fill& fill : use_fills ? std::span(content.fills) : std::span<const document::Fill>{}) {
    const RectPt b = fill.box;
    if (b.width() < 12 || b.height() < 6 || b.area() > 0.6F * page.width * page.height) continue;
    edges.horizontal.push_back({b.y0, b.x0, b.x1});
    edges.horizontal.push_back({b.y1, b.x0, b.x1});
    edges.vertical.push_back({b.x0, b.y0, b.y1});
    edges.vertical.push_back({b.x1, b.y0, b.y1});
  }
  edges.horizontal = merged(std::move(edges.horizontal));
  edges.vertical = merged(std::move(edges.vertical));
  return edges;
}

std::vector<Grid> find_grids(const Edges& edges) {
  const std::size_t nh = edges.horizontal.size();
  const std::size_t nv = edges.vertical.size();
  if (nh < 2 || nv < 2 || nh > edges_max || nv > edges_max) return {};
  Sets sets(nh + nv);
  for (std::size_t v = 0; v < nv; ++v) {
    const Edge& e = edges.vertical[v];
    auto it = std::ranges::lower_bound(edges.horizontal, e.from - snap_pt, {}, &Edge::at);
    for (; it != edges.horizontal.end() && it->at <= e.to + snap_pt; ++it) {
      if (e.at >= it->from - snap_pt && e.at <= it->to + snap_pt)
        sets.join(static_cast<std::size_t>(it - edges.horizontal.begin()), nh + v);
    }
  }
  struct Part {
    std::vector<Edge> horizontal, vertical;
  };
  std::vector<Part> parts;
  std::vector<std::size_t> part_of(nh + nv, nh + nv);
  for (std::size_t i = 0; i < nh + nv; ++i) {
    const std::size_t root = sets.find(i);
    if (part_of[root] == nh + nv) part_of[root] = parts.size(), parts.emplace_back();
    Part& part = parts[part_of[root]];
    (i < nh ? part.horizontal : part.vertical).push_back(i < nh ? edges.horizontal[i] : edges.vertical[i - nh]);
  }
  std::vector<Grid> grids;
  for (const Part& part : parts) {
    if (part.horizontal.size() < 2 || part.vertical.empty()) continue;
    Grid grid;
    for (const Edge& e : part.vertical) grid.xs.push_back(e.at);
    for (const Edge& e : part.horizontal) grid.ys.push_back(e.at);
    grid.xs = distinct(std::move(grid.xs));
    grid.ys = distinct(std::move(grid.ys));
    close_sides(grid.xs, part.horizontal);
    close_sides(grid.ys, part.vertical);
    if (grid.xs.size() < 2 || grid.ys.size() < 2 || (grid.xs.size() - 1) * (grid.ys.size() - 1) < 2) continue;
    if ((grid.xs.size() - 1) * (grid.ys.size() - 1) > 20'000) continue;
    grid.cells = cells_of(grid, part.horizontal, part.vertical);
    if (grid.cells.size() >= 2) grids.push_back(std::move(grid));
  }
  std::ranges::sort(grids, [](const Grid& a, const Grid& b) {
    return a.ys.front() != b.ys.front() ? a.ys.front() < b.ys.front() : a.xs.front() < b.xs.front();
  });
  return grids;
}

}  // namespace lectern::reading::layout
