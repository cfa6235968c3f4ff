// Documents of one page that is one stored picture, as scanners make them.
#pragma once

#include <string>

#include "document/minimal_pdf.h"
#include "document/render/backend_fixture.h"
#include "image/test_pictures.h"

namespace lectern::document {

using image::FileBytes;

struct ScanPicture {
  std::string entries;  // of the picture's dictionary, besides its size
  FileBytes bytes;
  int width = 0;
  int height = 0;
  std::string globals;  // what JBIG2 pictures share; empty = none
};

struct Sheet {
  std::string matrix = "200 0 0 300 0 0";  // where the picture stands
  std::string extra;                       // drawn after it
  std::string entries;                     // of the page
};

inline std::string scan_pdf(const ScanPicture& picture, const Sheet& sheet) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  std::string entries = fmt::format("/Type /XObject /Subtype /Image /Width {} /Height {} {}", picture.width,
                                    picture.height, picture.entries);
  if (!picture.globals.empty()) {
    entries += fmt::format(" /DecodeParms << /JBIG2Globals {} 0 R >>", pdf.add_stream(picture.globals));
  }
  const int image = pdf.add_stream(as_text(picture.bytes), entries);
  const int content = pdf.add_stream(fmt::format("q {} cm /I Do Q {}", sheet.matrix, sheet.extra));
  const int page =
      pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 200 300] /Contents {} 0 R "
                          "/Resources << /XObject << /I {} 0 R >> >> {} >>",
                          tree, content, image, sheet.entries));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  return pdf.finish(catalog);
}

// What forces a page to be drawn, and cannot be seen.
constexpr std::string_view speck = " 1 1 1 rg 0.1 0.1 0.02 0.02 re f";

class ScanTest : public BackendTest {
 protected:
  // The page as it is, and the same page with a speck on it that forces it to be drawn.
  void compare(const ScanPicture& picture, const Sheet& sheet, RenderPath path, image::PixelFormat format) {
    const auto scan = must_open(scan_pdf(picture, sheet));
    Sheet specked = sheet;
    specked.extra += speck;
    const auto drawn = must_open(scan_pdf(picture, specked));
    ASSERT_TRUE(scan && drawn);
    for (const float dpi : {36.0F, 100.0F, 144.0F}) {
      SCOPED_TRACE(dpi);
      const RenderRequest request{.dpi = dpi, .format = format};
      const auto fast = scan->render(request);
      const auto slow = drawn->render(request);
      ASSERT_TRUE(fast.has_value()) << fast.error().for_log;
      ASSERT_TRUE(slow.has_value()) << slow.error().for_log;
      EXPECT_EQ(fast->path, path);
      EXPECT_EQ(slow->path, RenderPath::page);
      EXPECT_EQ(fast->px_per_pt, slow->px_per_pt);
      EXPECT_LT(image::mean_difference(fast->image, slow->image), 3.0);
    }
  }
};

}  // namespace lectern::document
