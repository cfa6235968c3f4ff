#include "reading/layout/reading_order.h"

#include <algorithm>
#include <numeric>

#include "reading/layout/bands.h"

namespace lectern::reading::layout {
namespace {

constexpr int depth_max = 12;  // pages are not nested deeper; input may be

class Order {
 public:
  Order(const std::vector<Item>& items, const OrderOptions& options) : items_(items), options_(options) {}

  void region(std::vector<std::size_t> members, int depth) {
    const float gap_min = 0.8F * middle_size(members);
    const std::vector<Strip> strips = cut_strips(items_, std::move(members));
    for (Band& band : gather_bands(strips, gap_min)) {
      switch (depth < depth_max ? judge_band(items_, band) : BandKind::rows) {
        case BandKind::rows:
          rows(band.items);
          break;
        case BandKind::table:
          pieces_.push_back({Piece::Kind::table, by_place(band.items), band.gaps});
          break;
        case BandKind::columns:
          columns(band, depth);
          break;
      }
    }
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  float middle_size(const std::vector<std::size_t>& members) const {
    std::vector<float> sizes;
    for (const std::size_t i : members) {
      if (!items_[i].atom) sizes.push_back(items_[i].size);
    }
    if (sizes.empty()) return 10;
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    return *middle;
  }

  std::vector<std::size_t> by_place(std::vector<std::size_t> members) const {
    std::ranges::sort(members, [&](std::size_t a, std::size_t b) {
      const Item& x = items_[a];
      const Item& y = items_[b];
      const float ya = x.atom ? x.box.y0 : x.baseline;
      const float yb = y.atom ? y.box.y0 : y.baseline;
      if (ya != yb) return ya < yb;
      return x.box.x0 != y.box.x0 ? x.box.x0 < y.box.x0 : a < b;
    });
    return members;
  }

  void rows(const std::vector<std::size_t>& members) {
    for (const std::size_t i : by_place(members)) {
      if (items_[i].atom) {
        pieces_.push_back({Piece::Kind::atom, {i}, {}});
        continue;
      }
      if (pieces_.empty() || pieces_.back().kind != Piece::Kind::lines || column_ended_) {
        pieces_.push_back({Piece::Kind::lines, {}, {}});
        column_ended_ = false;
      }
      pieces_.back().items.push_back(i);
    }
  }

  void columns(const Band& band, int depth) {
    std::vector<std::vector<std::size_t>> parts(band.gaps.size() + 1);
    for (const std::size_t i : band.items) parts[column_of(band.gaps, items_[i].box)].push_back(i);
    if (options_.right_to_left) std::ranges::reverse(parts);
    for (std::vector<std::size_t>& part : parts) {
      if (part.empty()) continue;
      column_ended_ = true;
      region(std::move(part), depth + 1);
    }
    column_ended_ = true;
  }

  const std::vector<Item>& items_;
  const OrderOptions options_;
  std::vector<Piece> pieces_;
  bool column_ended_ = false;  // the next lines stand in another column than the last ones
};

}  // namespace

std::vector<Piece> find_reading_order(const std::vector<Item>& items, const OrderOptions& options) {
  Order order(items, options);
  std::vector<std::size_t> all(items.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  order.region(std::move(all), 0);
  return order.take();
}

}  // namespace lectern::reading::layout
