// How many pixels a request asks for. Pure.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "base/geometry.h"
#include "document/render_request.h"

namespace lectern::document {

constexpr float dpi_max = 600;       // a box is never filled by enlarging beyond this
constexpr int side_px_max = 30'000;  // of a result; decoders and encoders downstream have limits of this order

struct RenderSize {
  int width_px = 0;
  int height_px = 0;
  float px_per_pt = 1;  // as asked for; the two sides are rounded to whole pixels
  RectPt area;          // of the page, points
  bool operator==(const RenderSize&) const = default;
};

// The pixels for the whole page or its clip. Errors: no size given, two ways of giving it, an empty clip.
Result<RenderSize> render_size(const RenderRequest& request, SizePt page, std::int64_t pixels_max);

}  // namespace lectern::document
