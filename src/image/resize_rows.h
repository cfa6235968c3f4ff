// The inner loops of resizing: much of the time that a scan takes on its way to a model is spent here.
// Weights are 16 bits, so that the processor multiplies and adds them two at a time; every machine gives the same
// pixels, with or without AVX2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "image/resize.h"

namespace lectern::image {

// For each output position: where its inputs begin, how many there are, and their weights: `taps` of them (a multiple
// of taps_step), zero from `count` on. A row must be readable for `taps` pixels and four bytes past the start of its
// last position.
struct ResizeKernel {
  static constexpr int taps_step = 16;
  int taps = 0;
  int bits = 0;  // weights are fixed point with so many bits behind the point
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> count;
  std::vector<std::int16_t> weights;
};

// For a side of `from` pixels that becomes one of `to`.
ResizeKernel make_resize_kernel(int from, int to, Filter filter);
// The same for Lanczos' filter, from the last few that this thread made: the pages of a scan are of one size, and
// making a kernel takes longer than a tenth of using it. Shared, because it may be pushed out while somebody still uses
// it.
std::shared_ptr<const ResizeKernel> lanczos_kernel(int from, int to);

// Along a row.
void resize_gray_row(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel);
void resize_rgb_row(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel);

// Down a column, for all columns of a row: `to[i]` is the weighted sum of `rows[t][i]`. `count` of rows and weights; of
// the latter one more is readable, and zero.
struct RowMix {
  const std::uint8_t* const* rows = nullptr;
  const std::int16_t* weights = nullptr;
  int count = 0;
  int bits = 0;
};
void mix_rows(const RowMix& mix, std::uint8_t* to, std::size_t width);

// The plain ones, to compare with.
void resize_gray_row_plain(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel);
void resize_rgb_row_plain(const std::uint8_t* from, std::uint8_t* to, const ResizeKernel& kernel);
void mix_rows_plain(const RowMix& mix, std::uint8_t* to, std::size_t width);

}  // namespace lectern::image
