// Pictures for the tests of vision/: loaded from tests/vision/data, or derived from one.
#pragma once

#include <string>

#include "image/image.h"

namespace lectern::vision {

// A committed picture as gray8 with its resolution; the test stops when it is missing.
image::Image load_picture(const std::string& name);

image::Image filled(int width_px, int height_px, std::uint8_t gray);
image::Image inverted(image::Image image);
image::Image to_rgb(const image::Image& gray);
image::Image turned_clockwise(const image::Image& gray, int quarter_turns);
// Turned by a small angle about the centre, on white.
image::Image turned_by(const image::Image& gray, float clockwise_degrees);
void fill_box(image::Image& gray, int x0, int y0, int x1, int y1, std::uint8_t value);

}  // namespace lectern::vision
