// How pixels of a page are asked for and come back. Shared by host and renderer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/geometry.h"
#include "image/image.h"

namespace lectern::document {

struct RenderRequest {
  int page_number = 1;  // from 1
  // Exactly one way to say the size: `dpi` (pixels per inch of the page), or a bounding box in pixels that the result
  // fills without passing it (never enlarged beyond 600 dpi). A result is never over the pixel limit: it is scaled
  // down.
  float dpi = 0;
  int width_px_max = 0;
  int height_px_max = 0;
  // With a box: the result has exactly its size, stretched by the little that takes (models want sides that are
  // multiples of their patches).
  bool exact = false;
  image::PixelFormat format = image::PixelFormat::gray8;
  // Only this part of the page (points); empty = the whole page.
  std::optional<RectPt> clip;
  // For full-page JPEG scans that already fit the size: hand over the stored bytes as they are, undecoded.
  bool allow_passthrough = false;
  // With rgb24: a full-page JPEG scan may come as its gray and its chroma (see Rendered), which whoever makes a JPEG of
  // it can use as they are.
  bool allow_chroma = false;
  // For full-page scans: take the stored picture at its own resolution when that is at most this many dpi above `dpi`,
  // instead of resampling (OCR likes original pixels). 0 = always the size asked for.
  float native_dpi_max = 0;
  bool operator==(const RenderRequest&) const = default;
};

enum class RenderPath : std::uint8_t {
  page,         // drawn by PDFium at the size asked for
  jpeg_scaled,  // the embedded JPEG, decoded at a reduced DCT scale
  passthrough,  // the embedded JPEG's own bytes
  bilevel,      // CCITT or JBIG2 picture decoded without drawing the page
  picture,      // another stored picture (Flate, JPEG 2000, an image file) decoded without drawing the page
};

struct Rendered {
  image::Image image;                   // empty when `jpeg` is set
  std::optional<image::Chroma> chroma;  // set: `image` is gray, and these are its colours
  std::vector<std::uint8_t> jpeg;       // passthrough bytes
  int width_px = 0;                     // of either
  int height_px = 0;
  RenderPath path = RenderPath::page;
  float px_per_pt = 1;  // horizontal scale from page points to pixels
  bool operator==(const Rendered&) const = default;
};

}  // namespace lectern::document
