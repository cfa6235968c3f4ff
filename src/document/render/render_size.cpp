#include "document/render/render_size.h"

#include <algorithm>
#include <cmath>

namespace lectern::document {

Result<RenderSize> render_size(const RenderRequest& request, SizePt page, std::int64_t pixels_max) {
  RenderSize size{.area = {0, 0, page.width, page.height}};
  if (request.clip) {
    size.area = intersection(*request.clip, size.area);
    if (size.area.empty()) {
      return fail(ErrorKind::invalid_input, "the part of page {} that was asked for lies outside the page",
                  request.page_number);
    }
  }
  if (size.area.empty()) return fail(ErrorKind::corrupt, "page {} has no size", request.page_number);

  const bool by_dpi = request.dpi > 0;
  const bool by_box = request.width_px_max > 0 && request.height_px_max > 0;
  if (by_dpi == by_box || !std::isfinite(request.dpi)) {
    return fail(ErrorKind::internal, "a render request needs either dpi or a box in pixels (page {})",
                request.page_number);
  }
  const double width = static_cast<double>(size.area.width());
  if (request.exact) {
    if (!by_box) return fail(ErrorKind::internal, "an exact size needs a box (page {})", request.page_number);
    if (static_cast<std::int64_t>(request.width_px_max) * request.height_px_max > pixels_max ||
        std::max(request.width_px_max, request.height_px_max) > side_px_max) {
      return fail(ErrorKind::overloaded, "page {} was asked for at {}x{} pixels, which is over the limit",
                  request.page_number, request.width_px_max, request.height_px_max);
    }
    size.width_px = request.width_px_max;
    size.height_px = request.height_px_max;
    size.px_per_pt = static_cast<float>(size.width_px / width);
    return size;
  }
  const double height = static_cast<double>(size.area.height());
  double scale =
      by_dpi
          ? static_cast<double>(request.dpi) / 72
          : std::min({request.width_px_max / width, request.height_px_max / height, static_cast<double>(dpi_max) / 72});
  const double pixels = width * scale * height * scale;
  if (const auto limit = static_cast<double>(pixels_max); pixels > limit) scale *= std::sqrt(limit / pixels);
  scale = std::min({scale, side_px_max / width, side_px_max / height});

  const auto whole = [&](double length, int most) {
    // Rounded, but never past the box or the pixel limit by a rounding error.
    const int rounded = std::max(1, static_cast<int>(std::lround(length * scale)));
    return by_box ? std::min(rounded, most) : rounded;
  };
  size.width_px = whole(width, request.width_px_max);
  size.height_px = whole(height, request.height_px_max);
  while (static_cast<std::int64_t>(size.width_px) * size.height_px > std::max<std::int64_t>(pixels_max, 1)) {
    int& longer = size.width_px >= size.height_px ? size.width_px : size.height_px;
    --longer;
  }
  size.px_per_pt = static_cast<float>(size.width_px / width);
  return size;
}

}  // namespace lectern::document
