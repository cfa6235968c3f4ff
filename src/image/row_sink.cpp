#include "image/row_sink.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "image/vectorized.h"

namespace lectern::image {
namespace {

constexpr std::uint8_t luma(unsigned r, unsigned g, unsigned b) {
  return static_cast<std::uint8_t>((r * 19595U + g * 38470U + b * 7471U + 0x8000U) >> 16);
}

constexpr std::uint8_t on_white(unsigned value, unsigned alpha) {
  const unsigned mixed = value * alpha + 255U * (255U - alpha) + 127U;
  return static_cast<std::uint8_t>(mixed / 255U);
}

LECTERN_VECTORIZED void rgb_to_gray(const std::uint8_t* __restrict from, std::uint8_t* __restrict to, int width) {
  for (std::ptrdiff_t x = 0; x < width; ++x) to[x] = luma(from[x * 3], from[x * 3 + 1], from[x * 3 + 2]);
}

LECTERN_VECTORIZED void bgr_to_gray(const std::uint8_t* __restrict from, std::uint8_t* __restrict to, int width) {
  for (std::ptrdiff_t x = 0; x < width; ++x) to[x] = luma(from[x * 3 + 2], from[x * 3 + 1], from[x * 3]);
}

LECTERN_VECTORIZED void bgr_to_rgb(const std::uint8_t* __restrict from, std::uint8_t* __restrict to, int width) {
  for (std::ptrdiff_t x = 0; x < width; ++x) {
    to[x * 3] = from[x * 3 + 2];
    to[x * 3 + 1] = from[x * 3 + 1];
    to[x * 3 + 2] = from[x * 3];
  }
}

LECTERN_VECTORIZED void add_row(const std::uint8_t* __restrict row, std::uint32_t* __restrict sums, int count) {
  for (int i = 0; i < count; ++i) sums[i] += row[i];
}

// R, G, B are offsets into a source pixel of N bytes; A is its alpha.
template <int N, int R, int G, int B, int A>
void flatten(const std::uint8_t* from, std::uint8_t* to, int width, bool gray) {
  for (int x = 0; x < width; ++x, from += N) {
    unsigned r = from[R];
    unsigned g = from[G];
    unsigned b = from[B];
    if (const unsigned alpha = from[A]; alpha != 255) {
      r = on_white(r, alpha);
      g = on_white(g, alpha);
      b = on_white(b, alpha);
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

int shrink_factor_for(int width_px, int height_px, int width_px_wanted, int height_px_wanted) {
  constexpr double gap = 1.95;  // a little under two, so that a margin of a few pixels does not spoil an exact 4:1
  if (width_px_wanted <= 0 || height_px_wanted <= 0) return 1;
  const double ratio =
      std::min(static_cast<double>(width_px) / width_px_wanted, static_cast<double>(height_px) / height_px_wanted);
  return std::max(1, static_cast<int>(ratio / gap));
}

RowSink::RowSink(const Shape& shape) : shape_(shape) {
  const int width = (shape.width_px + shape.shrink - 1) / shape.shrink;
  const int height = (shape.height_px + shape.shrink - 1) / shape.shrink;
  const auto bytes = [&](int pixels) {
    return static_cast<std::size_t>(pixels) * static_cast<std::size_t>(channels(shape.format));
  };
  const bool resized = shape.width_px_out > 0 && (shape.width_px_out != width || shape.height_px_out != height);
  if (resized) {
    resizer_.emplace(RowResizer::Shape{width, height, shape.width_px_out, shape.height_px_out, shape.format});
  } else {
    image_ = Image(width, height, shape.format);
  }
  if (shape.shrink > 1 || resized) line_.resize(bytes(shape.width_px));
  if (shape.shrink > 1) sums_.resize(line_.size());
  if (shape.shrink > 1 && resized) shrunk_.resize(bytes(width));
}

void RowSink::store(const std::uint8_t* row, RowFormat format, std::uint8_t* to) const {
  const int width = shape_.width_px;
  const bool gray = shape_.format == PixelFormat::gray8;
  switch (format) {
    case RowFormat::gray:
      if (gray) {
        std::memcpy(to, row, static_cast<std::size_t>(width));
      } else {
        for (int x = 0; x < width; ++x) std::fill_n(to + static_cast<std::ptrdiff_t>(x) * 3, 3, row[x]);
      }
      break;
    case RowFormat::rgb:
      if (gray) {
        rgb_to_gray(row, to, width);
      } else {
        std::memcpy(to, row, static_cast<std::size_t>(width) * 3);
      }
      break;
    case RowFormat::bgr:
      gray ? bgr_to_gray(row, to, width) : bgr_to_rgb(row, to, width);
      break;
    case RowFormat::gray_alpha:
      flatten<2, 0, 0, 0, 1>(row, to, width, gray);
      break;
    case RowFormat::rgba:
      flatten<4, 0, 1, 2, 3>(row, to, width, gray);
      break;
    case RowFormat::bgra:
      flatten<4, 2, 1, 0, 3>(row, to, width, gray);
      break;
  }
}

void RowSink::put(int y, RowFormat format, const std::uint8_t* row) {
  if (shape_.shrink == 1 && !resizer_) {
    store(row, format, image_.row(y));
    return;
  }
  const bool as_it_is = (format == RowFormat::gray && shape_.format == PixelFormat::gray8) ||
                        (format == RowFormat::rgb && shape_.format == PixelFormat::rgb24);
  if (!as_it_is) store(row, format, line_.data());
  const std::uint8_t* line = as_it_is ? row : line_.data();
  if (shape_.shrink == 1) {
    resizer_->put(line);
    return;
  }
  add_row(line, sums_.data(), static_cast<int>(line_.size()));
  ++rows_summed_;
  if (rows_summed_ < shape_.shrink && y < shape_.height_px - 1) return;
  flush(resizer_ ? shrunk_.data() : image_.row(y / shape_.shrink));
  if (resizer_) resizer_->put(shrunk_.data());
}

// `sums_` holds the sums down each column; what is left is to add up along the row and divide.
void RowSink::flush(std::uint8_t* to) {
  const int count = channels(shape_.format);
  const int width = (shape_.width_px + shape_.shrink - 1) / shape_.shrink;
  for (int x = 0; x < width; ++x) {
    const int columns = std::min(shape_.shrink, shape_.width_px - x * shape_.shrink);  // fewer at the right edge
    const auto pixels = static_cast<std::uint32_t>(columns * rows_summed_);
    const std::uint32_t* from = sums_.data() + static_cast<std::ptrdiff_t>(x) * shape_.shrink * count;
    for (int c = 0; c < count; ++c) {
      std::uint32_t sum = 0;
      for (int i = 0; i < columns; ++i) sum += from[static_cast<std::ptrdiff_t>(i) * count + c];
      *to++ = static_cast<std::uint8_t>((sum + pixels / 2) / pixels);
    }
  }
  std::ranges::fill(sums_, 0U);
  rows_summed_ = 0;
}

Image RowSink::take() {
  return resizer_ ? resizer_->take() : std::exchange(image_, Image{});
}

}  // namespace lectern::image
