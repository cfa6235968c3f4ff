// The characters of a PDF page.
#pragma once

#include "document/page_content.h"
#include "document/render/page_space.h"
#include "document/render/pdfium.h"

namespace lectern::document {

// Fills `fonts` and `chars` (and sets `truncated` at `chars_max`). Characters outside the visible page are left out.
void collect_text(fpdf::TextPage text, const PageSpace& space, int chars_max, PageContent& content);

}  // namespace lectern::document
