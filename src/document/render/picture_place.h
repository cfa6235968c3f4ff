// Where a stored picture stands on its page, and how its pixels become the page's pixels without drawing the page.
// Pure.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/geometry.h"
#include "document/render/page_space.h"
#include "document/render/render_size.h"
#include "image/decode.h"
#include "image/image.h"
#include "image/transform.h"

namespace lectern::document {

struct PicturePlace {
  int width_px = 0;  // as stored
  int height_px = 0;
  image::Turn turn;  // makes the stored picture upright on the page
  RectPt box;        // where the upright picture stands; may reach past the page

  int upright_width_px() const { return turn.swaps_sides() ? height_px : width_px; }
  int upright_height_px() const { return turn.swaps_sides() ? width_px : height_px; }
  float dpi_x() const { return static_cast<float>(upright_width_px()) * 72 / box.width(); }
  float dpi_y() const { return static_cast<float>(upright_height_px()) * 72 / box.height(); }
};

// The turn that a matrix from PDF's unit square to the upright page makes; nothing when the picture stands askew.
std::optional<image::Turn> turn_of(const fpdf::Matrix& to_upright);

// The size of the result: as render_size() says, or the picture's own resolution when the request prefers that
// (native_dpi_max) and the limits allow it.
RenderSize size_for_picture(const RenderRequest& request, const RenderSize& asked, const PicturePlace& place,
                            std::int64_t pixels_max);

// The stored bytes may be handed over as they are: upright, the whole page, and not larger than asked for.
bool fits_untouched(const RenderRequest& request, const RenderSize& size, const PicturePlace& place, SizePt page);

// A picture, or its gray with the colours apart.
struct DecodedPicture {
  explicit DecodedPicture(image::Image picture) : image(std::move(picture)) {}
  explicit DecodedPicture(image::Planes planes) : image(std::move(planes.gray)), chroma(std::move(planes.chroma)) {}
  image::Image image;
  std::optional<image::Chroma> chroma;
};
// Gives the stored picture at any size from `width_px` × `height_px` up to its own; at just that size when `exactly` is
// set, and only then may the colours be apart.
using DecodePicture = std::function<Result<DecodedPicture>(int width_px, int height_px, bool exactly)>;

// The page's pixels: decodes, turns, cuts, resizes, and puts the picture on white where it does not cover the page.
// `decode` may give gray where colour is wanted: the work on a gray picture is a third, and it gets its colours at the
// end.
struct PlaceOptions {
  RenderPath path = RenderPath::picture;
  image::PixelFormat format = image::PixelFormat::gray8;
};
Result<Rendered> place_picture(const PicturePlace& place, const RenderSize& size, const PlaceOptions& options,
                               const DecodePicture& decode);

}  // namespace lectern::document
