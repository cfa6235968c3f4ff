// JBIG2 streams: every row of the picture, or none and an error.
#include <cstdint>
#include <cstdlib>

#include "image/jbig2.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int width = 65;
  constexpr int height = 40;
  int rows = 0;
  unsigned black = 0;
  const auto take = [&](const std::uint8_t* pixels) {
    ++rows;
    for (int x = 0; x < width; ++x) black |= pixels[x];
  };
  const auto decoded = lectern::image::decode_jbig2({width, height, {data, size}}, take);
  if (rows != (decoded ? height : 0) || black > 1) std::abort();
  return 0;
}
