// The few facts that we want from EXIF data, read by a small bounded parser: it follows no pointer out of the block and
// looks at no more than a few hundred entries.
#pragma once

#include <cstdint>
#include <span>

#include "image/transform.h"

namespace lectern::image {

struct ExifFacts {
  int orientation = 1;  // 1..8 as in the EXIF standard; 1 = upright
  float dpi_x = 0;      // 0 when absent or absurd
  float dpi_y = 0;
  bool operator==(const ExifFacts&) const = default;
};

// `block` begins with the TIFF header ("II*\0" or "MM\0*"); a leading "Exif\0\0" is skipped. Damage gives the defaults.
ExifFacts read_exif(std::span<const std::uint8_t> block);

// The turn that an orientation of 1..8 asks for; anything else asks for none.
Turn turn_for_orientation(int orientation);

}  // namespace lectern::image
