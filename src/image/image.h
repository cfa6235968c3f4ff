// image/: pixels: decode, rotate, resize, encode, hash.
// May use: base/. Knows nothing of pages, PDFs or models.
// The decoders (decode.h) are for lectern-render alone: file formats are parsed only inside the sandbox.
// Threads: values are plain data; free functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/unset_allocator.h"

namespace lectern::image {

enum class PixelFormat : std::uint8_t {
  gray8 = 1,  // one byte a pixel
  rgb24 = 3,  // R, G, B
};

constexpr int channels(PixelFormat format) {
  return static_cast<int>(format);
}

using Pixels = std::vector<std::uint8_t, UnsetAllocator<std::uint8_t>>;

// A picture in memory, rows packed without padding, top row first. `dpi` is the resolution it represents, 0 if unknown.
struct Image {
  int width_px = 0;
  int height_px = 0;
  PixelFormat format = PixelFormat::gray8;
  float dpi = 0;
  Pixels pixels;

  Image() = default;
  Image(int width, int height, PixelFormat f, std::uint8_t value = 0)
      : width_px(width), height_px(height), format(f), pixels(bytes_of(width, height, f), value) {}
  // For those who write every pixel before anybody reads one.
  static Image unset(int width, int height, PixelFormat f) {
    Image image;
    image.width_px = width;
    image.height_px = height;
    image.format = f;
    image.pixels = Pixels(bytes_of(width, height, f));
    return image;
  }

  std::size_t stride() const { return static_cast<std::size_t>(width_px) * static_cast<std::size_t>(channels(format)); }
  std::uint8_t* row(int y) { return pixels.data() + stride() * static_cast<std::size_t>(y); }
  const std::uint8_t* row(int y) const { return pixels.data() + stride() * static_cast<std::size_t>(y); }
  bool empty() const { return pixels.empty(); }
  bool operator==(const Image&) const = default;

 private:
  static std::size_t bytes_of(int width, int height, PixelFormat f) {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * static_cast<std::size_t>(channels(f));
  }
};

// The colours of a picture apart from its gray, as most JPEGs keep them (Cb and Cr): two gray8 pictures, each half as
// wide and half as high as the gray one, whose sides are even.
struct Chroma {
  Image blue;
  Image red;
  bool operator==(const Chroma&) const = default;
};

}  // namespace lectern::image
