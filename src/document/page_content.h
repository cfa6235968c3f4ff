// What a page holds, as plain values: characters with fonts and boxes, rules, pictures, links. It is made inside the
// sandbox by a backend (render/backend.h) and read outside it by reading/. All coordinates are points on the upright
// page (the page's own /Rotate already applied), origin top left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/geometry.h"

namespace lectern::document {

struct Font {
  std::string name;  // base font name without the subset prefix, e.g. "TimesNewRoman-Bold"
  bool bold = false;
  bool italic = false;
  bool monospace = false;
  bool serif = false;
  bool operator==(const Font&) const = default;
};

struct Char {
  enum Flag : std::uint16_t {
    generated = 1,  // a space or line break that the PDF does not hold; PDFium inferred it from gaps
    hyphen = 2,     // a hyphen at a line's end that joins a broken word
    unmapped = 4,   // the font has no sure Unicode value for this glyph
    invisible = 8,  // text render mode 3 or 7: typical of an OCR layer over a scan
    rtl = 16,       // a character of a right-to-left script
  };
  char32_t code = 0;
  std::uint16_t font = 0;  // index into PageContent::fonts
  std::uint16_t flags = 0;
  std::uint32_t color_rgb = 0;
  float size_pt = 0;    // font size as drawn (text matrix applied)
  float angle_deg = 0;  // direction of the baseline, clockwise, 0 = left to right
  RectPt box;           // around the ink of the glyph; for blanks, the advance
  RectPt loose;         // around the glyph's cell: advance wide, ascent to descent high
  bool operator==(const Char&) const = default;
};

// A straight stroke or a thin filled rectangle: what rulings of tables and underlines are made of.
struct Rule {
  RectPt box;  // thin in one direction
  std::uint32_t color_rgb = 0;
  bool horizontal() const { return box.width() >= box.height(); }
  bool operator==(const Rule&) const = default;
};

// A filled area that is not thin: the background of a cell, a code box, a banner.
struct Fill {
  RectPt box;
  std::uint32_t color_rgb = 0;
  bool operator==(const Fill&) const = default;
};

enum class ImageCoding : std::uint8_t { other, jpeg, jpeg2000, ccitt, jbig2, flate };

struct PictureObject {
  std::int32_t object_index = 0;  // how render requests name it
  RectPt box;                     // where it stands on the page
  int width_px = 0;               // the stored picture's own size
  int height_px = 0;
  int bits_per_pixel = 0;  // 0 when it cannot be told without decoding
  ImageCoding coding = ImageCoding::other;
  bool operator==(const PictureObject&) const = default;
};

// An area of vector drawing (many paths close together): a chart or diagram that is worth keeping as a figure.
struct DrawingArea {
  RectPt box;
  int paths = 0;
  bool operator==(const DrawingArea&) const = default;
};

struct Link {
  RectPt box;
  std::string uri;      // empty when it leads inside the document
  int page_number = 0;  // 1-based target inside the document, 0 when `uri` is set or the target is unknown
  bool operator==(const Link&) const = default;
};

struct PageContent {
  int page_number = 0;  // from 1
  SizePt size;          // of the upright page
  int page_rotate = 0;  // the page's own /Rotate (or the EXIF turn of a photo), already applied, clockwise degrees
  std::vector<Font> fonts;
  std::vector<Char> chars;  // in content order, with PDFium's generated spaces and line breaks
  std::vector<Rule> rules;
  std::vector<Fill> fills;
  std::vector<PictureObject> pictures;
  std::vector<DrawingArea> drawings;
  std::vector<Link> links;
  // Nothing that is drawn has a colour: no picture, no shading, no coloured path. Characters say it themselves.
  bool drawn_in_gray = false;
  bool truncated = false;  // the page held more objects than the limits allow; what is here is the beginning
  // Set when one picture covers the page: index into `pictures`. Such a page takes the fast path of the renderer.
  std::optional<std::uint32_t> full_page_scan;
  bool operator==(const PageContent&) const = default;
};

enum class DocumentKind : std::uint8_t { pdf, jpeg, png, tiff, webp, bmp };

struct OutlineEntry {
  int level = 0;  // from 1
  std::string title;
  int page_number = 0;  // from 1; 0 when unknown
  bool operator==(const OutlineEntry&) const = default;
};

struct DocumentInfo {
  DocumentKind kind = DocumentKind::pdf;
  int pages = 0;
  std::string title;                  // from the document's metadata; may be empty
  std::vector<OutlineEntry> outline;  // at most 1,000 entries
  bool operator==(const DocumentInfo&) const = default;
};

}  // namespace lectern::document
