#include "document/render/fax_tiff.h"

#include <cstddef>

namespace lectern::document {
namespace {

void append(std::vector<std::uint8_t>& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

// An entry of a TIFF directory: one value of four bytes, little-endian.
void append_entry(std::vector<std::uint8_t>& to, std::uint16_t tag, std::uint32_t value) {
  constexpr std::uint16_t type_long = 4;
  append(to, tag, 2);
  append(to, type_long, 2);
  append(to, 1, 4);
  append(to, value, 4);
}

}  // namespace

std::vector<std::uint8_t> fax_tiff(const FaxPicture& picture) {
  constexpr std::uint32_t header_size = 8;
  constexpr std::uint32_t group4 = 4;
  const auto size = static_cast<std::uint32_t>(picture.data.size());
  const std::uint32_t directory = header_size + size + (size & 1);  // directories begin on even bytes
  std::vector<std::uint8_t> file{'I', 'I', 42, 0};
  file.reserve(directory + 128);
  append(file, directory, 4);
  file.insert(file.end(), picture.data.begin(), picture.data.end());
  file.resize(directory);
  append(file, 9, 2);  // entries, by rising tag
  append_entry(file, 256, static_cast<std::uint32_t>(picture.width_px));
  append_entry(file, 257, static_cast<std::uint32_t>(picture.height_px));
  append_entry(file, 258, 1);                                 // bits a sample
  append_entry(file, 259, group4);                            // compression
  append_entry(file, 262, picture.black_is_white ? 1U : 0U);  // photometric: 0 = white is zero
  append_entry(file, 273, header_size);                       // where the only strip begins
  append_entry(file, 277, 1);                                 // samples a pixel
  append_entry(file, 278, static_cast<std::uint32_t>(picture.height_px));
  append_entry(file, 279, size);
  append(file, 0, 4);  // no further directory
  return file;
}

}  // namespace lectern::document
