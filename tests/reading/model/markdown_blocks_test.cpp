#include <gtest/gtest.h>

#include <random>

#include "reading/model/reply_text.h"
#include "reading/output/render.h"

namespace lectern::reading {
namespace {

using enum BlockKind;

struct Wanted {
  BlockKind kind;
  std::string text;
  int level = 0;
  std::string marker = {};
};
struct Case {
  const char* name;
  std::string markdown;
  std::vector<Wanted> blocks;
};

TEST(MarkdownBlocks, EachConstructBecomesItsBlock) {
  const std::vector<Case> cases = {
      {"nothing", "", {}},
      {"blank lines", "\n  \n\t\n", {}},
      {"headings",
       "# One\n## Two ##\n###### Six\n####### seven",
       {{heading, "One", 1}, {heading, "Two", 2}, {heading, "Six", 6}, {paragraph, "####### seven"}}},
      {"a heading directly after a paragraph",
       "text\n# One\nmore",
       {{paragraph, "text"}, {heading, "One", 1}, {paragraph, "more"}}},
      {"underlined headings",
       "One\n===\n\nTwo\n---\n\nthree",
       {{heading, "One", 1}, {heading, "Two", 2}, {paragraph, "three"}}},
      {"a tag is no heading", "#tag", {{paragraph, "#tag"}}},
      {"a rule separates", "a\n\n---\n\nb\n\n***\n\nc", {{paragraph, "a"}, {paragraph, "b"}, {paragraph, "c"}}},
      {"long lines are joined",
       "The committee met on Tuesday in the small hall, and heard\nthe report of the treasurer.",
       {{paragraph, "The committee met on Tuesday in the small hall, and heard the report of the treasurer."}}},
      {"short lines stay lines", "Mill Lane 4\nKendal\nEngland", {{paragraph, "Mill Lane 4\nKendal\nEngland"}}},
      {"ideographs are joined without blanks",
       "委员会于星期二在小礼堂开会，听取了司库关于新屋顶基金的报\n告。",
       {{paragraph, "委员会于星期二在小礼堂开会，听取了司库关于新屋顶基金的报告。"}}},
      {"lists",
       "- a\n- b\n  - c\n    - d\n- e",
       {{list_item, "a", 0, "-"},
        {list_item, "b", 0, "-"},
        {list_item, "c", 1, "-"},
        {list_item, "d", 2, "-"},
        {list_item, "e", 0, "-"}}},
      {"numbers",
       "1. a\n2. b\n   * c\n10) d",
       {{list_item, "a", 0, "1."}, {list_item, "b", 0, "2."}, {list_item, "c", 1, "-"}, {list_item, "d", 0, "10)"}}},
      {"an item goes on",
       "- It was agreed to write to two other firms, and then\n  to wait.\n\nAfter",
       {{list_item, "It was agreed to write to two other firms, and then to wait.", 0, "-"}, {paragraph, "After"}}},
      {"tasks", "- [ ] open\n- [x] done", {{list_item, "[ ] open", 0, "-"}, {list_item, "[x] done", 0, "-"}}},
      {"a minus is no list",
       "-5 degrees\n\n2024.05 was warm",
       {{paragraph, "-5 degrees"}, {paragraph, "2024.05 was warm"}}},
      {"code", "```cpp\nint a;\n\n  b\n```\nafter", {{code, "int a;\n\n  b"}, {paragraph, "after"}}},
      {"code that is not closed", "before\n~~~\n# no heading", {{paragraph, "before"}, {code, "# no heading"}}},
      {"a longer fence holds a shorter one", "````\n```\n````", {{code, "```"}}},
      {"quotes", "> # A\n> b\n> > c\n\nd", {{heading, "A", 1}, {paragraph, "b"}, {paragraph, "c"}, {paragraph, "d"}}},
      {"footnotes", "See.[^1]\n\n[^1]: The *note*.", {{paragraph, "See.[^1]"}, {footnote, "The note.", 0, "1"}}},
      {"a formula in one line", "$$ a^2 + b^2 $$", {{formula, "a^2 + b^2"}}},
      {"a formula in lines",
       "text\n$$\na_1 * b\n$$\nmore",
       {{paragraph, "text"}, {formula, "a_1 * b"}, {paragraph, "more"}}},
      {"a formula in brackets", "\\[\nx = 1\n\\]", {{formula, "x = 1"}}},
      {"dollars are money", "$$ is a shop\n\nand so on", {{paragraph, "$$ is a shop"}, {paragraph, "and so on"}}},
      {"a picture", "![A *map* of Kendal](page_1.png)", {{figure, "A map of Kendal"}}},
      {"a comment", "a\n<!-- figure -->\nb", {{paragraph, "a"}, {paragraph, "b"}}},
      {"inline marks",
       "**Bold** and *it* and __b__ and _i_ and ~~s~~ and `c*d` and [l](http://x) and snake_case_name and 2*3*4 and "
       "H<sub>2</sub>O",
       {{paragraph, "Bold and it and b and i and s and c*d and l and snake_case_name and 2*3*4 and H2O"}}},
      {"unbalanced marks are text", "a ** b * c _ d ~~ e ` f [g](h", {{paragraph, "a ** b * c _ d ~~ e ` f [g](h"}}},
      {"escapes and entities",
       R"(1\. a \* b &amp; &lt;c&gt; &#8364; &unknown;)",
       {{paragraph, "1. a * b & <c> € &unknown;"}}},
      {"formulas in a line keep their signs",
       "where $a_i * b_i$ and $c * d$",
       {{paragraph, "where $a_i * b_i$ and $c * d$"}}},
      {"tags", "one<br>two <b>three</b> <u>four</u> <xyz>", {{paragraph, "one\ntwo three four <xyz>"}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto blocks = blocks_of_markdown(c.markdown);
    ASSERT_EQ(blocks.size(), c.blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      EXPECT_EQ(static_cast<int>(blocks[i].kind), static_cast<int>(c.blocks[i].kind)) << blocks[i].text;
      EXPECT_EQ(blocks[i].text, c.blocks[i].text);
      EXPECT_EQ(blocks[i].level, c.blocks[i].level) << blocks[i].text;
      EXPECT_EQ(blocks[i].marker, c.blocks[i].marker) << blocks[i].text;
    }
  }
}

// Rows as "a|b", spans as "a(2x1)", headers as "a!".
std::string shown(const Table& table) {
  std::string out = std::to_string(table.rows) + "x" + std::to_string(table.columns) + ":";
  int row = -1;
  for (const TableCell& cell : table.cells) {
    out += cell.row != row ? " /" : "|";
    row = cell.row;
    out += std::to_string(cell.column) + cell.text;
    if (cell.header) out += "!";
    if (cell.row_span != 1 || cell.column_span != 1)
      out += "(" + std::to_string(cell.row_span) + "x" + std::to_string(cell.column_span) + ")";
  }
  return out;
}

TEST(MarkdownBlocks, TablesOfPipesAndTags) {
  struct TableCase {
    const char* name;
    std::string markdown;
    std::string table;
    std::size_t blocks = 1;
  };
  const TableCase cases[] = {
      {"pipes", "| A | B |\n|---|:-:|\n| 1 | 2 |", "2x2: /0A!|1B! /01|12"},
      {"without outer bars", "A | B\n--- | ---\n1 | 2", "2x2: /0A!|1B! /01|12"},
      {"without a header", "| 1 | 2 |\n| 3 | 4 |", "2x2: /01|12 /03|14"},
      {"ragged", "| A | B |\n|---|---|\n| 1 |\n| 2 | 3 | 4 |", "3x3: /0A!|1B!|2! /01|1|2 /02|13|24"},
      {"bars in cells", "| A |\n|---|\n| a \\| b `c|d` |", "2x1: /0A! /0a | b `c|d`"},
      {"breaks in cells", "| A |\n|---|\n| a<br>b |", "2x1: /0A! /0a\nb"},
      {"emphasis stays", "| A |\n|---|\n| **a** __b__ |", "2x1: /0A! /0**a** **b**"},
      {"empty cells", "| A | B |\n|---|---|\n|  |  |", "2x2: /0A!|1B! /0|1"},
      {"after a paragraph, before one", "Text:\n| A | B |\n|---|---|\n| 1 | 2 |\nmore", "2x2: /0A!|1B! /01|12", 3},
      {"tags", "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>", "2x2: /0A!|1B! /01|12"},
      {"over lines, with attributes",
       "<table border=\"1\">\n <thead><tr>\n<td>A</td></tr></thead>\n<tr><td class='x'>1</td></tr>\n</table>\n",
       "2x1: /0A! /01"},
      {"spans", "<table><tr><td rowspan=\"2\">A</td><td colspan=2>B</td></tr><tr><td>1</td><td>2</td></tr></table>",
       "2x3: /0A(2x1)|1B(1x2) /11|22"},
      {"spans beyond the table", "<table><tr><td rowspan=\"9\" colspan='3'>A</td></tr></table>", "1x3: /0A(1x3)"},
      {"not closed", "<table><tr><td>A<td>B<tr><td>1</td><td>2 cut", "2x2: /0A|1B /01|12 cut"},
      {"marks in cells", "<table><tr><td><b>A</b><br/>x<sup>2</sup> &amp; y</td></tr></table>",
       "1x1: /0**A**\nx<sup>2</sup> \\& y"},
      {"a table in a cell", "<table><tr><td>A<table><tr><td>b</td><td>c</td></tr></table></td><td>D</td></tr></table>",
       "1x2: /0A   b  c|1D"},
      {"a caption", "<table><caption>Prices</caption><tr><td>A</td></tr></table>", "1x1: /0A", 2},
      {"in the middle of a line", "Before <table><tr><td>A</td></tr></table> after", "1x1: /0A", 3},
      {"cells without a row", "<table><td>A</td><td>B</td></table>", "1x2: /0A|1B"},
  };
  for (const TableCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto blocks = blocks_of_markdown(c.markdown);
    ASSERT_EQ(blocks.size(), c.blocks);
    const auto table = std::ranges::find(blocks, BlockKind::table, &Block::kind);
    ASSERT_NE(table, blocks.end());
    EXPECT_EQ(shown(table->table), c.table);
  }
}

TEST(MarkdownBlocks, BlocksRenderLikeAnyOthers) {
  PageResult page;
  page.blocks = blocks_of_markdown(
      "# Report\n\nSome **bold** text with a [link](https://example.com) and 5 < 6.\n\n- one\n    - two\n\n| A | B "
      "|\n|---|---|\n| 1 | "
      "2 |\n\n$$x^2$$\n\n```py\nprint(1)\n```\n");
  EXPECT_EQ(to_text(page),
            "Report\n\nSome bold text with a link and 5 < 6.\n\n- one\n  - two\n\nA\tB\n1\t2\n\nx^2\n\nprint(1)\n");
  EXPECT_EQ(to_markdown(page),
            "# Report\n\nSome **bold** text with a [link](https://example.com) and 5 < 6.\n\n- one\n    - two\n\n| A | "
            "B |\n| --- | --- "
            "|\n| 1 | 2 |\n\n$$x^2$$\n\n```py\nprint(1)\n```\n");
  const std::string html = to_html(page);
  for (const char* part : {"<h1>Report</h1>", "<b>bold</b>", "<a href=\"https://example.com\">link</a>", "5 &lt; 6",
                           "<th>A</th>", "<pre><code>print(1)</code></pre>"}) {
    EXPECT_NE(html.find(part), std::string::npos) << part << "\n" << html;
  }
}

// Every word, in order, is in some block, whatever the marks around it.
TEST(MarkdownBlocks, NoWordIsLost) {
  std::mt19937 random(17);
  const std::vector<std::string> pieces = {
      "# ",   "## ",  "- ",      "1. ",         "> ", "\n",     "\n\n",  " ",     " ",      "**",   "*",    "_",
      "`",    "| ",   " |\n",    "|---|---|\n", "$",  "\n$$\n", "```\n", "\n```", "[^1]: ", "<b>",  "</b>", "<br>",
      "<td>", "<tr>", "<table>", "</table>",    "~~", "![",     "[",     "  ",    "    ",   "---\n"};
  for (int trial = 0; trial < 3000; ++trial) {
    std::string markdown;
    std::vector<std::string> words;
    for (int i = 0; i < 25; ++i) {
      markdown += pieces[random() % pieces.size()];
      if (random() % 2 == 0) {
        words.push_back("w" + std::to_string(trial % 10) + "x" + std::to_string(i) + "z");
        markdown += words.back();
      }
    }
    std::string all;
    for (const Block& block : blocks_of_markdown(markdown)) {
      all += block.text + " " + block.marker + " " + block.language + " ";
      for (const TableCell& cell : block.table.cells) all += cell.text + " ";
    }
    for (const std::string& word : words) {
      ASSERT_NE(all.find(word), std::string::npos) << word << " of\n" << markdown << "\nin\n" << all;
    }
  }
}

}  // namespace
}  // namespace lectern::reading
