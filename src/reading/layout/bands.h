// Strips and bands: the cuts that reading_order.h speaks of, and what a band is made of.
#pragma once

#include <span>
#include <vector>

#include "reading/layout/reading_order.h"

namespace lectern::reading::layout {

// Items that share a stretch of the page's height.
struct Strip {
  std::vector<std::size_t> items;
  std::vector<Gap> covered;  // the x-ranges that items take, merged and sorted
  float top = 0;
  float bottom = 0;
};

// Consecutive strips; `gaps` are free in all of them. No gaps: a single column.
struct Band {
  std::vector<std::size_t> items;
  std::vector<Gap> gaps;
  int strips = 0;
};

enum class BandKind { rows, columns, table };

std::vector<Strip> cut_strips(const std::vector<Item>& all, std::vector<std::size_t> members);
std::vector<Band> gather_bands(const std::vector<Strip>& strips, float gap_min);
// May close gaps that part nothing but list markers from their text.
BandKind judge_band(const std::vector<Item>& all, Band& band);

// Which side of the gaps a box lies on: 0 = left of the first gap.
std::size_t column_of(std::span<const Gap> gaps, const RectPt& box);

}  // namespace lectern::reading::layout
