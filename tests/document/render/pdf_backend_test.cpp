#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "document/minimal_pdf.h"
#include "document/render/backend_fixture.h"

namespace lectern::document {
namespace {

using testing::HasSubstr;

class PdfBackendTest : public BackendTest {
 protected:
  PageContent inspect_one(const PdfPageOptions& page) {
    const auto backend = must_open(pdf_of_pages({page}));
    if (!backend) return {};
    auto content = backend->inspect(1);
    EXPECT_TRUE(content.has_value()) << (content ? "" : content.error().for_log);
    return content ? std::move(*content) : PageContent{};
  }
};

TEST_F(PdfBackendTest, ThePinnedLibraryIsInUse) {
  EXPECT_TRUE(pdfium_info().pinned()) << pdfium_info().build_id;
  EXPECT_TRUE(pdfium_info().warning.empty());
  EXPECT_FALSE(pdfium_info().path.empty());
}

TEST_F(PdfBackendTest, CharactersHavePlacesSizesAndFonts) {
  const PageContent page = inspect_one({.content = "1 0 0 rg " + text_content("Hello world")});
  EXPECT_EQ(page.page_number, 1);
  EXPECT_EQ(page.size, (SizePt{612, 792}));
  EXPECT_THAT(text_of(page), HasSubstr("Hello world"));
  ASSERT_FALSE(page.chars.empty());
  const Char& h = page.chars[0];
  EXPECT_EQ(h.code, U'H');
  EXPECT_FLOAT_EQ(h.size_pt, 24);
  EXPECT_EQ(h.angle_deg, 0);
  EXPECT_EQ(h.color_rgb, 0xFF0000U);
  EXPECT_EQ(page.fonts[h.font].name, "Helvetica");
  EXPECT_NEAR(h.box.x0, 74, 3);
  EXPECT_NEAR(h.box.y1, 792 - 700, 1) << "it stands on its baseline";
  EXPECT_NEAR(h.box.height(), 17, 2);
  EXPECT_LE(h.loose.y0, h.box.y0);
  EXPECT_GE(h.loose.y1, h.box.y1);
}

TEST_F(PdfBackendTest, TheTextMatrixCounts) {
  const PageContent page = inspect_one({.content = "BT /F1 1 Tf 12 0 0 12 72 700 Tm (A) Tj ET"});
  ASSERT_FALSE(page.chars.empty());
  EXPECT_FLOAT_EQ(page.chars[0].size_pt, 12);
}

TEST_F(PdfBackendTest, ATurnedPageIsMadeUpright) {
  const PageContent page = inspect_one({.content = text_content("Up"), .entries = "/Rotate 90"});
  EXPECT_EQ(page.size, (SizePt{792, 612}));
  EXPECT_EQ(page.page_rotate, 90);
  ASSERT_GE(page.chars.size(), 2U);
  EXPECT_NEAR(page.chars[0].angle_deg, 90, 0.1) << "the text runs down the upright page";
  EXPECT_LT(page.chars[0].box.y0, page.chars[1].box.y0);
  EXPECT_NEAR(page.chars[0].box.x0, 700, 2);
}

TEST_F(PdfBackendTest, TextThatIsCroppedAwayIsNotRead) {
  const PageContent page = inspect_one(
      {.content = "BT /F1 12 Tf 20 20 Td (hidden) Tj 80 80 Td (seen) Tj ET", .entries = "/CropBox [50 50 300 300]"});
  EXPECT_EQ(page.size, (SizePt{250, 250}));
  EXPECT_THAT(text_of(page), HasSubstr("seen"));
  EXPECT_THAT(text_of(page), testing::Not(HasSubstr("hidden")));
  EXPECT_NEAR(page.chars.front().box.x0, 50, 2);
}

TEST_F(PdfBackendTest, InvisibleTextIsMarked) {
  const PageContent page = inspect_one({.content = "BT 3 Tr /F1 12 Tf 72 700 Td (ocr) Tj ET"});
  ASSERT_FALSE(page.chars.empty());
  EXPECT_NE(page.chars[0].flags & Char::invisible, 0);
}

TEST_F(PdfBackendTest, LooksIntoForms) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int font = pdf.add("<< /Type /Font /Subtype /Type1 /BaseFont /Courier-Bold >>");
  const int form = pdf.add_stream("BT /F1 10 Tf 10 10 Td (inside) Tj ET 0 0 50 0.5 re f 0 20 50 30 re f",
                                  fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 100 100] "
                                              "/Resources << /Font << /F1 {} 0 R >> >>",
                                              font));
  const int content = pdf.add_stream("q 2 0 0 2 100 100 cm /X Do Q");
  const int page =
      pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 500 500] /Contents {} 0 R "
                          "/Resources << /XObject << /X {} 0 R >> >> >>",
                          tree, content, form));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R >>", tree));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  const auto backend = must_open(pdf.finish(catalog));
  ASSERT_TRUE(backend);
  const auto inspected = backend->inspect(1);
  ASSERT_TRUE(inspected.has_value());
  EXPECT_THAT(text_of(*inspected), HasSubstr("inside"));
  EXPECT_FLOAT_EQ(inspected->chars[0].size_pt, 20) << "twice as large as its font size says";
  EXPECT_TRUE(inspected->fonts[inspected->chars[0].font].bold);
  EXPECT_TRUE(inspected->fonts[inspected->chars[0].font].monospace);
  ASSERT_EQ(inspected->rules.size(), 1U);
  EXPECT_EQ(inspected->rules[0].box, (RectPt{100, 399, 200, 400}));
  ASSERT_EQ(inspected->fills.size(), 1U);
  EXPECT_EQ(inspected->fills[0].box, (RectPt{100, 300, 200, 360}));
}

TEST_F(PdfBackendTest, RulesOfATableAreFound) {
  const PageContent page = inspect_one({.content = "2 w 100 100 200 50 re S 100 125 m 300 125 l S"});
  EXPECT_EQ(page.rules.size(), 5U);
  EXPECT_TRUE(page.fills.empty());
  EXPECT_TRUE(page.drawings.empty());
}

TEST_F(PdfBackendTest, AWhiteGroundIsNoContent) {
  EXPECT_TRUE(inspect_one({.content = "1 1 1 rg 0 0 612 792 re f"}).fills.empty());
}

TEST_F(PdfBackendTest, LinksLeadOutAndInside) {
  PdfPageOptions page{.content = text_content("see www.example.com now"),
                      .entries =
                          "/Annots [<< /Type /Annot /Subtype /Link /Rect [72 600 200 620] /A << /S /URI /URI "
                          "(https://example.org/a b) >> >> << /Type /Annot /Subtype /Link /Rect [72 500 200 520] "
                          "/Dest [1 /Fit] >>]"};
  const auto backend = must_open(pdf_of_pages({page, {}}));
  ASSERT_TRUE(backend);
  const auto content = backend->inspect(1);
  ASSERT_TRUE(content.has_value());
  ASSERT_EQ(content->links.size(), 3U);
  EXPECT_EQ(content->links[0].uri, "https://example.org/a%20b");
  EXPECT_EQ(content->links[0].box, (RectPt{72, 172, 200, 192}));
  EXPECT_EQ(content->links[1].page_number, 2);
  EXPECT_THAT(content->links[2].uri, HasSubstr("www.example.com"));
}

TEST_F(PdfBackendTest, FieldValuesAreTextAndLinksSurviveFlattening) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int font = pdf.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const int look = pdf.add_stream("BT /F1 12 Tf 2 5 Td (Jane Doe) Tj ET",
                                  fmt::format("/Type /XObject /Subtype /Form /BBox [0 0 200 20] "
                                              "/Resources << /Font << /F1 {} 0 R >> >>",
                                              font));
  const int field =
      pdf.add(fmt::format("<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Jane Doe) /F 4 "
                          "/Rect [100 600 300 620] /AP << /N {} 0 R >> >>",
                          look));
  const int link =
      pdf.add("<< /Type /Annot /Subtype /Link /Rect [72 500 200 520] /A << /S /URI /URI (https://e.org) >> >>");
  const auto page_of = [&](std::string_view text) {
    const int content = pdf.add_stream(text_content(text));
    return pdf.add(
        fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 612 792] /Contents {} 0 R "
                    "/Resources << /Font << /F1 {} 0 R >> >> /Annots [{} 0 R {} 0 R] >>",
                    tree, content, font, field, link));
  };
  const int first = page_of("Name:");
  const int second = page_of("Other");
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R /AcroForm << /Fields [{} 0 R] >> >>", tree, field));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 2 /Kids [{} 0 R {} 0 R] >>", first, second));
  const auto backend = must_open(pdf.finish(catalog));
  ASSERT_TRUE(backend);
  const auto once = backend->inspect(1);
  ASSERT_TRUE(once.has_value());
  EXPECT_THAT(text_of(*once), HasSubstr("Jane Doe"));
  ASSERT_EQ(once->links.size(), 1U);
  ASSERT_TRUE(backend->inspect(2).has_value());  // lets go of page 1
  EXPECT_EQ(*backend->inspect(1), *once);
}

TEST_F(PdfBackendTest, AFieldWithoutALookIsDrawnFromItsValue) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int font = pdf.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>");
  const int field = pdf.add(
      "<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Jane Doe) /F 4 /DA (/F1 12 Tf 0 g) /Rect [100 100 300 "
      "120] >>");
  const int page =
      pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 400 300] /Annots [{} 0 R] >>", tree, field));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R /AcroForm << /NeedAppearances true /Fields [{} 0 R] "
                               "/DA (/F1 12 Tf 0 g) /DR << /Font << /F1 {} 0 R >> >> >> >>",
                               tree, field, font));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  const auto backend = must_open(pdf.finish(catalog));
  ASSERT_TRUE(backend);
  EXPECT_THAT(text_of(*backend->inspect(1)), HasSubstr("Jane Doe"));
}

TEST_F(PdfBackendTest, AnOutlineWithACycleEnds) {
  PdfWriter pdf;
  const int catalog = pdf.reserve();
  const int tree = pdf.reserve();
  const int outlines = pdf.reserve();
  const int first = pdf.reserve();
  const int second = pdf.reserve();
  const int page = pdf.add(fmt::format("<< /Type /Page /Parent {} 0 R /MediaBox [0 0 100 100] >>", tree));
  pdf.set(outlines, fmt::format("<< /Type /Outlines /First {} 0 R /Last {} 0 R >>", first, second));
  pdf.set(first,
          fmt::format("<< /Title (One) /Parent {} 0 R /Next {} 0 R /Dest [{} 0 R /Fit] >>", outlines, second, page));
  pdf.set(second, fmt::format("<< /Title (Two) /Parent {} 0 R /Next {} 0 R >>", outlines, first));
  pdf.set(catalog, fmt::format("<< /Type /Catalog /Pages {} 0 R /Outlines {} 0 R >>", tree, outlines));
  pdf.set(tree, fmt::format("<< /Type /Pages /Count 1 /Kids [{} 0 R] >>", page));
  const int info = pdf.add("<< /Title (\xFE\xFF\0T\0\xE9) >>");
  const auto backend = must_open(pdf.finish(catalog, fmt::format("/Info {} 0 R", info)));
  ASSERT_TRUE(backend);
  ASSERT_EQ(backend->info().outline.size(), 2U);
  EXPECT_EQ(backend->info().outline[0], (OutlineEntry{1, "One", 1}));
  EXPECT_EQ(backend->info().outline[1].title, "Two");
}

TEST_F(PdfBackendTest, JunkBeforeTheHeaderDoesNoHarm) {
  const auto backend = must_open("HTTP/1.1 200 OK\r\n\r\n" + pdf_of_pages({{.content = text_content("found")}}));
  ASSERT_TRUE(backend);
  EXPECT_THAT(text_of(*backend->inspect(1)), HasSubstr("found"));
}

// Opens anew whenever it is asked.
int openings_asked = 0;
bool always(const OpenSpell&) {
  ++openings_asked;
  return true;
}
bool never(const OpenSpell&) {
  return false;
}

TEST_F(PdfBackendTest, PagesAreTheSameAcrossOpenings) {
  std::vector<PdfPageOptions> pages;
  for (int number = 1; number <= 40; ++number) {
    pages.push_back({.content = text_content(fmt::format("Page {}", number)) + " 2 w 100 100 200 50 re S",
                     // A note becomes part of the page when it is flattened, and its look is lost with the document.
                     .entries = "/Annots [<< /Type /Annot /Subtype /Square /Rect [72 600 200 620] /C [1 0 0] >> "
                                "<< /Type /Annot /Subtype /Link /Rect [72 500 200 520] /Dest [1 /Fit] >>]"});
  }
  const std::string bytes = pdf_of_pages(pages);
  const auto steady = must_open(bytes, {.should_reopen = never});
  const auto fresh = must_open(bytes, {.should_reopen = always});
  ASSERT_TRUE(steady && fresh);
  openings_asked = 0;
  for (int round = 0; round < 2; ++round) {  // the second one meets pages that were flattened before
    for (int number = 1; number <= 40; ++number) {
      SCOPED_TRACE(number);
      const auto expected = steady->inspect(number);
      const auto seen = fresh->inspect(number);
      ASSERT_TRUE(expected.has_value() && seen.has_value());
      EXPECT_THAT(text_of(*seen), HasSubstr(fmt::format("Page {}", number)));
      EXPECT_EQ(*seen, *expected);
      EXPECT_EQ(fresh->render({.page_number = number, .dpi = 36})->image.pixels,
                steady->render({.page_number = number, .dpi = 36})->image.pixels);
    }
  }
  EXPECT_GE(openings_asked, 8);
}

TEST_F(PdfBackendTest, ALockedDocumentOpensAnewByItself) {
  std::ifstream file(LECTERN_SOURCE_DIR "/tests/document/render/locked.pdf", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto backend = must_open(bytes, {.password = "open sesame", .should_reopen = always});
  ASSERT_TRUE(backend);
  openings_asked = 0;
  ASSERT_EQ(backend->info().pages, 2);
  for (int visit = 0; visit < 20; ++visit) {  // in turns: a page stays loaded until another is wanted
    const auto page = backend->inspect(1 + visit % 2);
    ASSERT_TRUE(page.has_value()) << page.error().for_log;
    EXPECT_THAT(text_of(*page), HasSubstr("treasure"));
  }
  EXPECT_EQ(openings_asked, 2);
}

TEST_F(PdfBackendTest, PasswordsAreAskedForAndChecked) {
  std::ifstream file(LECTERN_SOURCE_DIR "/tests/document/render/locked.pdf", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_FALSE(bytes.empty());
  const auto missing = open(bytes);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(missing.error().for_caller, HasSubstr("needs a password: give --password or LECTERN_PASSWORD"));
  const auto wrong = open(bytes, {.password = "wrong"});
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(wrong.error().for_caller, HasSubstr("password is wrong"));
  const auto right = must_open(bytes, {.password = "open sesame"});
  ASSERT_TRUE(right);
  EXPECT_THAT(text_of(*right->inspect(1)), HasSubstr("treasure"));
}

TEST_F(PdfBackendTest, ErrorsNameTheTrouble) {
  EXPECT_THAT(open("%PDF-1.4\nnothing more").error().for_caller, HasSubstr("damaged"));
  EXPECT_THAT(open("just words").error().for_caller, HasSubstr("looks like plain text"));
  EXPECT_THAT(open("").error().for_caller, HasSubstr("empty"));
  const auto backend = must_open(pdf_of_pages({{}}));
  ASSERT_TRUE(backend);
  EXPECT_EQ(backend->inspect(0).error().kind, ErrorKind::not_found);
  EXPECT_EQ(backend->inspect(2).error().kind, ErrorKind::not_found);
  EXPECT_EQ(backend->render({.page_number = 9, .dpi = 72}).error().kind, ErrorKind::not_found);
}

TEST_F(PdfBackendTest, PagesAreDrawnAtTheSizeWanted) {
  const auto backend = must_open(pdf_of_pages({{.content = "1 0 0 rg 0 396 306 396 re f"}}));  // upper left quarter
  ASSERT_TRUE(backend);
  const auto color = backend->render({.dpi = 36, .format = image::PixelFormat::rgb24});
  ASSERT_TRUE(color.has_value());
  ASSERT_EQ(color->width_px, 306);
  ASSERT_EQ(color->height_px, 396);
  EXPECT_EQ(color->path, RenderPath::page);
  const std::uint8_t* red = color->image.row(50) + 50 * 3;
  EXPECT_EQ((std::vector<int>{red[0], red[1], red[2]}), (std::vector<int>{255, 0, 0}));
  EXPECT_EQ(color->image.row(300)[200 * 3], 255);

  const auto part = backend->render({.dpi = 72, .clip = RectPt{296, 100, 316, 110}});
  ASSERT_TRUE(part.has_value());
  ASSERT_EQ(part->width_px, 20);
  EXPECT_LT(part->image.row(5)[2], 128);
  EXPECT_EQ(part->image.row(5)[17], 255);
}

TEST_F(PdfBackendTest, AnyDamageGivesAnAnswer) {
  const std::string sound = pdf_of_pages({{.content = text_content("text") + " 10 10 50 50 re f"}, {.content = "q Q"}});
  int opened = 0;
  for (std::size_t cut = 0; cut < sound.size(); cut += 13) {
    const auto backend = open(sound.substr(0, cut));
    if (!backend) {
      EXPECT_FALSE(backend.error().for_caller.empty());
      continue;
    }
    ++opened;
    EXPECT_GE((*backend)->info().pages, 1);
    static_cast<void>((*backend)->inspect(1));
  }
  EXPECT_GT(opened, 0) << "a file without its end can be mended";
}

}  // namespace
}  // namespace lectern::document
