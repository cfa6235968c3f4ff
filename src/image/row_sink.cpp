#include "image/row_sink.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace lectern::image {
namespace {

std::uint8_t luma(unsigned r, unsigned g, unsigned b) {
  return static_cast<std::uint8_t>((r * 19595U + g * 38470U + b * 7471U + 0x8000U) >> 16);
}

std::uint8_t on_white(unsigned value, unsigned alpha) {
  const unsigned mixed = value * alpha + 255U * (255U - alpha) + 127U;
  return static_cast<std::uint8_t>(mixed / 255U);
}

// R, G, B are offsets into a source pixel of N bytes; A < 0 means opaque.
template <int N, int R, int G, int B, int A>
void convert(const std::uint8_t* from, std::uint8_t* to, int width, bool gray) {
  for (int x = 0; x < width; ++x, from += N) {
    unsigned r = from[R];
    unsigned g = from[G];
    unsigned b = from[B];
    if constexpr (A >= 0) {
      if (const unsigned alpha = from[A]; alpha != 255) {
        r = on_white(r, alpha);
        g = on_white(g, alpha);
        b = on_white(b, alpha);
      }
    }
    if (gray) {
      *to++ = R == G ? static_cast<std::uint8_t>(r) : luma(r, g, b);
    } else {
      to[0] = static_cast<std::uint8_t>(r);
      to[1] = static_cast<std::uint8_t>(g);
      to[2] = static_cast<std::uint8_t>(b);
      to += 3;
    }
  }
}

}  // namespace

int shrink_factor(std::int64_t width_px, std::int64_t height_px, std::int64_t pixels_max) {
  int factor = 1;
  while (((width_px + factor - 1) / factor) * ((height_px + factor - 1) / factor) >
         std::max<std::int64_t>(pixels_max, 1)) {
    ++factor;
  }
  return factor;
}

RowSink::RowSink(const Shape& shape)
    : shape_(shape),
      image_((shape.width_px + shape.shrink - 1) / shape.shrink, (shape.height_px + shape.shrink - 1) / shape.shrink,
             shape.format) {
  if (shape_.shrink > 1) {
    line_.resize(static_cast<std::size_t>(shape_.width_px) * static_cast<std::size_t>(channels(shape_.format)));
    sums_.resize(image_.stride());
  }
}

void RowSink::store(const std::uint8_t* row, RowFormat format, std::uint8_t* to) const {
  const int width = shape_.width_px;
  const bool gray = shape_.format == PixelFormat::gray8;
  switch (format) {
    case RowFormat::gray:
      if (gray) {
        std::memcpy(to, row, static_cast<std::size_t>(width));
      } else {
        convert<1, 0, 0, 0, -1>(row, to, width, gray);
      }
      break;
    case RowFormat::rgb:
      if (gray) {
        convert<3, 0, 1, 2, -1>(row, to, width, gray);
      } else {
        std::memcpy(to, row, static_cast<std::size_t>(width) * 3);
      }
      break;
    case RowFormat::gray_alpha:
      convert<2, 0, 0, 0, 1>(row, to, width, gray);
      break;
    case RowFormat::rgba:
      convert<4, 0, 1, 2, 3>(row, to, width, gray);
      break;
    case RowFormat::bgr:
      convert<3, 2, 1, 0, -1>(row, to, width, gray);
      break;
    case RowFormat::bgra:
      convert<4, 2, 1, 0, 3>(row, to, width, gray);
      break;
  }
}

void RowSink::put(int y, RowFormat format, const std::uint8_t* row) {
  if (shape_.shrink == 1) {
    store(row, format, image_.row(y));
    return;
  }
  store(row, format, line_.data());
  const int count = channels(shape_.format);
  for (int x = 0; x < shape_.width_px; ++x) {
    std::uint32_t* sum = sums_.data() + static_cast<std::ptrdiff_t>(x / shape_.shrink) * count;
    for (int c = 0; c < count; ++c) sum[c] += line_[static_cast<std::size_t>(x * count + c)];
  }
  ++rows_summed_;
  if (rows_summed_ == shape_.shrink || y == shape_.height_px - 1) flush(y / shape_.shrink);
}

void RowSink::flush(int out_y) {
  const int count = channels(shape_.format);
  std::uint8_t* to = image_.row(out_y);
  for (int x = 0; x < image_.width_px; ++x) {
    const int columns = std::min(shape_.shrink, shape_.width_px - x * shape_.shrink);  // fewer at the right edge
    const auto pixels = static_cast<std::uint32_t>(columns * rows_summed_);
    for (int c = 0; c < count; ++c) {
      const auto i = static_cast<std::size_t>(x * count + c);
      to[i] = static_cast<std::uint8_t>((sums_[i] + pixels / 2) / pixels);
    }
  }
  std::ranges::fill(sums_, 0U);
  rows_summed_ = 0;
}

Image RowSink::take() {
  return std::exchange(image_, Image{});
}

}  // namespace lectern::image
