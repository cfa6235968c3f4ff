#include "vision/mend_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vision/missed_text.h"
#include "vision/test_images.h"

namespace lectern::vision {
namespace {

using testing::ElementsAre;

// A word in a line of 30 pixels whose baseline is at y; about 15 pixels a character.
OcrWord word(std::string text, int x, int y, int block, int line, float confidence = 0.9F) {
  const int width = 15 * static_cast<int>(text.size());
  return {.text = std::move(text),
          .box = {x, y - 22, x + width, y},
          .confidence = confidence,
          .block = block,
          .paragraph = block,
          .line = line,
          .line_baseline_y = y,
          .line_height_px = 30};
}

// Adds a line of words, split at blanks.
void add_line(OcrPage& page, const std::string& text, int x, int y, int block) {
  const int line = page.words.empty() ? 0 : page.words.back().line + 1;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    page.words.push_back(word(text.substr(start, end - start), x + 15 * static_cast<int>(start), y, block, line));
    start = end + 1;
  }
}

std::vector<std::string> lines_of(const OcrPage& page) {
  std::vector<std::string> lines;
  int line = -1;
  for (const OcrWord& w : page.words) {
    if (lines.empty() || w.line != line) {
      lines.push_back(w.text);
    } else {
      lines.back() += ' ' + w.text;
    }
    line = w.line;
  }
  return lines;
}

TEST(DropNoise, DropsShortWordsThatNobodyBelieves) {
  OcrPage page;
  page.words = {word("Li", 0, 100, 0, 0, 0.1F), word("harbour", 100, 100, 0, 0, 0.1F),
                word("to", 300, 100, 0, 0, 0.4F)};
  drop_noise(page);
  EXPECT_THAT(lines_of(page), ElementsAre("harbour to"));
}

TEST(DropNoise, RecognisesDittoMarks) {
  OcrPage page;
  page.words = {word("Li", 0, 100, 0, 0, 0.2F), word("*", 100, 100, 0, 0, 0.4F), word("-", 200, 100, 0, 0, 0.4F),
                word("Li", 300, 100, 0, 0, 0.9F)};
  page.words[0].box = {0, 78, 13, 90};
  page.words[1].box = {100, 78, 113, 90};
  page.words[2].box = {200, 90, 213, 93};  // a dash stands lower
  page.words[3].box = {300, 78, 313, 90};  // surely read
  drop_noise(page);
  EXPECT_THAT(lines_of(page), ElementsAre("\" \" - Li"));
}

TEST(ReadRowsAcross, ReadsTheColumnsOfATableRowByRow) {
  OcrPage page;
  for (int i = 0; i < 4; ++i) add_line(page, "place" + std::to_string(i), 100, 100 + 60 * i, 0);
  for (int i = 0; i < 4; ++i) add_line(page, std::to_string(60 + i), 400, 102 + 60 * i, 1);
  for (int i = 0; i < 4; ++i) add_line(page, "a title of several words " + std::to_string(i), 600, 99 + 60 * i, 2);
  read_rows_across(page);
  EXPECT_THAT(lines_of(page),
              ElementsAre("place0 60 a title of several words 0", "place1 61 a title of several words 1",
                          "place2 62 a title of several words 2", "place3 63 a title of several words 3"));
  for (const OcrWord& w : page.words) EXPECT_EQ(w.block, 0);
}

TEST(ReadRowsAcross, LeavesColumnsOfProseAlone) {
  OcrPage page;
  for (const int column : {0, 1, 2}) {
    for (int i = 0; i < 5; ++i) add_line(page, "these are lines of prose", 100 + 500 * column, 100 + 60 * i, column);
  }
  const OcrPage before = page;
  read_rows_across(page);
  EXPECT_EQ(page, before);
}

TEST(ReadRowsAcross, LeavesTwoAddressesSideBySideAlone) {
  OcrPage page;
  for (int i = 0; i < 4; ++i) add_line(page, "Harbour Road", 100, 100 + 60 * i, 0);
  for (int i = 0; i < 4; ++i) add_line(page, "Station Street", 800, 100 + 60 * i, 1);
  const OcrPage before = page;
  read_rows_across(page);
  EXPECT_EQ(page, before);
}

TEST(ReadRowsAcross, ReadsAbbreviationsWithWhatTheyStandFor) {
  OcrPage page;
  for (int i = 0; i < 5; ++i) add_line(page, "acc. " + std::to_string(i), 100, 100 + 60 * i, 0);
  for (int i = 0; i < 5; ++i) add_line(page, "accordion number " + std::to_string(i), 260, 101 + 60 * i, 1);
  read_rows_across(page);
  EXPECT_EQ(lines_of(page)[0], "acc. 0 accordion number 0");
  EXPECT_EQ(lines_of(page)[4], "acc. 4 accordion number 4");
}

TEST(ReadRowsAcross, NumbersABlockAParagraphAndALineAnew) {
  OcrPage page;
  add_line(page, "one", 100, 100, 7);
  add_line(page, "two", 100, 160, 9);
  read_rows_across(page);
  ASSERT_EQ(page.words.size(), 2U);
  EXPECT_EQ(page.words[0].block, 0);
  EXPECT_EQ(page.words[1].block, 1);
  EXPECT_EQ(page.words[1].paragraph, 1);
  EXPECT_EQ(page.words[1].line, 1);
}

TEST(ReadRowsAcross, OfNothingIsNothing) {
  OcrPage page;
  read_rows_across(page);
  EXPECT_TRUE(page.words.empty());
}

TEST(InsertLine, ContinuesTheLineItStandsIn) {
  OcrPage page;
  add_line(page, "Invoice number", 100, 100, 0);
  add_line(page, "Total", 100, 160, 0);
  EXPECT_EQ(insert_line(page, {word("4711", 330, 101, 0, 0)}), 1);
  EXPECT_THAT(lines_of(page), ElementsAre("Invoice number 4711", "Total"));
}

TEST(InsertLine, StandsAfterTheLineAboveIt) {
  OcrPage page;
  add_line(page, "first line", 100, 100, 0);
  add_line(page, "third line", 100, 300, 0);
  EXPECT_EQ(insert_line(page, {word("second", 100, 200, 0, 0)}), 1);
  EXPECT_THAT(lines_of(page), ElementsAre("first line", "second", "third line"));
}

TEST(InsertLine, TakesNothingDoubtfulOrThereAlready) {
  OcrPage page;
  add_line(page, "Invoice number", 100, 100, 0);
  const OcrPage before = page;
  EXPECT_EQ(insert_line(page, {word("Inv0ice", 102, 101, 0, 0)}), 0) << "under an existing word";
  EXPECT_EQ(insert_line(page, {word("uoQon", 500, 300, 0, 0, 0.4F)}), 0) << "not read surely";
  EXPECT_EQ(insert_line(page, {word("i", 500, 300, 0, 0)}), 0) << "a stroke";
  EXPECT_EQ(insert_line(page, {word("Y", 500, 300, 0, 0), word("E", 900, 300, 0, 0)}, row_words_min), 0) << "icons";
  EXPECT_EQ(insert_line(page, {}), 0);
  EXPECT_EQ(page, before);
}

TEST(FindMissedText, LinesAreThoseUnderNoWord) {
  const image::Image letter = load_picture("letter.png");
  OcrPage page{.width_px = letter.width_px, .height_px = letter.height_px};
  EXPECT_GE(find_missed_text(letter, page).lines.size(), 4U) << "nothing was read: all lines are missing";
  OcrWord all = word("x", 0, 0, 0, 0);
  all.box = {0, 0, letter.width_px, 160};
  all.line_height_px = 24;
  page.words = {all};
  const auto missed = find_missed_text(letter, page);
  ASSERT_FALSE(missed.lines.empty());
  for (const BoxPx& box : missed.lines) EXPECT_GT(box.y1, 160);
}

TEST(FindMissedText, OfABlankPageIsNone) {
  for (const image::Image& blank : {filled(800, 600, 255), filled(5, 5, 0)}) {
    const auto missed = find_missed_text(blank, {});
    EXPECT_TRUE(missed.lines.empty());
    EXPECT_TRUE(missed.rows.empty());
  }
}

// Glyphs of 14 by 20 pixels, far from each other, whose middles lie at y.
void draw_lone_glyphs(image::Image& page, std::initializer_list<int> xs, int y) {
  for (const int x : xs) fill_box(page, x, y - 10, x + 14, y + 10, 0);
}

TEST(FindMissedText, LoneGlyphsThatStandLevelAreARow) {
  image::Image picture = filled(1200, 600, 255);
  draw_lone_glyphs(picture, {100, 400, 650, 1100}, 60);
  draw_lone_glyphs(picture, {300, 900}, 300);  // two may be chance
  OcrPage page{.width_px = 1200, .height_px = 600};
  add_line(page, "entries below", 100, 200, 0);
  const auto missed = find_missed_text(picture, page);
  ASSERT_EQ(missed.rows.size(), 1U);
  EXPECT_TRUE(missed.lines.empty());
  const BoxPx& row = missed.rows[0];
  EXPECT_TRUE(row.x0 < 100 && row.x1 > 1114 && row.y0 < 50 && row.y1 > 70 && row.y1 < 90);

  add_line(page, "read", 500, 70, 0);
  EXPECT_TRUE(find_missed_text(picture, page).rows.empty()) << "the row was not missed: a word of it was read";
}

TEST(FindMissedText, GlyphsOfOtherSizesOrHeightsAreNoRow) {
  image::Image picture = filled(1200, 600, 255);
  draw_lone_glyphs(picture, {100}, 60);
  draw_lone_glyphs(picture, {400}, 75);
  draw_lone_glyphs(picture, {700}, 90);  // a staircase
  fill_box(picture, 900, 40, 930, 80, 0);
  fill_box(picture, 1100, 40, 1130, 80, 0);  // level with the first, twice its height
  OcrPage page{.width_px = 1200, .height_px = 600};
  add_line(page, "entries below", 100, 200, 0);
  EXPECT_TRUE(find_missed_text(picture, page).rows.empty());
}

}  // namespace
}  // namespace lectern::vision
