#include "image/hash.h"

#include "base/hash.h"

namespace lectern::image {

std::string content_hash(const Image& image) {
  Sha256 hash;
  hash.update(fmt::format("{}x{}x{}:", image.width_px, image.height_px, channels(image.format)));
  hash.update(std::span<const std::uint8_t>(image.pixels));
  return to_hex(hash.finish());
}

}  // namespace lectern::image
