#include "image/riff.h"

#include <algorithm>

namespace lectern::image {

std::span<const std::uint8_t> find_riff_chunk(std::span<const std::uint8_t> file, std::string_view name) {
  constexpr std::size_t header = 12;  // "RIFF", size, "WEBP"
  if (file.size() < header) return {};
  auto rest = file.subspan(header);
  while (rest.size() >= 8) {
    const std::size_t size = rest[4] | (rest[5] << 8) | (rest[6] << 16) | (static_cast<std::size_t>(rest[7]) << 24);
    const bool found = name.size() == 4 && std::equal(name.begin(), name.end(), rest.begin());
    rest = rest.subspan(8);
    if (found) return rest.first(std::min(size, rest.size()));
    const std::size_t padded = size + (size & 1);
    if (padded >= rest.size()) break;
    rest = rest.subspan(padded);
  }
  return {};
}

}  // namespace lectern::image
