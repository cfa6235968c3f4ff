// Takes a picture row by row, as decoders give it, and keeps what was asked for: gray or colour, on white, whole,
// shrunk or resized.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "image/image.h"
#include "image/row_resizer.h"

namespace lectern::image {

enum class RowFormat : std::uint8_t { gray, gray_alpha, rgb, rgba, bgr, bgra };
constexpr int bytes_per_pixel(RowFormat format) {
  switch (format) {
    case RowFormat::gray:
      return 1;
    case RowFormat::gray_alpha:
      return 2;
    case RowFormat::rgb:
    case RowFormat::bgr:
      return 3;
    case RowFormat::rgba:
    case RowFormat::bgra:
      return 4;
  }
  return 0;
}

// The whole-number factor by which a picture must be shrunk to have at most `pixels_max` pixels.
int shrink_factor(std::int64_t width_px, std::int64_t height_px, std::int64_t pixels_max);
// The factor by which a picture may be shrunk before it is resized to the wanted size: the result stays at least twice
// as large, so that a sharp filter still decides what is seen. 1 when no size is wanted.
int shrink_factor_for(int width_px, int height_px, int width_px_wanted, int height_px_wanted);

class RowSink {
 public:
  struct Shape {
    int width_px = 0;  // of the rows that come
    int height_px = 0;
    PixelFormat format = PixelFormat::gray8;
    int shrink = 1;        // each square of shrink × shrink pixels becomes one, their mean
    int width_px_out = 0;  // after that: resized to this size; 0 = as it is
    int height_px_out = 0;
  };
  explicit RowSink(const Shape& shape);

  // Rows must come top to bottom, unless they are kept as they are: then row `y` may come in any order.
  void put(int y, RowFormat format, const std::uint8_t* row);
  Image take();

 private:
  void store(const std::uint8_t* row, RowFormat format, std::uint8_t* to) const;
  void flush(std::uint8_t* to);

  Shape shape_;
  Image image_;                        // unless it is resized
  std::optional<RowResizer> resizer_;  // when it is
  std::vector<std::uint8_t> line_;     // one converted row, when shrinking or resizing
  std::vector<std::uint8_t> shrunk_;   // one shrunk row, when resizing too
  std::vector<std::uint32_t> sums_;    // down the columns of the current row of squares
  int rows_summed_ = 0;
};

}  // namespace lectern::image
