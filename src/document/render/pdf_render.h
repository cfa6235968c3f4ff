// Draws a page of a PDF.
#pragma once

#include "document/render/page_space.h"
#include "document/render/pdfium.h"
#include "document/render/render_size.h"

namespace lectern::document {

Result<Rendered> draw_page(fpdf::Page page, const PageSpace& space, const RenderSize& size, image::PixelFormat format);

}  // namespace lectern::document
