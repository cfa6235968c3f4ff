#include "reading/output/page_break.h"

namespace lectern::reading {
namespace {

Block block(BlockKind kind, std::string text, bool continues = false) {
  Block b;
  b.kind = kind;
  b.text = std::move(text);
  b.continues = continues;
  return b;
}

PageResult page(int number, std::vector<Block> blocks) {
  PageResult result;
  result.page = number;
  result.blocks = std::move(blocks);
  return result;
}

std::vector<std::string> texts(const PageResult& page) {
  std::vector<std::string> texts;
  for (const Block& b : page.blocks) texts.push_back(b.text);
  return texts;
}

using enum BlockKind;
using Texts = std::vector<std::string>;

TEST(PageBreak, AParagraphThatGoesOnIsWhole) {
  PageResult first =
      page(1, {block(paragraph, "The river met its", true), block(footnote, "1 a note"), block(page_footer, "Page 1")});
  PageResult second = page(
      2, {block(page_header, "River report"), block(paragraph, "limits in most samples."), block(paragraph, "Next.")});
  join_over_break(first, second);
  EXPECT_EQ(texts(first), (Texts{"The river met its limits in most samples.", "1 a note", "Page 1"}));
  EXPECT_FALSE(first.blocks[0].continues);
  EXPECT_EQ(texts(second), (Texts{"River report", "Next."}));
}

TEST(PageBreak, EmphasisOnEitherSideIsKept) {
  PageResult first = page(1, {block(paragraph, "*a* and", true)});
  PageResult second = page(2, {block(paragraph, "so on")});
  second.blocks[0].markdown = "*so* on";
  join_over_break(first, second);
  EXPECT_EQ(first.blocks[0].text, "*a* and so on");
  EXPECT_EQ(first.blocks[0].markdown, "\\*a\\* and *so* on");
}

TEST(PageBreak, TheOtherPartMayItselfBeInTwoColumns) {
  PageResult first = page(1, {block(paragraph, "one", true)});
  PageResult second = page(2, {block(paragraph, "two", true), block(paragraph, "three"), block(paragraph, "Four")});
  join_over_break(first, second);
  EXPECT_EQ(texts(first), Texts{"one two three"});
  EXPECT_EQ(texts(second), Texts{"Four"});
}

TEST(PageBreak, OtherwiseNothingMoves) {
  struct Case {
    std::string_view name;
    PageResult first;
    PageResult second;
  };
  const Case cases[] = {
      {"it does not go on", page(1, {block(paragraph, "a")}), page(2, {block(paragraph, "b")})},
      {"pages between are missing", page(1, {block(paragraph, "a", true)}), page(3, {block(paragraph, "b")})},
      {"a list comes first", page(1, {block(paragraph, "a", true)}),
       page(2, {block(list_item, "x"), block(paragraph, "b")})},
      {"a heading came last", page(1, {block(paragraph, "a", true), block(heading, "h")}),
       page(2, {block(paragraph, "b")})},
      {"the next page failed", page(1, {block(paragraph, "a", true)}), page(2, {})},
      {"this page is blank", page(1, {}), page(2, {block(paragraph, "b")})},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    PageResult first = c.first;
    PageResult second = c.second;
    join_over_break(first, second);
    EXPECT_EQ(texts(first), texts(c.first));
    EXPECT_EQ(texts(second), texts(c.second));
  }
}

}  // namespace
}  // namespace lectern::reading
