// Puts a fax (CCITT group 4) picture of a PDF into a TIFF file, so that libtiff decodes it straight to rows of pixels.
// PDFium would first blow every bit up to a byte, which takes longer than the decoding. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lectern::document {

struct FaxPicture {
  int width_px = 0;
  int height_px = 0;
  bool black_is_white = false;  // shown inverted
  std::span<const std::uint8_t> data;
};
std::vector<std::uint8_t> fax_tiff(const FaxPicture& picture);

}  // namespace lectern::document
