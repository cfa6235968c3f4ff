#include <gtest/gtest.h>

#include <sstream>

#include "reading/layout/layout.h"

namespace lectern::reading {
namespace {

class Scan {
 public:
  // Words of one line, 20 pixels a character.
  Scan& line(int x, int y, const std::string& text, int height = 30) {
    std::istringstream in(text);
    std::string word;
    while (in >> word) {
      vision::OcrWord w;
      w.text = word;
      w.box = {x, y - height, x + static_cast<int>(word.size()) * 20, y};
      w.confidence = 0.9F;
      w.block = block_;
      w.paragraph = paragraph_;
      w.line = line_;
      w.line_baseline_y = y;
      w.line_height_px = static_cast<float>(height);
      x = w.box.x1 + 12;
      page_.words.push_back(w);
    }
    ++line_;
    return *this;
  }
  Scan& paragraph() { return ++paragraph_, *this; }
  Scan& block() { return ++block_, paragraph(); }
  Scan& grid(std::initializer_list<int> xs, std::initializer_list<int> ys) {
    for (const int x : xs) rulings_.vertical.push_back({x, *ys.begin(), x + 3, *(ys.end() - 1)});
    for (const int y : ys) rulings_.horizontal.push_back({*xs.begin(), y, *(xs.end() - 1), y + 3});
    return *this;
  }
  vision::OcrPage& page() { return page_; }
  std::vector<Block> blocks() const { return layout_ocr({page_, rulings_, {595, 842}, 300.0F / 72}); }

 private:
  vision::OcrPage page_;
  vision::Rulings rulings_;
  int block_ = 0;
  int paragraph_ = 0;
  int line_ = 0;
};

TEST(LayoutOcr, NothingGivesNothing) {
  EXPECT_TRUE(Scan().blocks().empty());
}

TEST(LayoutOcr, LinesOfAParagraphAreJoinedAndHyphensMended) {
  const auto blocks = Scan().line(100, 200, "A paragraph with a bro-").line(100, 240, "ken word in it.").blocks();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].text, "A paragraph with a broken word in it.");
  EXPECT_NEAR(blocks[0].bbox.x0, 24, 0.1);
}

TEST(LayoutOcr, TheEnginesOrderIsKept) {
  const auto blocks =
      Scan().line(1200, 200, "Right comes first.").block().line(100, 200, "Left comes second.").blocks();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].text, "Right comes first.");
}

TEST(LayoutOcr, ParagraphsOfTheEngineThatRunOnAreOne) {
  const auto blocks = Scan()
                          .line(100, 200, "A sentence that is long enough to fill its line and")
                          .paragraph()
                          .line(100, 240, "goes on here.")
                          .paragraph()
                          .line(100, 280, "Another one.")
                          .blocks();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].text, "A sentence that is long enough to fill its line and goes on here.");
}

TEST(LayoutOcr, TallLinesAreHeadings) {
  Scan scan;
  scan.line(100, 200, "Title", 70).block();
  for (int i = 0; i < 6; ++i) scan.line(100, 300 + 40 * i, "body text of the usual height goes here");
  const auto blocks = scan.blocks();
  ASSERT_GE(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].kind, BlockKind::heading);
  EXPECT_EQ(blocks[1].kind, BlockKind::paragraph);
}

TEST(LayoutOcr, RulingsMakeTables) {
  const auto blocks = Scan()
                          .line(100, 100, "Before it.")
                          .block()
                          .grid({100, 500, 900}, {200, 260, 320})
                          .line(120, 245, "name |")
                          .line(520, 245, "value")
                          .line(120, 305, "one")
                          .line(520, 305, "1")
                          .block()
                          .line(100, 400, "After it.")
                          .blocks();
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].text, "Before it.");
  ASSERT_EQ(blocks[1].kind, BlockKind::table);
  EXPECT_EQ(blocks[1].table.rows, 2);
  EXPECT_EQ(blocks[1].table.cells[0].text, "name");
  EXPECT_EQ(blocks[1].table.cells[3].text, "1");
  EXPECT_EQ(blocks[2].text, "After it.");
}

TEST(LayoutOcr, SpecksAreLeftOut) {
  Scan scan;
  scan.line(100, 200, "words ~ here");
  scan.page().words[1].confidence = 0.1F;
  const auto blocks = scan.blocks();
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].text, "words here");
}

}  // namespace
}  // namespace lectern::reading
