#include "image/exif.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace lectern::image {
namespace {

constexpr int entries_max = 512;

enum Tag : std::uint16_t {
  orientation = 0x0112,
  x_resolution = 0x011A,
  y_resolution = 0x011B,
  resolution_unit = 0x0128
};
enum Type : std::uint16_t { type_short = 3, type_long = 4, type_rational = 5 };

// Reads numbers of either byte order; every read is checked against the end.
class Reader {
 public:
  Reader(std::span<const std::uint8_t> bytes, bool little) : bytes_(bytes), little_(little) {}

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = (value << 8) | bytes_[little_ ? at + size - 1 - i : at + i];
    return value;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool little_;
};

std::optional<double> rational(const Reader& reader, std::size_t at) {
  const auto numerator = reader.number(at, 4);
  const auto denominator = reader.number(at + 4, 4);
  if (!numerator || !denominator || *denominator == 0) return std::nullopt;
  return static_cast<double>(*numerator) / *denominator;
}

float dpi_or_zero(double value, bool per_centimetre) {
  const double dpi = per_centimetre ? value * 2.54 : value;
  return dpi >= 10 && dpi <= 10'000 ? static_cast<float>(dpi) : 0.0F;
}

}  // namespace

ExifFacts read_exif(std::span<const std::uint8_t> block) {
  ExifFacts facts;
  constexpr std::string_view prefix("Exif\0\0", 6);
  if (block.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), block.begin()))
    block = block.subspan(6);
  if (block.size() < 8) return facts;
  const bool little = block[0] == 'I' && block[1] == 'I';
  if (!little && !(block[0] == 'M' && block[1] == 'M')) return facts;
  const Reader reader(block, little);
  if (reader.number(2, 2) != 42U) return facts;
  const std::size_t directory = reader.number(4, 4).value_or(0);
  const auto count = reader.number(directory, 2);
  if (!count) return facts;

  double x = 0;
  double y = 0;
  bool per_centimetre = false;
  for (std::size_t i = 0; i < std::min<std::size_t>(*count, entries_max); ++i) {
    const std::size_t entry = directory + 2 + i * 12;
    const auto tag = reader.number(entry, 2);
    const auto type = reader.number(entry + 2, 2);
    const auto values = reader.number(entry + 4, 4);
    if (!tag || !type || !values) break;
    const std::size_t place = entry + 8;  // the value itself, or where it lies
    if (*tag == orientation && *type == type_short && *values == 1) {
      const auto value = reader.number(place, 2).value_or(1);
      if (value >= 1 && value <= 8) facts.orientation = static_cast<int>(value);
    } else if (*tag == resolution_unit && *type == type_short) {
      per_centimetre = reader.number(place, 2) == 3U;
    } else if ((*tag == x_resolution || *tag == y_resolution) && *type == type_rational) {
      const auto where = reader.number(place, 4);
      const auto value = where ? rational(reader, *where) : std::nullopt;
      if (value) (*tag == x_resolution ? x : y) = *value;
    }
  }
  facts.dpi_x = dpi_or_zero(x, per_centimetre);
  facts.dpi_y = dpi_or_zero(y, per_centimetre);
  return facts;
}

Turn turn_for_orientation(int value) {
  switch (value) {
    case 2:
      return {0, true};
    case 3:
      return {180, false};
    case 4:
      return {180, true};
    case 5:
      return {270, true};
    case 6:
      return {90, false};
    case 7:
      return {90, true};
    case 8:
      return {270, false};
    default:
      return {};
  }
}

}  // namespace lectern::image
