#include "image/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace lectern::image {
namespace {

template <int C>
void copy_pixel(std::uint8_t* to, const std::uint8_t* from) {
  for (int c = 0; c < C; ++c) to[c] = from[c];
}

// Walks the source in tiles, because one of the two pictures is always crossed against its rows.
template <int C>
void turn_sideways(const Image& from, Image& to, bool clockwise) {
  constexpr int tile = 64;
  for (int ty = 0; ty < from.height_px; ty += tile) {
    for (int tx = 0; tx < from.width_px; tx += tile) {
      const int y_end = std::min(ty + tile, from.height_px);
      const int x_end = std::min(tx + tile, from.width_px);
      for (int x = tx; x < x_end; ++x) {
        std::uint8_t* row = to.row(clockwise ? x : from.width_px - 1 - x);
        for (int y = ty; y < y_end; ++y) {
          const int column = clockwise ? from.height_px - 1 - y : y;
          copy_pixel<C>(row + static_cast<std::ptrdiff_t>(column) * C,
                        from.row(y) + static_cast<std::ptrdiff_t>(x) * C);
        }
      }
    }
  }
}

template <int C>
void reverse_row(const std::uint8_t* from, std::uint8_t* to, int width) {
  for (int x = 0; x < width; ++x) {
    copy_pixel<C>(to + static_cast<std::ptrdiff_t>(width - 1 - x) * C, from + static_cast<std::ptrdiff_t>(x) * C);
  }
}

void reverse_row(const Image& image, const std::uint8_t* from, std::uint8_t* to) {
  if (image.format == PixelFormat::gray8) {
    reverse_row<1>(from, to, image.width_px);
  } else {
    reverse_row<3>(from, to, image.width_px);
  }
}

}  // namespace

Image rotate_quarter(const Image& image, int clockwise_degrees) {
  const int degrees = ((clockwise_degrees % 360) + 360) % 360;
  if (degrees == 0) return image;
  Image out = degrees == 180 ? Image::unset(image.width_px, image.height_px, image.format)
                             : Image::unset(image.height_px, image.width_px, image.format);
  out.dpi = image.dpi;
  if (degrees == 180) {
    for (int y = 0; y < image.height_px; ++y) reverse_row(image, image.row(y), out.row(image.height_px - 1 - y));
  } else if (image.format == PixelFormat::gray8) {
    turn_sideways<1>(image, out, degrees == 90);
  } else {
    turn_sideways<3>(image, out, degrees == 90);
  }
  return out;
}

Image mirror_left_right(const Image& image) {
  Image out(image.width_px, image.height_px, image.format);
  out.dpi = image.dpi;
  for (int y = 0; y < image.height_px; ++y) reverse_row(image, image.row(y), out.row(y));
  return out;
}

Image turned(Image image, Turn turn) {
  if (turn.mirror) image = mirror_left_right(image);
  if (turn.clockwise_degrees % 360 != 0) image = rotate_quarter(image, turn.clockwise_degrees);
  return image;
}

Image crop(const Image& image, RectPx area) {
  const int x0 = std::clamp(area.x0, 0, image.width_px);
  const int y0 = std::clamp(area.y0, 0, image.height_px);
  const int x1 = std::clamp(area.x1, x0, image.width_px);
  const int y1 = std::clamp(area.y1, y0, image.height_px);
  if (x0 == x1 || y0 == y1) return {};
  Image out(x1 - x0, y1 - y0, image.format);
  out.dpi = image.dpi;
  const auto offset = static_cast<std::ptrdiff_t>(x0) * channels(image.format);
  for (int y = y0; y < y1; ++y) std::memcpy(out.row(y - y0), image.row(y) + offset, out.stride());
  return out;
}

Image to_gray(const Image& image) {
  if (image.format == PixelFormat::gray8) return image;
  Image out = Image::unset(image.width_px, image.height_px, PixelFormat::gray8);
  out.dpi = image.dpi;
  const std::uint8_t* from = image.pixels.data();
  for (std::uint8_t& value : out.pixels) {
    value = static_cast<std::uint8_t>((from[0] * 19595U + from[1] * 38470U + from[2] * 7471U + 0x8000U) >> 16);
    from += 3;
  }
  return out;
}

Image to_rgb(const Image& image) {
  if (image.format == PixelFormat::rgb24) return image;
  Image out = Image::unset(image.width_px, image.height_px, PixelFormat::rgb24);
  out.dpi = image.dpi;
  std::uint8_t* to = out.pixels.data();
  for (const std::uint8_t value : image.pixels) {
    std::fill_n(to, 3, value);
    to += 3;
  }
  return out;
}

}  // namespace lectern::image
