// Colours as one number, 0xRRGGBB.
#pragma once

#include <cstdint>

namespace lectern {

constexpr bool is_gray(std::uint32_t rgb) {
  const std::uint32_t red = rgb >> 16U;
  return red == ((rgb >> 8U) & 0xFFU) && red == (rgb & 0xFFU);
}

}  // namespace lectern
