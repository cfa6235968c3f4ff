// Full-page scans of a PDF: their pixels straight from the stored picture, without drawing the page.
#pragma once

#include <optional>

#include "document/render/document_bytes.h"
#include "document/render/pdf_objects.h"
#include "document/render/picture_place.h"
#include "document/render/stream_dictionary.h"

namespace lectern::document {

// A picture that may be taken as the page.
struct Scan {
  fpdf::PageObject object = nullptr;  // lives as long as the page
  PicturePlace place;
  ImageCoding coding = ImageCoding::other;
  bool stencil = false;  // painted in black where its samples say so
  bool inverted = false;
  image::Pixels jpeg;              // the stored bytes, when they are a JPEG that can be decoded as it is
  image::Pixels jbig2;             // the stored bytes, when they are a JBIG2 picture without segments elsewhere
  std::vector<std::uint8_t> tiff;  // the stored bytes in a TIFF, when they are a fax that can be decoded as it is
};

// Looks closer at the picture that seems to be the page. Nothing when it must be drawn after all: it stands askew, is
// masked or blended, has an unusual colour space, or the file does not tell.
// `near` is where to look for the picture in the file first; it becomes where the picture was found.
std::optional<Scan> examine_scan(const FoundPicture& picture, const DocumentBytes& document, std::size_t& near);

struct ScanRequest {
  const RenderRequest& request;
  const RenderSize& asked;
  SizePt page;
  std::int64_t pixels_max = 0;
};
Result<Rendered> render_scan(const Scan& scan, const ScanRequest& wanted);

// Whether the picture is damaged so that PDFium may well draw nothing of it, without a word. Decodes it, unless it has
// more than so many pixels: slow.
bool may_be_lost(const FoundPicture& found, std::int64_t pixels_max);

}  // namespace lectern::document
