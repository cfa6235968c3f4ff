// The whole chain over small pages: what becomes which block.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reading/layout/layout.h"
#include "reading/page_builder.h"

namespace lectern::reading {
namespace {

std::vector<Block> blocks_of(const PageBuilder& page) {
  return layout_text_layer(page.content());
}

std::vector<std::string> texts_of(const std::vector<Block>& blocks) {
  std::vector<std::string> out;
  for (const Block& b : blocks) out.push_back(b.text);
  return out;
}

const Block* first_of(const std::vector<Block>& blocks, BlockKind kind) {
  const auto it = std::ranges::find(blocks, kind, &Block::kind);
  return it == blocks.end() ? nullptr : &*it;
}

// Enough running text for the page to have a body size.
PageBuilder with_body(PageBuilder page, float y = 500) {
  return page.lines(50, y,
                    {"Running text that goes on and on so that the page has a usual size of type and a",
                     "usual distance from one line to the next, "
                     "over several lines of the same length and",
                     "with nothing remarkable about any of them except that they are there, line after line."});
}

TEST(Blocks, AnEmptyPageHasNone) {
  EXPECT_TRUE(blocks_of(PageBuilder()).empty());
}

TEST(Blocks, OneCharacterIsABlock) {
  const auto blocks = blocks_of(PageBuilder().text(50, 100, "x"));
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].text, "x");
}

TEST(Blocks, ParagraphsPartAtGapsAndIndents) {
  PageBuilder page;
  page.lines(50, 100, {"The first paragraph has two lines, and the second of them", "is shorter."});
  page.lines(50, 140, {"The second one stands a little lower down on the page and", "has two lines as well."});
  page.text(70, 164, "An indented line opens the third paragraph of this page,")
      .text(50, 176, "which goes on here at the margin.");
  EXPECT_EQ(texts_of(blocks_of(page)).size(), 3U);
}

TEST(Blocks, HeadingsAreLargerOrBold) {
  PageBuilder page = with_body(
      PageBuilder().text(50, 100, "A Large Title", {.size = 20}).text(50, 460, "A bold heading", {.bold = true}), 480);
  const auto blocks = blocks_of(page);
  ASSERT_GE(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].kind, BlockKind::heading);
  EXPECT_EQ(blocks[0].level, 1);
  EXPECT_EQ(blocks[1].kind, BlockKind::heading);
  EXPECT_GT(blocks[1].level, blocks[0].level);
  EXPECT_EQ(blocks[2].kind, BlockKind::paragraph);
}

TEST(Blocks, BoldSentencesAreNoHeadings) {
  const auto blocks =
      blocks_of(with_body(PageBuilder().text(50, 460, "This is important, so it is bold.", {.bold = true}), 490));
  EXPECT_EQ(first_of(blocks, BlockKind::heading), nullptr);
}

TEST(Blocks, ListsNestByIndent) {
  PageBuilder page;
  page.text(50, 100, "• first").text(50, 114, "• second").text(70, 128, "• inner").text(50, 142, "• third");
  const auto blocks = blocks_of(page);
  ASSERT_EQ(blocks.size(), 4U);
  for (const Block& b : blocks) EXPECT_EQ(b.kind, BlockKind::list_item);
  EXPECT_EQ(blocks[2].level, 1);
  EXPECT_EQ(blocks[3].level, 0);
  EXPECT_EQ(blocks[0].text, "first");
  EXPECT_EQ(blocks[0].marker, "-");
}

TEST(Blocks, OrderedItemsKeepTheirNumbersAndTheirWrappedLines) {
  PageBuilder page;
  page.text(50, 100, "3. The third item is long enough to need another line, which")
      .text(62, 112, "is indented.")
      .text(50, 126, "4. The fourth.");
  const auto blocks = blocks_of(page);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].marker, "3.");
  EXPECT_EQ(blocks[0].text, "The third item is long enough to need another line, which is indented.");
  EXPECT_EQ(blocks[1].marker, "4.");
}

TEST(Blocks, CodeKeepsLinesAndIndents) {
  PageBuilder page = with_body(PageBuilder());
  page.text(50, 600, "int main() {", {.mono = true})
      .text(70, 612, "return 0;", {.mono = true})
      .text(50, 624, "}", {.mono = true});
  const auto blocks = blocks_of(page);
  const Block* code = first_of(blocks, BlockKind::code);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->text, "int main() {\n    return 0;\n}");
}

TEST(Blocks, CaptionsAndFootnotes) {
  PageBuilder page = with_body(PageBuilder().text(50, 460, "Figure 3: What the machine looks like", {.size = 9}));
  page.text(50, 750, "1 A note at the foot of the page.", {.size = 8});
  const auto blocks = blocks_of(page);
  ASSERT_NE(first_of(blocks, BlockKind::caption), nullptr);
  const Block* note = first_of(blocks, BlockKind::footnote);
  ASSERT_NE(note, nullptr);
  EXPECT_EQ(note->marker, "1");
}

TEST(Blocks, LabelsBelongToTheirDrawing) {
  PageBuilder page = with_body(PageBuilder());
  page.drawing(50, 100, 350, 400)
      .text(80, 150, "pump")
      .text(200, 300, "valve")
      .text(50, 420, "Figure 1: Pump and valve");
  const auto blocks = blocks_of(page);
  const Block* figure = first_of(blocks, BlockKind::figure);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(figure->text, "pump\nvalve");
  EXPECT_THAT(texts_of(blocks), testing::Not(testing::Contains("pump")));
}

// Whatever is taken for a drawing, the page keeps its words.
TEST(Blocks, WordsThatAreMostOfThePageDoNotVanishIntoADrawing) {
  PageBuilder page;
  page.drawing(50, 100, 450, 420, 170).text(50, 80, "Yields", {.size = 10});
  for (int row = 0; row < 12; ++row) {
    const float y = 115 + 25 * static_cast<float>(row);
    for (int column = 0; column < 4; ++column)
      page.text(60 + 100 * static_cast<float>(column), y, std::to_string(1000 + 10 * row + column));
  }
  const auto blocks = blocks_of(page);
  std::string all;
  for (const Block& b : blocks) {
    if (b.kind == BlockKind::figure)
      EXPECT_EQ(b.text, "");
    else
      all += b.text + "\n";
  }
  EXPECT_THAT(all, testing::HasSubstr("1000"));
  EXPECT_THAT(all, testing::HasSubstr("1113"));
}

TEST(Blocks, ALongTextBesideADrawingLeavesItItsManyLabels) {
  PageBuilder page;
  for (int i = 0; i < 10; ++i) page = with_body(std::move(page), 420 + 36 * static_cast<float>(i));
  page.drawing(50, 50, 450, 400);
  for (int row = 0; row < 13; ++row) {
    for (int column = 0; column < 3; ++column)
      page.text(60 + 100 * static_cast<float>(column), 65 + 25 * static_cast<float>(row), "label");
  }
  const auto blocks = blocks_of(page);
  const Block* figure = first_of(blocks, BlockKind::figure);
  ASSERT_NE(figure, nullptr);
  EXPECT_EQ(std::ranges::count(figure->text, '\n'), 12);
  EXPECT_EQ(std::ranges::count_if(blocks, [](const Block& b) { return b.text.contains("label"); }), 1);
}

TEST(Blocks, ADiagramAloneOnItsPageStaysAFigure) {
  PageBuilder page;
  page.drawing(50, 100, 350, 400).text(80, 150, "pump").text(200, 300, "valve").text(100, 350, "tank");
  const auto blocks = blocks_of(page);
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].kind, BlockKind::figure);
  EXPECT_EQ(blocks[0].text, "pump\nvalve\ntank");
}

TEST(Blocks, ProseInAFrameStaysInTheFlow) {
  PageBuilder page;
  page.drawing(40, 80, 460, 140, 4);
  page.lines(50, 95,
             {"A box around text is there to make it stand out and the text in",
              "it is to be read where it stands in the order of the page, as it",
              "would be without the box, line after line after line."});
  const auto blocks = blocks_of(page);
  EXPECT_EQ(first_of(blocks, BlockKind::figure), nullptr);
  EXPECT_FALSE(blocks.empty());
}

TEST(Blocks, SmallPicturesAreNoFigures) {
  PageBuilder page = with_body(PageBuilder().picture(10, 10, 20, 20).picture(100, 100, 300, 300));
  const auto blocks = blocks_of(page);
  EXPECT_EQ(std::ranges::count(blocks, BlockKind::figure, &Block::kind), 1);
}

TEST(Blocks, ParagraphsGoOnInTheNextColumn) {
  PageBuilder page;
  page.lines(50, 100,
             {"The left column has running text of", "several lines and the last of them does",
              "not end the sentence but breaks off and"});
  page.lines(310, 100,
             {"goes on at the top of the right column", "where it ends. Then there is more text",
              "until the page is full of it at last."});
  const auto blocks = blocks_of(page);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_TRUE(blocks[0].continues);
}

TEST(Blocks, InitialsReturnToTheirWord) {
  PageBuilder page;
  page.text(50, 124, "O", {.size = 36});
  page.lines(70, 100, {"nce upon a time there was a page with", "an initial that spans two of its lines and"});
  page.text(50, 124, "").lines(50, 124, {"then the text goes on below the letter here."});
  EXPECT_THAT(texts_of(blocks_of(page)).front(), testing::StartsWith("Once upon a time"));
}

TEST(Blocks, MarginStampsLeaveTheFlow) {
  PageBuilder page = with_body(PageBuilder());
  page.text(20, 400, "stamp", {.angle = 270});
  const auto blocks = blocks_of(page);
  const Block* stamp = first_of(blocks, BlockKind::page_header);
  ASSERT_NE(stamp, nullptr);
}

TEST(Blocks, ContentsLoseTheirDots) {
  PageBuilder page;
  page.text(50, 100, "Preface . . . . . . . . . xi")
      .text(50, 114, "1.1 Roles . . . . . . . . 8")
      .text(50, 128, "1.2 Duties. . . . . . . . 10");
  const auto blocks = blocks_of(page);
  ASSERT_EQ(blocks.size(), 1U);
  ASSERT_EQ(blocks[0].kind, BlockKind::table);
  EXPECT_EQ(blocks[0].table.cells[2].text, "1.1 Roles");
  EXPECT_EQ(blocks[0].table.cells[3].text, "8");
}

TEST(Blocks, BoxesComeBackInPageCoordinates) {
  PageBuilder page(600, 800);
  page.text(100, 300, "upside down", {.angle = 180});
  const auto blocks = blocks_of(page);
  ASSERT_FALSE(blocks.empty());
  EXPECT_NEAR(blocks[0].bbox.y0, 292, 1);
  EXPECT_NEAR(blocks[0].bbox.x0, 100, 1);
}

}  // namespace
}  // namespace lectern::reading
