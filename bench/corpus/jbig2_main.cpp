// bench-jbig2 IN.pbm OUT.jb2 [IN OUT]…: codes binary PBM pictures (P4) as JBIG2 streams for a PDF.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "image/jbig2_encoder.h"

namespace {

using lectern::image::BilevelPicture;

std::optional<BilevelPicture> parse_pbm(const std::string& file) {
  int width = 0;
  int height = 0;
  int header = 0;
  if (std::sscanf(file.c_str(), "P4 %d %d%n", &width, &height, &header) != 2 || width <= 0 || height <= 0) return {};
  const std::size_t begin = static_cast<std::size_t>(header) + 1;  // one blank ends the header
  const std::size_t size = (static_cast<std::size_t>(width) + 7) / 8 * static_cast<std::size_t>(height);
  if (file.size() < begin + size) return {};
  return BilevelPicture{width, height, {reinterpret_cast<const std::uint8_t*>(file.data()) + begin, size}};
}

bool convert(const char* from, const char* to) {
  std::ifstream in(from, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  const auto picture = parse_pbm(file);
  if (!picture) {
    fmt::print(stderr, "bench-jbig2: {} is no binary PBM picture (P4)\n", from);
    return false;
  }
  std::ofstream out(to, std::ios::binary);
  out << lectern::image::encode_jbig2(*picture);
  out.close();
  if (!out) fmt::print(stderr, "bench-jbig2: {} cannot be written\n", to);
  return static_cast<bool>(out);
}

}  // namespace

int main(int count, char** words) {
  if (count < 3 || count % 2 == 0) {
    fmt::print(stderr, "usage: bench-jbig2 IN.pbm OUT.jb2 [IN OUT]…\n");
    return 2;
  }
  for (int i = 1; i + 1 < count; i += 2) {
    if (!convert(words[i], words[i + 1])) return 1;
  }
  return 0;
}
