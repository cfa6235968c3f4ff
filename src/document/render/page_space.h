// From PDFium's space (bottom-left origin, unturned page) to ours (top-left origin, upright page). Pure arithmetic.
#pragma once

#include "base/geometry.h"
#include "document/render/pdfium.h"

namespace lectern::document {

struct PointPt {
  float x = 0;
  float y = 0;
  bool operator==(const PointPt&) const = default;
};

inline PointPt apply(const fpdf::Matrix& m, float x, float y) {
  return {m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f};
}

// First `inner`, then `outer`.
inline fpdf::Matrix concat(const fpdf::Matrix& inner, const fpdf::Matrix& outer) {
  return {outer.a * inner.a + outer.c * inner.b,           outer.b * inner.a + outer.d * inner.b,
          outer.a * inner.c + outer.c * inner.d,           outer.b * inner.c + outer.d * inner.d,
          outer.a * inner.e + outer.c * inner.f + outer.e, outer.b * inner.e + outer.d * inner.f + outer.f};
}

// The upright rectangle around a transformed rectangle.
RectPt apply(const fpdf::Matrix& m, float left, float bottom, float right, float top);

struct PageSpace {
  fpdf::Matrix to_upright;
  SizePt size;          // of the upright page
  int page_rotate = 0;  // clockwise degrees: 0, 90, 180 or 270

  RectPt bounds() const { return {0, 0, size.width, size.height}; }
};

// `box` is the visible part of the page (CropBox within MediaBox) in PDFium's space; `quarter_turns` its /Rotate ÷ 90.
PageSpace make_page_space(const fpdf::RectF& box, int quarter_turns);

}  // namespace lectern::document
