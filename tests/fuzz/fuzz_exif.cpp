// EXIF blocks and the RIFF chunks that carry them.
#include <cstdint>
#include <cstdlib>

#include "image/exif.h"
#include "image/riff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto facts = lectern::image::read_exif({data, size});
  if (facts.orientation < 1 || facts.orientation > 8) std::abort();
  if (facts.dpi_x < 0 || facts.dpi_y < 0) std::abort();
  const auto chunk = lectern::image::find_riff_chunk({data, size}, "EXIF");
  if (chunk.size() > size) std::abort();
  if (lectern::image::read_exif(chunk).orientation > 8) std::abort();
  return 0;
}
