// What a PDF page draws besides text: rules, fills, pictures, drawings, and whether all of it is one scan.
#pragma once

#include "document/page_content.h"
#include "document/render/page_space.h"
#include "document/render/pdfium.h"

namespace lectern::document {

struct ObjectLimits {
  int objects_max = 200'000;
  int depth_max = 12;  // forms within forms
};

// A picture as PDFium holds it, for those who decode it without drawing the page.
struct FoundPicture {
  fpdf::PageObject object = nullptr;  // lives as long as the page
  fpdf::Matrix to_upright;            // from the unit square (y up) to the upright page
  RectPt unclipped;                   // where it would stand if nothing clipped it
  PictureObject picture;
};

struct FoundObjects {
  std::vector<FoundPicture> pictures;
  int visible_shapes = 0;  // rules, fills and drawings, apart from a page-wide white ground
  int shadings = 0;
  bool truncated = false;
};

// Fills `rules`, `fills`, `pictures` and `drawings` of `content`.
FoundObjects collect_objects(fpdf::Page page, const PageSpace& space, const ObjectLimits& limits, PageContent& content);

// The one picture that is the whole page, if there is one and nothing else can be seen: index into `content.pictures`.
// Invisible characters (an OCR layer) do not count as visible.
std::optional<std::uint32_t> find_full_page_scan(const FoundObjects& found, const PageContent& content);

}  // namespace lectern::document
