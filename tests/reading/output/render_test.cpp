#include "reading/output/render.h"

#include <gtest/gtest.h>

#include "reading/output/escape.h"
#include "reading/output/inline_markdown.h"

namespace lectern::reading {
namespace {

Block block(BlockKind kind, std::string text, int level = 0, std::string marker = {}) {
  Block b;
  b.kind = kind;
  b.text = std::move(text);
  b.level = level;
  b.marker = std::move(marker);
  return b;
}

PageResult page_of(std::vector<Block> blocks) {
  PageResult page;
  page.page = 3;
  page.blocks = std::move(blocks);
  return page;
}

Block table_of(int rows, int columns, std::vector<TableCell> cells) {
  Block b = block(BlockKind::table, "");
  b.table = {rows, columns, std::move(cells)};
  return b;
}

TEST(Markdown, EmptyPageIsEmpty) {
  EXPECT_EQ(to_markdown(page_of({})), "");
}

TEST(Markdown, BlocksArePartedByBlankLinesAndListsAreTight) {
  const auto page = page_of({block(BlockKind::heading, "Title", 2), block(BlockKind::paragraph, "Text."),
                             block(BlockKind::list_item, "one", 0, "-"), block(BlockKind::list_item, "inner", 1, "2."),
                             block(BlockKind::list_item, "marked", 0, "a)"), block(BlockKind::code, "x = 1"),
                             block(BlockKind::page_footer, "17")});
  EXPECT_EQ(to_markdown(page), "## Title\n\nText.\n\n- one\n    2. inner\n- a) marked\n\n```\nx = 1\n```\n");
}

TEST(Markdown, TextIsEscapedOnlyWhereNeeded) {
  struct Case {
    const char* text;
    const char* markdown;
  };
  const Case cases[] = {{"snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"},
                        {"*stars* here", "\\*stars\\* here"},
                        {"one *ALLOBJ", "one *ALLOBJ"},
                        {"a <b> tag", "a \\<b> tag"},
                        {"1 < 2 > 0", "1 < 2 > 0"},
                        {"[a](b)", "[a\\](b)"},
                        {"see [9]", "see [9]"},
                        {"AT&T &amp; co", "AT&T \\&amp; co"},
                        {"_under_", "\\_under\\_"},
                        {"____", "____"},
                        {"C:\\dir", "C:\\dir"}};
  for (const Case& c : cases) EXPECT_EQ(escape_markdown(c.text), c.markdown);
}

// A document's text must not reach out of it when somebody looks at the markdown.
TEST(Markdown, TextIsNoPictureAndNoTag) {
  struct Case {
    const char* text;
    const char* markdown;
  };
  const Case cases[] = {{"![img](http://example.org/x.png)", "![img\\](http://example.org/x.png)\n"},
                        {"[img]: http://example.org/x.png", "\\[img]: http://example.org/x.png\n"},
                        {"as [9]: shows", "as [9]: shows\n"},
                        {"<div hidden", "\\<div hidden\n"},
                        {"see <img src=\"http://example.org/x.png", "see \\<img src=\"http://example.org/x.png\n"},
                        {"<!-- not seen", "\\<!-- not seen\n"},
                        {"a<b and c", "a<b and c\n"}};
  for (const Case& c : cases) EXPECT_EQ(to_markdown(page_of({block(BlockKind::paragraph, c.text)})), c.markdown);
  EXPECT_EQ(to_markdown(page_of({block(BlockKind::list_item, "[img]: http://example.org/", 0, "-")})),
            "- \\[img]: http://example.org/\n");
  EXPECT_EQ(escape_link_text("![img](http://example.org/x.png)\\"), "!\\[img\\](http://example.org/x.png)\\\\");
}

TEST(Markdown, BlockStartsAreGuarded) {
  struct Case {
    const char* text;
    const char* markdown;
  };
  const Case cases[] = {
      {"# 5 pounds", "\\# 5 pounds\n"},   {"#hashtag", "#hashtag\n"},     {"1. not a list", "1\\. not a list\n"},
      {"- 5 degrees", "\\- 5 degrees\n"}, {"-5 degrees", "-5 degrees\n"}, {"> quoted", "\\> quoted\n"},
      {"2024. Was", "2024\\. Was\n"},     {"+ plus", "\\+ plus\n"},       {"---", "\\---\n"}};
  for (const Case& c : cases) EXPECT_EQ(to_markdown(page_of({block(BlockKind::paragraph, c.text)})), c.markdown);
}

TEST(Markdown, PipeTables) {
  const auto page = page_of({table_of(2, 2,
                                      {{0, 0, 1, 1, true, "a|b"},
                                       {0, 1, 1, 1, true, ""},
                                       {1, 0, 1, 1, false, "two\nlines"},
                                       {1, 1, 1, 1, false, "d"}})});
  EXPECT_EQ(to_markdown(page), "| a\\|b | |\n| --- | --- |\n| two<br>lines | d |\n");
}

TEST(Markdown, SpanningCellsComeAsHtml) {
  const auto page = page_of(
      {table_of(2, 2, {{0, 0, 1, 2, true, "**both** <x>"}, {1, 0, 1, 1, false, "l"}, {1, 1, 1, 1, false, "r"}})});
  EXPECT_EQ(
      to_markdown(page),
      "<table>\n  <tr><th colspan=\"2\"><b>both</b> &lt;x&gt;</th></tr>\n  <tr><td>l</td><td>r</td></tr>\n</table>\n");
}

TEST(Markdown, FiguresAreLinkedOnceTheyAreSaved) {
  Block figure = block(BlockKind::figure, "labels\ninside");
  EXPECT_EQ(to_markdown(page_of({figure})), "<!-- figure -->\n");
  figure.file = "figures/p3-1.png";
  EXPECT_EQ(to_markdown(page_of({figure})), "![labels](figures/p3-1.png)\n");
}

TEST(Markdown, FencesAreLongerThanTheCodesOwn) {
  EXPECT_EQ(to_markdown(page_of({block(BlockKind::code, "```\nx\n```")})), "````\n```\nx\n```\n````\n");
}

TEST(Markdown, WhatGoesOnInTheNextColumnIsJoined) {
  Block first = block(BlockKind::paragraph, "a bro-");
  first.continues = true;
  EXPECT_EQ(to_markdown(page_of({first, block(BlockKind::figure, ""), block(BlockKind::paragraph, "ken word")})),
            "a broken word\n\n<!-- figure -->\n");
}

TEST(Text, IsPlain) {
  const auto page =
      page_of({block(BlockKind::heading, "Title", 1), block(BlockKind::list_item, "one", 0, "1."),
               block(BlockKind::figure, "label"), table_of(1, 2, {{0, 0, 1, 1, true, "a"}, {0, 1, 1, 1, true, "b"}})});
  EXPECT_EQ(to_text(page), "Title\n\n1. one\n\na\tb\n");
}

TEST(Text, CellsAreTabSeparatedAndPlain) {
  const auto page = page_of({table_of(1, 3,
                                      {{0, 0, 1, 1, true, "**E-mail**"},
                                       {0, 1, 1, 1, false, "[ines@example.org](mailto:ines@example.org)"},
                                       {0, 2, 1, 1, false, "2 * 3\n\\*four\\*"}})});
  EXPECT_EQ(to_text(page), "E-mail\tines@example.org\t2 * 3 *four*\n");
}

TEST(Html, EscapesEverything) {
  const std::string html = to_html(page_of({block(BlockKind::paragraph, "<script>alert(1)</script> & \"quotes\"")}));
  EXPECT_EQ(
      html,
      "<section data-page=\"3\">\n<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;</p>\n</section>\n");
}

std::string lists_html(std::vector<Block> blocks) {
  const std::string html = to_html(page_of(std::move(blocks)));
  const std::size_t begin = html.find('\n') + 1;
  return html.substr(begin, html.rfind("</section>") - begin);
}

TEST(Html, ListsNestInTheItemThatTheyBelongTo) {
  EXPECT_EQ(lists_html({block(BlockKind::list_item, "a", 0, "-"), block(BlockKind::list_item, "b", 1, "-"),
                        block(BlockKind::list_item, "c", 0, "-"), block(BlockKind::paragraph, "d")}),
            "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul>\n</li>\n<li>c</li>\n</ul>\n<p>d</p>\n");
}

TEST(Html, OrderedListsCountForThemselves) {
  EXPECT_EQ(lists_html({block(BlockKind::list_item, "a", 0, "1."), block(BlockKind::list_item, "b", 0, "2."),
                        block(BlockKind::list_item, "c", 0, "5."), block(BlockKind::list_item, "d", 0, "6.")}),
            "<ol>\n<li>a</li>\n<li>b</li>\n<li value=\"5\">c</li>\n<li>d</li>\n</ol>\n");
  EXPECT_EQ(lists_html({block(BlockKind::list_item, "c", 0, "3)"), block(BlockKind::list_item, "d", 0, "4)")}),
            "<ol start=\"3\">\n<li>c</li>\n<li>d</li>\n</ol>\n");
}

TEST(Html, AListOfAnotherKindIsAnotherList) {
  EXPECT_EQ(lists_html({block(BlockKind::list_item, "a", 0, "1."), block(BlockKind::list_item, "b", 0, "-"),
                        block(BlockKind::list_item, "c", 0, "(iv)")}),
            "<ol>\n<li>a</li>\n</ol>\n<ul>\n<li>b</li>\n<li>(iv) c</li>\n</ul>\n");
}

TEST(Html, ListsMayBeginDeepAndSkipLevels) {
  EXPECT_EQ(lists_html({block(BlockKind::list_item, "a", 2, "-"), block(BlockKind::list_item, "b", 0, "1."),
                        block(BlockKind::list_item, "c", 4, "-")}),
            "<ul>\n<li>a</li>\n</ul>\n<ol>\n<li>b\n<ul>\n<li>c</li>\n</ul>\n</li>\n</ol>\n");
}

TEST(InlineHtml, KnowsWhatLayoutWrites) {
  struct Case {
    const char* markdown;
    const char* html;
  };
  const Case cases[] = {{"**b** *i* ***x*** ~~s~~", "<b>b</b> <i>i</i> <b><i>x</i></b> <s>s</s>"},
                        {"a<sup>2</sup>", "a<sup>2</sup>"},
                        {"[t](https://x.org/?a=1&b=2)", "<a href=\"https://x.org/?a=1&amp;b=2\">t</a>"},
                        {"[t](javascript:x)", "[t](javascript:x)"},
                        {"2 * 3 * 4", "2 * 3 * 4"},
                        {"\\*no\\*", "*no*"},
                        {"<img src=x>", "&lt;img src=x&gt;"},
                        {"`a<b` and ``c`d``", "<code>a&lt;b</code> and <code>c`d</code>"},
                        {"a ` b", "a ` b"},
                        {"[a\\](b)](https://x.org/)", "<a href=\"https://x.org/\">a](b)</a>"},
                        {"[a](<https://x.org/(b)>)", "<a href=\"https://x.org/(b)\">a</a>"},
                        {"**open", "**open"}};
  for (const Case& c : cases) EXPECT_EQ(inline_html(c.markdown), c.html);
}

TEST(InlinePlain, LeavesTheWords) {
  struct Case {
    const char* markdown;
    const char* plain;
  };
  const Case cases[] = {{"**b** *i* ***x*** ~~s~~ `c`", "b i x s c"}, {"a<sup>2</sup>\nb", "a2\nb"},
                        {"[t **u**](https://x.org/)", "t u"},         {"[t](page.html)", "t"},
                        {"2 * 3 * 4 < 5 & 6", "2 * 3 * 4 < 5 & 6"},   {"Name ____ Date ____", "Name ____ Date ____"}};
  for (const Case& c : cases) EXPECT_EQ(inline_plain(c.markdown), c.plain);
}

// What is escaped comes back as it was.
TEST(InlinePlain, UndoesTheEscapes) {
  for (const char* text :
       {"*stars* here", "_under_ ____", "a <b> tag", "[a](b) [c][d]", "AT&T &amp; co", "C:\\dir \\* x", "`a` ~~b~~",
        "![img](http://example.org/x.png)", "<!-- note -->", "<div", "x <img src=y"}) {
    EXPECT_EQ(inline_plain(escape_markdown(text)), text);
    EXPECT_EQ(inline_html(escape_markdown(text)), escape_html(text));
    EXPECT_EQ(inline_plain(escape_link_text(text)), text);
  }
}

}  // namespace
}  // namespace lectern::reading
