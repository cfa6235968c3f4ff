#include "document/render/picture_page.h"

#include <algorithm>

namespace lectern::document {
namespace {

constexpr float a4_short_in = 8.27F;
constexpr float a4_long_in = 11.69F;
constexpr float side_believed_in = 18;  // a little over A3
constexpr float dpi_of_scanners = 100;  // from here on somebody chose the number, and large sheets are believed too

}  // namespace

PicturePlace place_on_page(const image::FrameInfo& frame) {
  PicturePlace place{.width_px = frame.width_px, .height_px = frame.height_px, .turn = frame.turn};
  const auto width = static_cast<float>(place.upright_width_px());
  const auto height = static_cast<float>(place.upright_height_px());
  float dpi_x = place.turn.swaps_sides() ? frame.dpi_y : frame.dpi_x;
  float dpi_y = place.turn.swaps_sides() ? frame.dpi_x : frame.dpi_y;
  if (dpi_x <= 0) dpi_x = dpi_y;
  if (dpi_y <= 0) dpi_y = dpi_x;
  const bool stated = dpi_x > 0;
  const bool believed = stated && (std::min(dpi_x, dpi_y) >= dpi_of_scanners ||
                                   std::max(width / dpi_x, height / dpi_y) <= side_believed_in);
  if (!believed) {
    const float across = width <= height ? a4_short_in : a4_long_in;
    const float down = width <= height ? a4_long_in : a4_short_in;
    dpi_x = dpi_y = std::max({width / across, height / down, 72.0F});
  }
  place.box = {0, 0, width * 72 / dpi_x, height * 72 / dpi_y};
  return place;
}

}  // namespace lectern::document
