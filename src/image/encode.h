// Pixels → picture files.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "image/image.h"

namespace lectern::image {

// Baseline JPEG, 4:2:0, the picture's dpi in its header. `quality` 1..100.
Result<std::vector<std::uint8_t>> encode_jpeg(const Image& image, int quality = 90);
// The same of a picture whose colours are apart from its gray.
Result<std::vector<std::uint8_t>> encode_jpeg(const Image& gray, const Chroma& chroma, int quality = 90);
// Lossless; a moderate effort, since page pictures are written once and read once.
Result<std::vector<std::uint8_t>> encode_png(const Image& image);

}  // namespace lectern::image
