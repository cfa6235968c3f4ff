#include "vision/pix.h"

#include <leptonica/allheaders.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace lectern::vision {
namespace {

// Four pixels to the word, the first one in its highest byte.
void copy_gray_row(const std::uint8_t* source, int width, l_uint32* target) {
  int x = 0;
  for (; x + 4 <= width; x += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, source + x, 4);
    *target++ = std::endian::native == std::endian::little ? std::byteswap(word) : word;
  }
  std::uint32_t rest = 0;
  for (int i = 0; x + i < width; ++i) rest |= static_cast<std::uint32_t>(source[x + i]) << (24 - 8 * i);
  if (x < width) *target = rest;
}

void copy_rgb_row(const std::uint8_t* source, int width, l_uint32* target) {
  for (int x = 0; x < width; ++x, source += 3) {
    target[x] = static_cast<l_uint32>(source[0]) << 24 | static_cast<l_uint32>(source[1]) << 16 |
                static_cast<l_uint32>(source[2]) << 8;
  }
}

}  // namespace

void PixDeleter::operator()(Pix* pix) const noexcept {
  pixDestroy(&pix);
}

PixPtr to_pix(const image::Image& image) {
  const bool gray = image.format == image::PixelFormat::gray8;
  PixPtr pix(pixCreateNoInit(image.width_px, image.height_px, gray ? 8 : 32));
  if (!pix) return pix;
  const int resolution = static_cast<int>(std::lround(image.dpi));
  pixSetResolution(pix.get(), resolution, resolution);
  l_uint32* data = pixGetData(pix.get());
  const int words_per_line = pixGetWpl(pix.get());
  for (int y = 0; y < image.height_px; ++y, data += words_per_line) {
    if (gray) {
      copy_gray_row(image.row(y), image.width_px, data);
    } else {
      copy_rgb_row(image.row(y), image.width_px, data);
    }
  }
  return pix;
}

}  // namespace lectern::vision
