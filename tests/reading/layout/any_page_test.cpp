// Whatever a page holds, layout gives blocks: no crash, no endless loop, no text from nowhere.
#include <gtest/gtest.h>

#include <random>

#include "reading/layout/document_pass.h"
#include "reading/layout/layout.h"
#include "reading/output/render.h"
#include "reading/page_builder.h"

namespace lectern::reading {
namespace {

using document::PageContent;

PageContent random_page(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto upto = [&](int n) { return static_cast<int>(random() % static_cast<std::uint32_t>(n)); };
  const auto number = [&] {
    switch (upto(12)) {
      case 0:
        return 0.0F;
      case 1:
        return -50.0F + static_cast<float>(upto(100));
      case 2:
        return static_cast<float>(upto(100'000));
      default:
        return static_cast<float>(upto(8000)) / 10;
    }
  };
  const auto box = [&] {
    const float x = number();
    const float y = number();
    return RectPt{x, y, x + static_cast<float>(upto(60)) / (1 + static_cast<float>(upto(9))),
                  y + static_cast<float>(upto(40)) / 3};
  };
  PageContent page;
  page.page_number = 1;
  page.size = upto(10) == 0 ? SizePt{0, 0} : SizePt{612, 792};
  for (int i = upto(4); i > 0; --i)
    page.fonts.push_back({"Font" + std::to_string(i), upto(2) == 0, upto(2) == 0, upto(3) == 0, false});
  static constexpr std::u32string_view letters =
      U"aZ é1.-•|\n\r \u00AD\u200B\uE001\uFB01שمﻻ漢한()[]*_`#<&=\u0301\x02$∑";
  for (int i = upto(600); i > 0; --i) {
    document::Char c;
    c.code = upto(40) == 0 ? static_cast<char32_t>(random())
                           : letters[static_cast<std::size_t>(upto(static_cast<int>(letters.size())))];
    c.font = static_cast<std::uint16_t>(upto(6));
    c.flags = static_cast<std::uint16_t>(upto(8) == 0 ? upto(32) : 0);
    c.size_pt = upto(6) == 0 ? number() : 10;
    c.angle_deg = upto(12) == 0 ? static_cast<float>(upto(720) - 360) : 0;
    c.box = box();
    c.loose = upto(4) == 0 ? box() : c.box;
    page.chars.push_back(c);
  }
  for (int i = upto(40); i > 0; --i) page.rules.push_back({upto(2) == 0 ? RectPt{50, number(), 400, 0} : box(), 0});
  for (int i = upto(10); i > 0; --i) page.fills.push_back({box(), 0});
  for (int i = upto(5); i > 0; --i) page.pictures.push_back({i, box(), 10, 10, 8, document::ImageCoding::other});
  for (int i = upto(5); i > 0; --i) page.drawings.push_back({box(), upto(50)});
  for (int i = upto(5); i > 0; --i) page.links.push_back({box(), upto(2) == 0 ? "https://example.org" : "", 0});
  return page;
}

TEST(AnyPage, RandomPagesGiveSoundBlocks) {
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    const PageContent content = random_page(seed);
    PageResult page;
    page.page = 1;
    page.size = content.size;
    page.blocks = layout_text_layer(content);
    judge_text_layer(content);
    for (const Block& b : page.blocks) {
      if (b.kind != BlockKind::table) continue;
      for (const TableCell& c : b.table.cells) {
        ASSERT_GE(c.row, 0);
        ASSERT_GE(c.column, 0);
        ASSERT_LE(c.row + c.row_span, b.table.rows);
        ASSERT_LE(c.column + c.column_span, b.table.columns);
      }
    }
    DocumentPass pass;
    pass.observe(page);
    pass.finish(page);
    const std::string markdown = to_markdown(page);
    ASSERT_TRUE(markdown.empty() || markdown.back() == '\n');
    to_text(page);
    to_html(page);
  }
}

TEST(AnyPage, LayoutIsAPureFunction) {
  for (std::uint32_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(layout_text_layer(random_page(seed)), layout_text_layer(random_page(seed))) << seed;
}

TEST(AnyPage, EverythingInOnePlaceEnds) {
  PageContent page;
  page.size = {600, 800};
  for (int i = 0; i < 100'000; ++i) {
    document::Char c;
    c.code = U'a' + static_cast<char32_t>(i % 26);
    c.size_pt = 10;
    c.box = c.loose = {100, 100, 105, 110};
    page.chars.push_back(c);
  }
  EXPECT_LT(layout_text_layer(page).size(), 100U);
}

TEST(AnyPage, FourHundredThousandCharactersEnd) {
  PageBuilder page(6000, 80'000);
  for (int i = 0; i < 4000; ++i) {
    page.text(50, 20 + 12 * static_cast<float>(i),
              "A line of a very long page: words and more words, one after another, to the end of the line here.");
  }
  EXPECT_FALSE(layout_text_layer(page.content()).empty());
}

TEST(AnyPage, ThousandsOfRulesEnd) {
  PageBuilder page;
  for (int i = 0; i < 3000; ++i) {
    page.rule(static_cast<float>(i) * 3, 0, static_cast<float>(i) * 3, 9000)
        .rule(0, static_cast<float>(i) * 3, 9000, static_cast<float>(i) * 3);
  }
  page.text(50, 100, "a map");
  EXPECT_FALSE(layout_text_layer(page.content()).empty());
}

}  // namespace
}  // namespace lectern::reading
