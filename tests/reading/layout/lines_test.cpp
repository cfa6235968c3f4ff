#include "reading/layout/lines.h"

#include <gtest/gtest.h>

#include "reading/layout/unicode.h"
#include "reading/page_builder.h"

namespace lectern::reading::layout {
namespace {

std::vector<Line> segments_of(const PageBuilder& page) {
  const Glyphs glyphs = clean_glyphs(page.content());
  return make_segments(make_words(glyphs.upright, page.content().fonts));
}

std::vector<std::string> texts_of(const std::vector<Line>& lines) {
  std::vector<std::string> out;
  for (const Line& l : lines) out.push_back(to_utf8(text_of(l)));
  return out;
}

TEST(Lines, WordsOnOneBaselineAreOneSegment) {
  PageBuilder page;
  page.text(50, 100, "Words on a line").text(50, 112, "and the next");
  EXPECT_EQ(texts_of(segments_of(page)), (std::vector<std::string>{"Words on a line", "and the next"}));
}

TEST(Lines, ContentOrderDoesNotMatter) {
  PageBuilder page;
  page.text(100, 100, "second").text(50, 112, "below").text(67, 100, "first");
  EXPECT_EQ(texts_of(segments_of(page)), (std::vector<std::string>{"first second", "below"}));
}

TEST(Lines, WideGapsPartSegments) {
  PageBuilder page;
  page.text(50, 100, "left").text(300, 100, "right");
  EXPECT_EQ(segments_of(page).size(), 2U);
}

TEST(Lines, SuperscriptsJoinTheirLine) {
  PageBuilder page;
  page.text(50, 100, "note").text(70, 96, "12", {.size = 6});
  const std::vector<Line> lines = segments_of(page);
  ASSERT_EQ(lines.size(), 1U);
  ASSERT_EQ(lines[0].words.size(), 2U);
  EXPECT_EQ(lines[0].words[1].script, 1);
  EXPECT_FALSE(lines[0].words[1].space_before);
}

TEST(Lines, SubscriptsAreTold) {
  PageBuilder page;
  page.text(50, 100, "H").text(55, 102.5F, "2", {.size = 6.5F}).text(58.25F, 100, "O");
  const std::vector<Line> lines = segments_of(page);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(to_utf8(text_of(lines[0])), "H2O");
  EXPECT_EQ(lines[0].words[1].script, -1);
}

TEST(Lines, RightToLeftTextComesInReadingOrder) {
  PageBuilder page;
  page.rtl(500, 100, "שלום עולם");
  EXPECT_EQ(texts_of(segments_of(page)), std::vector<std::string>{"שלום עולם"});
}

TEST(Lines, RightToLeftTextStoredAsItLooksComesInReadingOrder) {
  PageBuilder page;
  page.text(400, 100, "םולש");  // drawn from left to right
  EXPECT_EQ(texts_of(segments_of(page)), std::vector<std::string>{"שלום"});
}

TEST(Lines, LatinAndNumbersInsideRightToLeftTextKeepTheirDirection) {
  PageBuilder page;
  page.rtl(500, 100, "מהדורה")
      .text(447.5F, 100, "2024")
      .rtl(445, 100, "של")
      .text(397.5F, 100, "Lectern")
      .rtl(395, 100, "כאן");
  EXPECT_EQ(texts_of(segments_of(page)), std::vector<std::string>{"מהדורה 2024 של Lectern כאן"});
}

TEST(Lines, SpacesStandWhereRunsMeet) {
  PageBuilder page;
  page.rtl(500, 100, "בטלפון").text(427.5F, 100, "555-0142").rtl(425, 100, "או");
  EXPECT_EQ(texts_of(segments_of(page)), std::vector<std::string>{"בטלפון 555-0142 או"});
  PageBuilder comma;
  comma.text(480, 100, "2026").rtl(480, 100, ",").rtl(472, 100, "תופסק");
  EXPECT_EQ(texts_of(segments_of(comma)), std::vector<std::string>{"2026, תופסק"});
}

TEST(Lines, ArabicLigatureLettersComeInWritingOrder) {
  PageBuilder page;
  page.rtl(500, 100, "س\xEF\xBB\xBB");  // seen, lam-alef
  EXPECT_EQ(texts_of(segments_of(page)), std::vector<std::string>{"سلا"});
}

}  // namespace
}  // namespace lectern::reading::layout
