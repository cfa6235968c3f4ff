// JBIG2 (ITU-T T.88) as PDFs embed it, of the kind that most scans are: one picture, or stripes of one, each a generic
// region with arithmetic coding and template 0. Empty paper costs next to nothing, so that a page takes a fraction of
// what a general decoder needs. For lectern-render alone, like decode.h.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/error.h"

namespace lectern::image {

struct Jbig2Picture {
  int width_px = 0;  // what the PDF says it is
  int height_px = 0;
  std::span<const std::uint8_t> stream;
};

// Takes the rows from top to bottom: one byte a pixel, 1 = black, 0 = white.
using TakeBilevelRow = std::function<void(const std::uint8_t* pixels)>;

// Either every row is given, or none. Errors: corrupt (the stream is cut off or breaks its own rules), invalid_input
// (another kind of JBIG2, which a general decoder may know).
Status decode_jbig2(const Jbig2Picture& picture, const TakeBilevelRow& take);

// Whether the stream ends before its segments do, or before any that holds pixels.
bool is_cut_off_jbig2(std::span<const std::uint8_t> stream);

}  // namespace lectern::image
