#include "image/row_resizer.h"

#include <algorithm>
#include <utility>

namespace lectern::image {

RowResizer::RowResizer(const Shape& shape)
    : shape_(shape),
      down_kept_(lanczos_kernel(shape.height_px, shape.height_px_out)),
      along_kept_(lanczos_kernel(shape.width_px, shape.width_px_out)),
      down_(*down_kept_),
      along_(*along_kept_),
      stride_(static_cast<std::size_t>(shape.width_px) * static_cast<std::size_t>(channels(shape.format))),
      kept_(stride_ * static_cast<std::size_t>(down_.taps)),
      rows_(static_cast<std::size_t>(down_.taps)),
      line_(stride_ + static_cast<std::size_t>(along_.taps * channels(shape.format) + 4)),
      image_(Image::unset(shape.width_px_out, shape.height_px_out, shape.format)) {}

std::uint8_t* RowResizer::kept_row(int y) {
  return kept_.data() + stride_ * static_cast<std::size_t>(y % down_.taps);
}

void RowResizer::put(const std::uint8_t* row) {
  std::copy_n(row, stride_, kept_row(rows_in_));
  ++rows_in_;
  const auto last_needed = [this](int y) {
    const auto i = static_cast<std::size_t>(y);
    return down_.first[i] + down_.count[i];
  };
  while (rows_out_ < shape_.height_px_out && last_needed(rows_out_) <= rows_in_) finish_row();
}

void RowResizer::finish_row() {
  const auto i = static_cast<std::size_t>(rows_out_);
  for (int t = 0; t < down_.count[i]; ++t) rows_[static_cast<std::size_t>(t)] = kept_row(down_.first[i] + t);
  const std::int16_t* weights = down_.weights.data() + i * static_cast<std::size_t>(down_.taps);
  mix_rows({.rows = rows_.data(), .weights = weights, .count = down_.count[i], .bits = down_.bits}, line_.data(),
           stride_);
  const bool gray = shape_.format == PixelFormat::gray8;
  (gray ? resize_gray_row : resize_rgb_row)(line_.data(), image_.row(rows_out_), along_);
  ++rows_out_;
}

Image RowResizer::take() {
  // Rows that never came (a file that is cut off) must not show what the memory held before.
  const auto written = static_cast<std::ptrdiff_t>(image_.stride() * static_cast<std::size_t>(rows_out_));
  std::fill(image_.pixels.begin() + written, image_.pixels.end(), std::uint8_t{0});
  return std::exchange(image_, Image{});
}

}  // namespace lectern::image
