// BMP files: a picture within the limit, or an error.
#include <cstdint>
#include <cstdlib>

#include "image/decode.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lectern::image;
  constexpr std::int64_t limit = 200'000;
  const auto frames = probe(FileFormat::bmp, {data, size});
  if (!frames) return 0;
  const PixelFormat format = size % 2 == 0 ? PixelFormat::gray8 : PixelFormat::rgb24;
  const auto image = decode(FileFormat::bmp, {data, size}, frames->front(), {.format = format, .pixels_max = limit});
  if (image && static_cast<std::int64_t>(image->width_px) * image->height_px > limit) std::abort();
  return 0;
}
