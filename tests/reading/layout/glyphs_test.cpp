#include "reading/layout/glyphs.h"

#include <gtest/gtest.h>

#include "reading/layout/unicode.h"
#include "reading/page_builder.h"

namespace lectern::reading::layout {
namespace {

std::string text_of(const Glyphs& glyphs) {
  std::string out;
  for (const Glyph& g : glyphs.upright) append_utf8(out, g.code);
  return out;
}

TEST(Glyphs, LigaturesOpenAndControlsVanish) {
  PageBuilder page;
  page.text(50, 100, "\xEF\xAC\x81sh\xE2\x80\x8B\xEF\xBB\xBF!");
  EXPECT_EQ(text_of(clean_glyphs(page.content())), "fish!");
}

TEST(Glyphs, OverprintedDoublesAreDropped) {
  PageBuilder page;
  page.text(50, 100, "Bold").text(50.4F, 100, "Bold").text(50, 130, "ball");
  EXPECT_EQ(text_of(clean_glyphs(page.content())), "Boldball");
}

TEST(Glyphs, LettersOfOneLigatureGlyphAreNoDoubles) {
  PageBuilder page;
  page.text(50, 100, "of");
  page.content().chars.push_back(page.content().chars.back());  // PDFium gives "ff" as two letters in one box
  EXPECT_EQ(text_of(clean_glyphs(page.content())), "off");
}

TEST(Glyphs, AccentsOverLettersJoin) {
  PageBuilder page;
  page.text(50, 100, "\xC2\xB4").text(50, 100, "e");
  EXPECT_EQ(text_of(clean_glyphs(page.content())), "é");
}

TEST(Glyphs, InvisibleTextGoesUnlessItIsAllThereIs) {
  PageBuilder page;
  page.text(50, 100, "seen text").text(50, 130, "no").flag_last(2, document::Char::invisible);
  EXPECT_EQ(text_of(clean_glyphs(page.content())), "seentext");
  PageBuilder layer;
  layer.text(50, 100, "layer").flag_last(5, document::Char::invisible);
  EXPECT_EQ(text_of(clean_glyphs(layer.content())), "layer");
}

TEST(Glyphs, OnlyTextThatRunsLeftToRightIsUpright) {
  PageBuilder page(600, 800);
  page.text(50, 100, "level", {.angle = 0})
      .text(50, 200, "leaning", {.angle = 5})
      .text(50, 300, "sideways", {.angle = 90});
  const Glyphs glyphs = clean_glyphs(page.content());
  EXPECT_EQ(text_of(glyphs), "levelleaning");
  EXPECT_EQ(glyphs.askew.size(), 8U);
}

}  // namespace
}  // namespace lectern::reading::layout
