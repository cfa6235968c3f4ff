// Changing the size of pictures. The filters and their rounding are Pillow's, because the models that look at our pages
// were trained on pictures that Pillow resized.
#pragma once

#include "image/image.h"

namespace lectern::image {

enum class Filter {
  lanczos,  // sharp; Pillow's LANCZOS: support 3, widened when shrinking
  box,      // mean of the area: much faster, good for shrinking by a lot
};

// Exactly this size; both sides at least 1. `dpi` is scaled along.
Image resize(const Image& image, int width_px, int height_px, Filter filter = Filter::lanczos);

// As Lanczos, but a picture more than four times too large is first reduced by whole squares (Pillow's reducing_gap):
// the result differs by less than a gray level in the mean, in a fraction of the time.
Image resize_fast(const Image& image, int width_px, int height_px);

// Each square of factor × factor pixels becomes one, their mean.
Image shrink_by(const Image& image, int factor);

}  // namespace lectern::image
