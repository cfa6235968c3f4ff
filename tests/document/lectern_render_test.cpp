// The pool with the real renderer: real documents, made here.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/minimal_pdf.h"
#include "document/pool_fixture.h"
#include "document/render/backend.h"
#include "document/renderer_pool.h"
#include "temp_folder.h"

namespace lectern::document {
namespace {

using testing::HasSubstr;

std::string text_of(const PageContent& content) {
  std::string text;
  for (const Char& c : content.chars) {
    if (c.code < 0x80 && c.code >= 0x20) text += static_cast<char>(c.code);
  }
  return text;
}

class LecternRenderTest : public testing::Test {
 protected:
  LecternRenderTest() : pool_(context_.get_executor(), options()) {}
  static RendererPoolOptions options() {
    RendererPoolOptions made;
    made.processes = 2;
    return made;
  }

  TempFolder scratch_;
  boost::asio::io_context context_;
  RendererPool pool_;
};

TEST_F(LecternRenderTest, ReadsTextAndDrawsIt) {
  const auto file = scratch_.write(
      "two.pdf", pdf_of_pages({{.content = text_content("First page")}, {.content = text_content("Second page")}}));
  auto document = run(context_, pool_.open(file, "")).value();
  EXPECT_EQ(document->info().kind, DocumentKind::pdf);
  ASSERT_EQ(document->info().pages, 2);
  EXPECT_THAT(text_of(run(context_, document->inspect(2)).value()), HasSubstr("Second page"));

  const Rendered page = run(context_, document->render({.page_number = 1, .dpi = 72})).value();
  EXPECT_EQ(page.width_px, 612);
  EXPECT_EQ(page.height_px, 792);
  // The letters are drawn although their font is not embedded and the renderer has no files: about as much ink as
  // Helvetica has, not the solid or hollow boxes of a missing font.
  std::size_t ink = 0;
  for (const std::uint8_t value : page.image.pixels) ink += value < 128 ? 1 : 0;
  EXPECT_GT(ink, 400U);
  EXPECT_LT(ink, 1500U);
}

TEST_F(LecternRenderTest, TellsWhichPdfLibraryItLoaded) {
  ASSERT_TRUE(pdfium_load("").has_value());
  ASSERT_FALSE(pdfium_info().build_id.empty());
  EXPECT_EQ(run(context_, pool_.check()).value().pdfium_build_id, pdfium_info().build_id);
}

TEST_F(LecternRenderTest, WhatIsNoDocumentIsRefusedByName) {
  const auto refused = run(context_, pool_.open(scratch_.write("notes.zip", "PK\x03\x04 and so on"), ""));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(refused.error().for_caller, HasSubstr("notes.zip: looks like"));
}

TEST_F(LecternRenderTest, AMissingPdfiumIsSaid) {
  auto other = options();
  other.pdfium = "/nowhere/libpdfium.so";
  RendererPool pool(context_.get_executor(), other);
  const auto checked = run(context_, pool.check());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(checked.error().for_caller, HasSubstr("/nowhere/libpdfium.so"));
}

}  // namespace
}  // namespace lectern::document
