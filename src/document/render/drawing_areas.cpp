#include "document/render/drawing_areas.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace lectern::document {
namespace {

constexpr float reach_pt = 6;      // shapes nearer than this belong together
constexpr int paths_min = 6;       // fewer are bullets, ornaments, a logo's stroke
constexpr float side_min_pt = 24;  // smaller is an icon
constexpr int cells_per_side =
    128;  // of the grid on which closeness is judged; bounds the work for any number of shapes

class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0U); }
  std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::uint32_t> parent_;
};

bool touches(const RectPt& a, const RectPt& b, float slack) {
  return a.x0 <= b.x1 + slack && b.x0 <= a.x1 + slack && a.y0 <= b.y1 + slack && b.y0 <= a.y1 + slack;
}

RectPt around(const RectPt& a, const RectPt& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

// Marks the cells of each shape on a coarse grid; shapes that share a cell belong together.
std::vector<DrawingArea> cluster(std::span<const RectPt> shapes, SizePt page) {
  const float cell = std::max({reach_pt, page.width / cells_per_side, page.height / cells_per_side});
  const int columns = std::max(1, static_cast<int>(std::ceil(page.width / cell)));
  const int rows = std::max(1, static_cast<int>(std::ceil(page.height / cell)));
  constexpr std::uint32_t nobody = UINT32_MAX;
  std::vector<std::uint32_t> owner(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), nobody);
  Groups groups(shapes.size());
  const auto index = [](float value, float cell_size, int count) {
    return std::clamp(static_cast<int>(std::floor(value / cell_size)), 0, count - 1);
  };
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    const RectPt& s = shapes[i];
    const int x_end = index(s.x1 + reach_pt / 2, cell, columns);
    const int y_end = index(s.y1 + reach_pt / 2, cell, rows);
    for (int y = index(s.y0 - reach_pt / 2, cell, rows); y <= y_end; ++y) {
      for (int x = index(s.x0 - reach_pt / 2, cell, columns); x <= x_end; ++x) {
        auto& who =
            owner[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x)];
        if (who == nobody) {
          who = i;
        } else {
          groups.join(i, who);
        }
      }
    }
  }
  std::vector<std::int32_t> area_of(shapes.size(), -1);
  std::vector<DrawingArea> areas;
  for (std::uint32_t i = 0; i < shapes.size(); ++i) {
    std::int32_t& slot = area_of[groups.find(i)];
    if (slot < 0) {
      slot = static_cast<std::int32_t>(areas.size());
      areas.push_back({shapes[i], 0});
    }
    DrawingArea& area = areas[static_cast<std::size_t>(slot)];
    area.box = around(area.box, shapes[i]);
    ++area.paths;
  }
  return areas;
}

void merge_overlapping(std::vector<DrawingArea>& areas) {
  for (std::size_t i = 0; i < areas.size(); ++i) {
    for (std::size_t j = i + 1; j < areas.size();) {
      if (touches(areas[i].box, areas[j].box, 0)) {
        areas[i] = {around(areas[i].box, areas[j].box), areas[i].paths + areas[j].paths};
        areas.erase(areas.begin() + static_cast<std::ptrdiff_t>(j));
        j = i + 1;  // the grown box may reach areas that were passed over
      } else {
        ++j;
      }
    }
  }
}

}  // namespace

std::vector<DrawingArea> find_drawing_areas(std::span<const RectPt> shapes, std::span<const Rule> rules,
                                            std::span<const Fill> fills, SizePt page) {
  std::vector<DrawingArea> areas = cluster(shapes, page);
  std::erase_if(areas, [](const DrawingArea& a) {
    return a.paths < 2 || std::max(a.box.width(), a.box.height()) < side_min_pt / 2;
  });
  if (areas.size() > 1000) {  // a page full of specks: keep the largest, so that merging stays cheap
    std::ranges::sort(areas, std::greater{}, [](const DrawingArea& a) { return a.box.area(); });
    areas.resize(1000);
  }
  merge_overlapping(areas);
  // Axes, bars and frames: only those not much larger than the drawing, or a page-wide rule would swallow the page.
  const auto absorb = [&](const RectPt& box) {
    for (DrawingArea& area : areas) {
      if (std::max(box.width(), box.height()) <= std::max(area.box.width(), area.box.height()) * 1.5F &&
          touches(area.box, box, reach_pt)) {
        area = {around(area.box, box), area.paths + 1};
        return;
      }
    }
  };
  for (const Fill& fill : fills) absorb(fill.box);
  for (const Rule& rule : rules) absorb(rule.box);
  merge_overlapping(areas);
  std::erase_if(areas, [](const DrawingArea& a) {
    return a.paths < paths_min || a.box.width() < side_min_pt || a.box.height() < side_min_pt;
  });
  std::ranges::sort(areas, [](const DrawingArea& a, const DrawingArea& b) {
    return a.box.y0 != b.box.y0 ? a.box.y0 < b.box.y0 : a.box.x0 < b.box.x0;
  });
  return areas;
}

}  // namespace lectern::document
