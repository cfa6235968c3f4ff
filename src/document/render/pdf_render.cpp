#include "document/render/pdf_render.h"

#include <algorithm>
#include <cmath>

namespace lectern::document {

Result<Rendered> draw_page(fpdf::Page page, const PageSpace& space, const RenderSize& size, image::PixelFormat format) {
  const auto& f = fpdf::functions();
  const bool gray = format == image::PixelFormat::gray8;
  constexpr std::uint8_t white = 255;
  Rendered out{.image = image::Image(size.width_px, size.height_px, format, white),
               .width_px = size.width_px,
               .height_px = size.height_px,
               .path = RenderPath::page,
               .px_per_pt = size.px_per_pt};
  out.image.dpi = size.px_per_pt * 72;

  // PDFium draws straight into our rows: no second buffer, no copy.
  const fpdf::OwnedBitmap bitmap(f.FPDFBitmap_CreateEx(size.width_px, size.height_px,
                                                       gray ? fpdf::bitmap_gray : fpdf::bitmap_bgr,
                                                       out.image.pixels.data(), static_cast<int>(out.image.stride())));
  if (!bitmap)
    return fail(ErrorKind::overloaded, "no memory for a picture of {}x{} pixels", size.width_px, size.height_px);
  // The whole page is laid out at this scale and the bitmap is a window on it.
  const float scale_x = static_cast<float>(size.width_px) / size.area.width();
  const float scale_y = static_cast<float>(size.height_px) / size.area.height();
  const auto px = [](float value) { return static_cast<int>(std::lround(value)); };
  f.FPDF_RenderPageBitmap(bitmap.get(), page, px(-size.area.x0 * scale_x), px(-size.area.y0 * scale_y),
                          px(space.size.width * scale_x), px(space.size.height * scale_y), 0,
                          gray ? fpdf::render_grayscale : fpdf::render_reverse_bytes);
  return out;
}

}  // namespace lectern::document
