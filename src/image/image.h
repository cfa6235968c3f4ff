// image/: pixels: decode, rotate, resize, encode, hash.
// May use: base/. Knows nothing of pages, PDFs or models.
// The decoders (decode.h) are for lectern-render alone: file formats are parsed only inside the sandbox.
// Threads: values are plain data; free functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lectern::image {

enum class PixelFormat : std::uint8_t {
  gray8 = 1,  // one byte a pixel
  rgb24 = 3,  // R, G, B
};

constexpr int channels(PixelFormat format) {
  return static_cast<int>(format);
}

// A picture in memory, rows packed without padding, top row first. `dpi` is the resolution it represents, 0 if unknown.
struct Image {
  int width_px = 0;
  int height_px = 0;
  PixelFormat format = PixelFormat::gray8;
  float dpi = 0;
  std::vector<std::uint8_t> pixels;

  Image() = default;
  Image(int width, int height, PixelFormat f)
      : width_px(width),
        height_px(height),
        format(f),
        pixels(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
               static_cast<std::size_t>(channels(f))) {}

  std::size_t stride() const { return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels(format)); }
  std::uint8_t* row(int y) { return pixels.data() + stride() * static_cast<std::size_t>(y); }
  const std::uint8_t* row(int y) const { return pixels.data() + stride() * static_cast<std::size_t>(y); }
  bool empty() const { return pixels.empty(); }
  bool operator==(const Image&) const = default;
};

}  // namespace lectern::image
