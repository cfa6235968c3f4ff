// Codes a bilevel picture as JBIG2 (ITU-T T.88), for tests and benches: no encoder can be had as a package. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lectern::image {

struct BilevelPicture {
  int width_px = 0;
  int height_px = 0;
  std::span<const std::uint8_t> rows;  // each (width + 7) / 8 bytes, leftmost pixel in the highest bit, 1 = black
};

struct Jbig2Options {
  bool typical_prediction = false;  // a row that equals the one above costs a single decision, not one a pixel
  int stripe_rows = 0;              // 0: one region; else so many rows a region, in a page of unknown height
};

// The form that PDFs embed: no file header, a page information segment and lossless generic regions.
std::string encode_jbig2(const BilevelPicture& picture, const Jbig2Options& options = {});

// A stream for /JBIG2Globals that is valid and changes nothing: a comment that belongs to every page.
std::string jbig2_globals(std::string_view comment);

}  // namespace lectern::image
