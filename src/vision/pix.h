// Our pixels as leptonica's, for Tesseract. Leptonica stays inside vision/.
#pragma once

#include <memory>

#include "image/image.h"

struct Pix;

namespace lectern::vision {

struct PixDeleter {
  void operator()(Pix* pix) const noexcept;
};
using PixPtr = std::unique_ptr<Pix, PixDeleter>;

// One copy, which cannot be saved: leptonica keeps the bytes of each 32-bit word in the other order. Null when there is
// no memory for it.
PixPtr to_pix(const image::Image& image);

}  // namespace lectern::vision
