// Straightening: a turn by a few degrees about the centre, blended from the four nearest pixels.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "image/transform.h"

namespace lectern::image {
namespace {

// Where a pixel of a turned picture comes from, in 16.16 fixed point, and how that moves for each pixel to the right.
struct SourceStep {
  std::int64_t x = 0;
  std::int64_t y = 0;
};
struct SourcePlace {
  std::int64_t x = 0;
  std::int64_t y = 0;
  int column() const { return static_cast<int>(x >> 16); }
  int row() const { return static_cast<int>(y >> 16); }
  SourcePlace after(const SourceStep& step, std::int64_t steps) const {
    return {x + steps * step.x, y + steps * step.y};
  }
};

int blended(int top_left, int top_right, int bottom_left, int bottom_right, int wx, int wy) {
  const int top = top_left * (256 - wx) + top_right * wx;
  const int bottom = bottom_left * (256 - wx) + bottom_right * wx;
  return (top * (256 - wy) + bottom * wy + 32768) >> 16;
}

// For how many pixels the source stays in one row, moves on by one column each, and lies inside the picture with the
// neighbours it is blended with. Small turns have long runs, and these need no checks, so that they become vector code.
int straight_run(const SourcePlace& place, const SourceStep& step, const Image& image) {
  const int column = place.column();
  const int row = place.row();
  if (column < 0 || row < 0 || row + 1 >= image.height_px) return 0;
  std::int64_t run = image.width_px - 1 - column;
  const std::int64_t into_row = place.y & 0xFFFF;
  if (step.y > 0) run = std::min(run, (0xFFFF - into_row) / step.y + 1);
  if (step.y < 0) run = std::min(run, into_row / -step.y + 1);
  const std::int64_t lag = 65536 - step.x;
  if (lag > 0) run = std::min(run, (place.x & 0xFFFF) / lag + 1);
  return static_cast<int>(std::max<std::int64_t>(run, 0));
}

template <int channel_count>
void blend_run(const Image& image, const SourcePlace& place, const SourceStep& step, int run, std::uint8_t* out) {
  const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(place.column()) * channel_count;
  const std::uint8_t* top = image.row(place.row()) + offset;
  const std::uint8_t* bottom = image.row(place.row() + 1) + offset;
  const int lag = static_cast<int>(65536 - step.x);
  const int step_y = static_cast<int>(step.y);
  const int into_x = static_cast<int>(place.x & 0xFFFF);
  const int into_y = static_cast<int>(place.y & 0xFFFF);
  for (int i = 0; i < run; ++i) {
    const int wx = (into_x - i * lag) >> 8;
    const int wy = (into_y + i * step_y) >> 8;
    for (int c = 0; c < channel_count; ++c) {
      const int at = i * channel_count + c;
      out[at] = static_cast<std::uint8_t>(
          blended(top[at], top[at + channel_count], bottom[at], bottom[at + channel_count], wx, wy));
    }
  }
}

// Beyond the border the paper is white.
std::uint8_t blend_at_border(const Image& image, const SourcePlace& place, int channel) {
  const auto pixel = [&](int x, int y) -> int {
    if (x < 0 || y < 0 || x >= image.width_px || y >= image.height_px) return 255;
    return image.row(y)[static_cast<std::ptrdiff_t>(x) * channels(image.format) + channel];
  };
  const int x = place.column();
  const int y = place.row();
  return static_cast<std::uint8_t>(blended(pixel(x, y), pixel(x + 1, y), pixel(x, y + 1), pixel(x + 1, y + 1),
                                           static_cast<int>(place.x & 0xFFFF) >> 8,
                                           static_cast<int>(place.y & 0xFFFF) >> 8));
}

}  // namespace

Image rotate_small(const Image& image, float clockwise_degrees) {
  if (image.empty() || clockwise_degrees == 0) return image;
  Image out(image.width_px, image.height_px, image.format);
  out.dpi = image.dpi;
  const double angle = static_cast<double>(clockwise_degrees) * std::numbers::pi / 180;
  const double cosine = std::cos(angle);
  const double sine = std::sin(angle);
  const double center_x = (image.width_px - 1) / 2.0;
  const double center_y = (image.height_px - 1) / 2.0;
  const int count = channels(image.format);
  const SourceStep step{std::llround(cosine * 65536), std::llround(-sine * 65536)};
  for (int y = 0; y < out.height_px; ++y) {
    std::uint8_t* row = out.row(y);
    const double dy = y - center_y;
    SourcePlace place{std::llround((center_x - cosine * center_x + sine * dy) * 65536),
                      std::llround((center_y + sine * center_x + cosine * dy) * 65536)};
    for (int x = 0; x < out.width_px;) {
      const int run = std::min(out.width_px - x, straight_run(place, step, image));
      if (run > 0) {
        if (count == 1) {
          blend_run<1>(image, place, step, run, row + x);
        } else {
          blend_run<3>(image, place, step, run, row + static_cast<std::ptrdiff_t>(x) * 3);
        }
      } else {
        for (int c = 0; c < count; ++c)
          row[static_cast<std::ptrdiff_t>(x) * count + c] = blend_at_border(image, place, c);
      }
      const int done = std::max(1, run);
      place = place.after(step, done);
      x += done;
    }
  }
  return out;
}

}  // namespace lectern::image
