// What a PDF's font is like, judged from its name and descriptor. Pure: PDFs often get one of the two wrong.
#pragma once

#include <string_view>

#include "document/page_content.h"

namespace lectern::document {

struct FontEvidence {
  std::string_view base_name;  // as in the PDF, with its subset prefix
  int descriptor_flags = 0;    // PDF 32000-1, table 123
  int weight = 0;              // 100..900 as PDFium derives it from the stem width; 0 or less when unknown
  int italic_angle = 0;
  bool stroked_outline = false;  // drawn filled and stroked: how word processors fake a missing bold face
};

Font judge_font(const FontEvidence& evidence);

}  // namespace lectern::document
