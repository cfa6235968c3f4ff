// Pictures that tests make for themselves.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "image/image.h"

namespace lectern::image {

using FileBytes = std::vector<std::uint8_t>;

// Smooth colours with an edge: every pixel differs from its neighbours, and no turn or flip maps it onto itself.
inline Image sample_picture(int width, int height, PixelFormat format) {
  Image image(width, height, format);
  const int count = channels(format);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < count; ++c) {
        const int smooth = (x * 160 / width) + (y * 60 / height) + c * 12;
        image.row(y)[x * count + c] =
            static_cast<std::uint8_t>(x > width / 3 && y > height / 2 ? 255 - smooth : smooth);
      }
    }
  }
  return image;
}

inline double mean_difference(const Image& a, const Image& b) {
  if (a.width_px != b.width_px || a.height_px != b.height_px || a.format != b.format || a.pixels.empty()) return 255;
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(int{a.pixels[i]} - int{b.pixels[i]});
  return sum / static_cast<double>(a.pixels.size());
}

// Calls `use` with the file cut off at many places and with seeded damage: what any parser must survive.
template <class Use>
void for_each_damage(const FileBytes& file, Use use) {
  const std::size_t step = std::max<std::size_t>(1, file.size() / 200);
  for (std::size_t size = 0; size < file.size(); size += size < 128 ? 1 : step) {
    use(FileBytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  std::mt19937 random(20261115);
  for (int round = 0; round < 300; ++round) {
    FileBytes damaged = file;
    const int changes = 1 + static_cast<int>(random() % 8);
    for (int i = 0; i < changes; ++i) {
      // Headers decide most, so half of the damage goes there.
      const std::size_t range = random() % 2 == 0 ? std::min<std::size_t>(damaged.size(), 64) : damaged.size();
      damaged[random() % range] = static_cast<std::uint8_t>(random());
    }
    use(damaged);
  }
}

// Little-endian and big-endian numbers for files made by hand.
inline void put(FileBytes& to, std::uint64_t value, int bytes, bool little = true) {
  for (int i = 0; i < bytes; ++i) {
    const int place = little ? i : bytes - 1 - i;
    to.push_back(place < 8 ? static_cast<std::uint8_t>(value >> (8 * place)) : std::uint8_t{0});
  }
}

inline void put(FileBytes& to, const std::string& text) {
  to.insert(to.end(), text.begin(), text.end());
}

// An EXIF block with one orientation entry, as cameras write it.
inline FileBytes exif_block(int orientation, bool little) {
  FileBytes block;
  put(block, little ? "II" : "MM");
  put(block, 42, 2, little);
  put(block, 8, 4, little);
  put(block, 1, 2, little);
  put(block, 0x0112, 2, little);
  put(block, 3, 2, little);
  put(block, 1, 4, little);
  put(block, static_cast<std::uint64_t>(orientation), 2, little);
  put(block, 0, 2, little);
  put(block, 0, 4, little);
  return block;
}

}  // namespace lectern::image
