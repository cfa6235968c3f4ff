#include <gtest/gtest.h>

#include "reading/layout/layout.h"
#include "reading/layout/rule_grid.h"
#include "reading/page_builder.h"

namespace lectern::reading {
namespace {

const Block* table_of(const std::vector<Block>& blocks) {
  const auto it = std::ranges::find(blocks, BlockKind::table, &Block::kind);
  return it == blocks.end() ? nullptr : &*it;
}

std::string cell(const Block& block, int row, int column) {
  for (const TableCell& c : block.table.cells) {
    if (c.row == row && c.column == column) return c.text;
  }
  return "(none)";
}

TEST(Tables, RuledGrid) {
  PageBuilder page;
  page.grid({50, 150, 250, 350}, {100, 120, 140, 160});
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c)
      page.text(55 + 100 * static_cast<float>(c), 114 + 20 * static_cast<float>(r),
                std::string("r") + std::to_string(r) + "c" + std::to_string(c));
  }
  const auto blocks = layout_text_layer(page.content());
  const Block* table = table_of(blocks);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(blocks.size(), 1U);
  EXPECT_EQ(table->table.rows, 3);
  EXPECT_EQ(table->table.columns, 3);
  EXPECT_EQ(cell(*table, 1, 2), "r1c2");
  EXPECT_TRUE(table->table.cells.front().header);
}

TEST(Tables, SpanningCellsAreKept) {
  PageBuilder page;
  page.rule(50, 100, 350, 100).rule(50, 120, 350, 120).rule(50, 140, 350, 140);
  page.rule(50, 100, 50, 140).rule(350, 100, 350, 140).rule(200, 120, 200, 140);
  page.text(120, 114, "A heading over both columns").text(60, 134, "left").text(210, 134, "right");
  const auto blocks = layout_text_layer(page.content());
  const Block* table = table_of(blocks);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->table.cells.front().column_span, 2);
  EXPECT_EQ(cell(*table, 1, 1), "right");
}

TEST(Tables, WrappedCellsAreOneCell) {
  PageBuilder page;
  page.grid({50, 150, 350}, {100, 140, 180});
  page.text(55, 114, "name")
      .text(155, 114, "a description that is")
      .text(155, 126, "wrapped")
      .text(55, 154, "other")
      .text(155, 154, "short");
  const auto blocks = layout_text_layer(page.content());
  ASSERT_NE(table_of(blocks), nullptr);
  EXPECT_EQ(cell(*table_of(blocks), 0, 1), "a description that is wrapped");
}

TEST(Tables, RulesAboveAndBelowMarkATable) {
  PageBuilder page;
  page.rule(50, 90, 400, 90).rule(50, 106, 400, 106).rule(50, 150, 400, 150);
  const std::initializer_list<float> ys = {102, 118, 130, 142};
  int r = 0;
  for (const float y : ys) {
    page.text(50, y, r == 0 ? "Name" : "item " + std::to_string(r))
        .text(200, y, r == 0 ? "Count" : std::to_string(10 * r))
        .text(320, y, r == 0 ? "Share" : std::to_string(r) + "%");
    ++r;
  }
  const auto blocks = layout_text_layer(page.content());
  const Block* table = table_of(blocks);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->table.rows, 4);
  EXPECT_EQ(table->table.columns, 3);
  EXPECT_EQ(cell(*table, 2, 1), "20");
}

TEST(Tables, UnruledColumnsOfShortTexts) {
  PageBuilder page;
  for (int r = 0; r < 5; ++r) {
    const float y = 100 + 14 * static_cast<float>(r);
    page.text(50, y, "state " + std::to_string(r))
        .text(200, y, std::to_string(100 + r))
        .text(300, y, std::to_string(200 + r));
  }
  const auto blocks = layout_text_layer(page.content());
  ASSERT_NE(table_of(blocks), nullptr);
  EXPECT_EQ(table_of(blocks)->table.columns, 3);
  EXPECT_EQ(cell(*table_of(blocks), 4, 2), "204");
}

TEST(Tables, ProseInTwoColumnsIsNoTable) {
  PageBuilder page;
  for (int r = 0; r < 8; ++r) {
    const float y = 100 + 12 * static_cast<float>(r);
    page.text(50, y, "left column text that fills its line quite")
        .text(310, y, "right column text that fills it as well as");
  }
  EXPECT_EQ(table_of(layout_text_layer(page.content())), nullptr);
}

TEST(Tables, WideSpacesInAJustifiedLineAreNoColumns) {
  PageBuilder page;
  page.text(50, 100, "Readings since then can already be downloaded");
  page.text(50, 112, "from").text(110, 112, "here;").text(175, 112, "questions").text(260, 112, "to");
  page.text(50, 124, "the office, which answers every one of them.");
  const auto blocks = layout_text_layer(page.content());
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].kind, BlockKind::paragraph);
}

TEST(Tables, AHeadingUnderATableIsNoRowOfIt) {
  PageBuilder page;
  for (int r = 0; r < 4; ++r) {
    const float y = 100 + 14 * static_cast<float>(r);
    page.text(50, y, "state " + std::to_string(r))
        .text(200, y, std::to_string(100 + r))
        .text(300, y, std::to_string(200 + r));
  }
  page.text(50, 180, "4 Money", {.size = 13, .bold = true});
  const auto blocks = layout_text_layer(page.content());
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].table.rows, 4);
  EXPECT_EQ(blocks[1].kind, BlockKind::heading);
}

TEST(Tables, LabelsAndValuesOfAFormComeTogether) {
  PageBuilder page;
  page.text(50, 100, "Full name")
      .text(200, 97, "Ines Carvalho")
      .text(50, 130, "Born")
      .text(200, 127, "1991-06-23")
      .text(50, 160, "Street")
      .text(200, 157, "Rua 18");
  const auto blocks = layout_text_layer(page.content());
  ASSERT_NE(table_of(blocks), nullptr);
  EXPECT_EQ(cell(*table_of(blocks), 0, 0), "Full name");
  EXPECT_EQ(cell(*table_of(blocks), 0, 1), "Ines Carvalho");
}

TEST(Tables, TintedRowsAreReadByTheirWhite) {
  PageBuilder page;
  for (int r = 0; r < 6; ++r) {
    const float y = 100 + 16 * static_cast<float>(r);
    if (r % 2 == 0) page.fill(45, y - 11, 145, y + 4).fill(145, y - 11, 245, y + 4).fill(245, y - 11, 345, y + 4);
    page.text(50, y, "state " + std::to_string(r))
        .text(170, y, std::to_string(100 + r))
        .text(270, y, std::to_string(200 + r));
  }
  const auto blocks = layout_text_layer(page.content());
  const Block* table = table_of(blocks);
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->table.rows, 6);
  EXPECT_EQ(table->table.columns, 3);
  EXPECT_EQ(cell(*table, 3, 1), "103");
}

TEST(Tables, AFrameAroundProseIsNoTable) {
  PageBuilder page;
  page.rule(40, 80, 560, 80)
      .rule(40, 300, 560, 300)
      .rule(40, 80, 40, 300)
      .rule(560, 80, 560, 300)
      .rule(40, 100, 560, 100);
  page.text(50, 94, "A framed box");
  for (int i = 0; i < 12; ++i)
    page.text(50, 115 + 13 * static_cast<float>(i),
              "The box holds running text that goes on for many lines, much longer than a cell's.");
  EXPECT_EQ(table_of(layout_text_layer(page.content())), nullptr);
}

TEST(Tables, AFramedListingIsCode) {
  PageBuilder page;
  page.lines(
      50, 60,
      {"Running text that goes on for a line or two, so that the page is not all", "code: it is set in another face."});
  const char* const lines[] = {"int twice(int a) {", "return 2 * a;", "}"};
  for (int i = 0; i < 3; ++i) {
    const float y = 110 + 11 * static_cast<float>(i);
    page.fill(44, y - 8, 400, y + 3);
    page.text(i == 1 ? 68.0F : 50.0F, y, lines[i], {.size = 9, .mono = true});
  }
  page.rule(40, 100, 404, 100).rule(40, 137, 404, 137).rule(40, 100, 40, 137).rule(404, 100, 404, 137);
  const auto blocks = layout_text_layer(page.content());
  EXPECT_EQ(table_of(blocks), nullptr);
  const auto code = std::ranges::find(blocks, BlockKind::code, &Block::kind);
  ASSERT_NE(code, blocks.end());
  EXPECT_EQ(code->text, "int twice(int a) {\n    return 2 * a;\n}");
}

TEST(Tables, AListBetweenRulesIsAList) {
  PageBuilder page;
  page.rule(40, 80, 560, 80).rule(40, 160, 560, 160);
  for (int i = 0; i < 5; ++i) {
    const float y = 95 + 13 * static_cast<float>(i);
    page.text(60, y, "●").text(85, y, "item number " + std::to_string(i));
  }
  const auto blocks = layout_text_layer(page.content());
  EXPECT_EQ(table_of(blocks), nullptr);
  ASSERT_EQ(blocks.size(), 5U);
  for (const Block& b : blocks) EXPECT_EQ(b.kind, BlockKind::list_item);
  EXPECT_EQ(blocks[4].text, "item number 4");
}

TEST(Tables, AnEmptyGridIsAChart) {
  PageBuilder page;
  page.grid({50, 100, 150, 200, 250, 300, 350}, {100, 120, 140, 160, 180, 200});
  page.text(60, 90, "Sales");
  EXPECT_EQ(table_of(layout_text_layer(page.content())), nullptr);
}

TEST(Tables, RightToLeftTablesBeginOnTheRight) {
  PageBuilder page;
  page.grid({50, 200, 350}, {100, 120, 140});
  page.rtl(340, 114, "שם").rtl(190, 114, "ערך").rtl(340, 134, "אחד").rtl(190, 134, "שניים");
  const auto blocks = layout_text_layer(page.content());
  ASSERT_NE(table_of(blocks), nullptr);
  EXPECT_EQ(cell(*table_of(blocks), 0, 0), "שם");
  EXPECT_EQ(cell(*table_of(blocks), 0, 1), "ערך");
}

TEST(RuleGrid, PiecesOfOneLineAreMerged) {
  document::PageContent page;
  page.size = {600, 800};
  for (int i = 0; i < 10; ++i)
    page.rules.push_back({{50 + 10.0F * static_cast<float>(i), 100, 58 + 10.0F * static_cast<float>(i), 100.5F}, 0});
  const layout::Edges edges = layout::collect_edges(page, layout::EdgeSource::rules);
  ASSERT_EQ(edges.horizontal.size(), 1U);
  EXPECT_NEAR(edges.horizontal[0].to - edges.horizontal[0].from, 98, 0.01);
}

}  // namespace
}  // namespace lectern::reading
