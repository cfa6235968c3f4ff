#include "reading/model/reply_text.h"

#include <gtest/gtest.h>

#include "reading/model/grounding.h"
#include "reading/model/real_text.h"
#include "reading/model/reply_wrapping.h"

namespace lectern::reading {
namespace {

constexpr ReplyContext page{.page_size = {999, 1998}};

std::string markdown_of(std::string_view reply) {
  return reply_text(reply, page).markdown;
}

TEST(ReplyText, WhatModelsWrapAroundAPageIsTakenOff) {
  struct Case {
    const char* name;
    std::string reply;
    std::string markdown;
  };
  const std::string body = "# Title\n\nSome text.\n";
  const Case cases[] = {
      {"nothing", "", ""},
      {"a plain page", body, body},
      {"line ends and blank lines", "# Title\r\n\r\n\r\n\r\nSome text.  \r\rmore\t\r\n\n\n",
       "# Title\n\nSome text.\n\nmore\n"},
      {"a break of a line stays", "one  \ntwo", "one  \ntwo\n"},
      {"blank lines in code stay", "```\na\n\n\n\nb\n```\n\n\n\nc", "```\na\n\n\n\nb\n```\n\nc\n"},
      {"control characters", std::string("a\x01\x00 b\x7F", 6), "a b\n"},
      {"broken UTF-8", "a\xFF\xC3 b", "a\xEF\xBF\xBD\xEF\xBF\xBD b\n"},
      {"thoughts", "<think>\nThe page shows…\n</think>\n\n" + body, body},
      {"thoughts without their beginning", "The page shows…\n</think>\n\n" + body, body},
      {"thoughts without their end", "<think>\nThe page shows", ""},
      {"special tokens", "<|im_start|>" + body + "<|im_end|>", body},
      {"the end of a sentence", body + "<｜end▁of▁sentence｜>", body},
      {"tokens at the ends", "<s> " + body + "</s></s>", body},
      {"struck text stays", "a <s>b</s> c", "a <s>b</s> c\n"},
      {"a fence", "```markdown\n" + body + "```", body},
      {"a fence without its end", "```markdown\n" + body, body},
      {"a fence with code inside", "```md\n# A\n\n```py\nx\n```\n\nb\n```", "# A\n\n```py\nx\n```\n\nb\n"},
      {"a bare fence", "```\n" + body + "```\n", body},
      {"code is no wrapping", "```python\nprint(1)\n```", "```python\nprint(1)\n```\n"},
      {"two pieces of code", "```\na\n```\n\n```\nb\n```", "```\na\n```\n\n```\nb\n```\n"},
      {"a preamble", "Here is the transcription of the page:\n\n" + body, body},
      {"a preamble and a fence",
       "Sure! Here's the markdown:\n```markdown\n" + body + "```\nLet me know if you need anything else!", body},
      {"a pleasantry and a fence", "Certainly!\n\n```markdown\n" + body + "```", body},
      {"two remarks and a rule",
       "Sure!\n\nBelow is the extracted text:\n\n---\n\n" + body +
           "\n---\n\nI hope this helps! Let me know if you need more.",
       body},
      {"Portuguese", "Aqui está a transcrição da imagem:\n\n" + body, body},
      {"Chinese", "以下是图片中的文字内容：\n\n" + body, body},
      {"a closing remark that speaks of the task",
       body + "\nLet me know if you'd like the transcription in another format.", body},
      {"a page that begins so", "Here is the schedule:\n\nMonday: rain\n", "Here is the schedule:\n\nMonday: rain\n"},
      {"a letter that begins so", "Sure!\n\nI will come on Friday.\n", "Sure!\n\nI will come on Friday.\n"},
      {"a letter that ends so", "Dear Tom,\n\nLet me know if you can come.\n",
       "Dear Tom,\n\nLet me know if you can come.\n"},
      {"a preamble alone", "Here is the transcription:", "Here is the transcription:\n"},
      {"a sentence about transcribing", "Here is the transcription of the tape, which was made in 1970.\n\nA: Hello.",
       "Here is the transcription of the tape, which was made in 1970.\n\nA: Hello.\n"},
      {"JSON", R"({"markdown": "# Title\n\nSome text."})", body},
      {"JSON in a fence", "```json\n{\"text\": \"# Title\\n\\nSome text.\"}\n```", body},
      {"JSON that breaks off", R"({"primary_language": "en", "natural_text": "# Title\n\nSome text.\u00)", body},
      {"JSON of the page's own", R"({"name": "Tom", "text": "x"})", "{\"name\": \"Tom\", \"text\": \"x\"}\n"},
      {"front matter",
       "---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\nis_table: False\nis_diagram: "
       "False\n---\n" +
           body,
       body},
      {"front matter without its end", "---\nprimary_language: en\nis_rotation_valid: True\n\n" + body, body},
      {"front matter in a fence", "```markdown\n---\nprimary_language: en\nis_table: False\n---\n" + body + "```",
       body},
      {"a page with a rule", "---\n\nTitle: x\n\n---\n\ny", "---\n\nTitle: x\n\n---\n\ny\n"},
      {"a blank page", "[blank page]", ""},
      {"no text", "There is no text in the image.", ""},
      {"left blank on purpose", "This page intentionally left blank.", "This page intentionally left blank.\n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(markdown_of(c.reply), c.markdown);
  }
}

TEST(ReplyText, FrontMatterIsHeard) {
  struct Case {
    const char* name;
    std::string reply;
    std::optional<int> rotation;
    bool diagram;
    bool nothing;
  };
  const Case cases[] = {
      {"upright",
       "---\nprimary_language: en\nis_rotation_valid: True\nrotation_correction: 0\nis_table: False\nis_diagram: "
       "False\n---\ntext",
       0, false, false},
      {"turned", "---\nis_rotation_valid: False\nrotation_correction: 90\nis_diagram: True\n---\ntext", 90, true,
       false},
      {"valid wins", "---\nis_rotation_valid: true\nrotation_correction: 180\n---\ntext", 0, false, false},
      {"nonsense", "---\nis_rotation_valid: False\nrotation_correction: 45\n---\ntext", std::nullopt, false, false},
      {"nothing follows", "---\nprimary_language: null\nis_rotation_valid: True\nis_diagram: False\n---\n", 0, false,
       true},
      {"null follows", "---\nprimary_language: null\nis_rotation_valid: True\n---\nnull", 0, false, true},
      {"JSON",
       R"({"primary_language": "en", "is_rotation_valid": false, "rotation_correction": 270, "is_table": false, "is_diagram": true, "natural_text": "x"})",
       270, true, false},
      {"JSON of nothing",
       R"({"primary_language": null, "is_rotation_valid": true, "rotation_correction": 0, "natural_text": null})", 0,
       false, true},
      {"none", "text", std::nullopt, false, false},
      {"an empty reply says nothing, but does not say so", "", std::nullopt, false, false},
      {"a blank page", "(Blank page)", std::nullopt, false, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const ReplyText text = reply_text(c.reply, page);
    EXPECT_EQ(text.rotation, c.rotation);
    EXPECT_EQ(text.diagram, c.diagram);
    EXPECT_EQ(text.said_nothing, c.nothing);
    if (c.nothing) EXPECT_EQ(text.markdown, "");
  }
}

TEST(ReplyText, GroundingBecomesBlocksWithBoxes) {
  const ReplyText text = reply_text(
      "<|ref|>title<|/ref|><|det|>[[100, 50, 899, 90]]<|/det|>\n# Annual report\n\n"
      "<|ref|>sub_title<|/ref|><|det|>[[100, 100, 500, 120]]<|/det|>\nThe year\n\n"
      "<|ref|>text<|/ref|><|det|>[[100, 130, 899, 200], [100, 210, 899, 300]]<|/det|>\nIt was *good*.\n\n"
      "<|ref|>image<|/ref|><|det|>[[200, 300, 400, 500]]<|/det|>\n\n"
      "<|ref|>image_caption<|/ref|><|det|>[[200, 510, 400, 530]]<|/det|>\n<center>Figure 1: growth</center>\n\n"
      "<|ref|>table<|/ref|><|det|>[[100, 550, 899, 700]]<|/det|>\n<table><tr><td>A</td><td>B</td></tr></table>\n\n"
      "<|ref|>equation<|/ref|><|det|>[[100, 710, 899, 760]]<|/det|>\n\\[x \\coloneqq 1\\]\n\n"
      "<|ref|>footer<|/ref|><|det|>[[100, 950, 899, 980]]<|/det|>\nPage 3\n",
      page);
  EXPECT_EQ(text.markdown,
            "# Annual report\n\n## The year\n\nIt was *good*.\n\n![](figure:0)\n\nFigure 1: growth\n\n"
            "<table><tr><td>A</td><td>B</td></tr></table>\n\n\\[x := 1\\]\n\nPage 3\n");
  using enum BlockKind;
  const std::vector<BlockKind> kinds = {heading, heading, paragraph, figure, caption, table, formula, page_footer};
  ASSERT_EQ(text.blocks.size(), kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(static_cast<int>(text.blocks[i].kind), static_cast<int>(kinds[i])) << i;
  EXPECT_EQ(text.blocks[0].level, 1);
  EXPECT_EQ(text.blocks[1].level, 2);
  EXPECT_EQ(text.blocks[0].bbox, (RectPt{100, 100, 899, 180}));
  EXPECT_EQ(text.blocks[2].bbox, (RectPt{100, 260, 899, 600}));  // of both boxes
  EXPECT_EQ(text.blocks[2].text, "It was good.");
  EXPECT_EQ(text.blocks[5].table.columns, 2);
  EXPECT_EQ(text.blocks[6].text, "x := 1");
  ASSERT_EQ(text.figures.size(), 1U);
  EXPECT_EQ(text.figures[0].block, 3U);
  EXPECT_EQ(text.figures[0].box, (RectPt{200, 600, 400, 1000}));
  EXPECT_EQ(text.blocks[3].file, "figure:0");
}

TEST(ReplyText, FiguresGetNamesOrLoseTheirLinks) {
  const std::string reply =
      "a\n\n<|ref|>image<|/ref|><|det|>[[0, 0, 9, 9], [10, 10, 20, 20]]<|/det|>\n\n<|ref|>text<|/ref|><|det|>[[1, 1, "
      "2, 2]]<|/det|>\nb";
  ReplyText text = reply_text(reply, page);
  EXPECT_EQ(text.markdown, "a\n\n![](figure:0)\n\n![](figure:1)\n\nb\n");
  ASSERT_EQ(text.figures.size(), 2U);
  ReplyText named = text;
  name_figures(named, {"My figures/1.png", "2.png"});
  EXPECT_EQ(named.markdown, "a\n\n![](My%20figures/1.png)\n\n![](2.png)\n\nb\n");
  EXPECT_EQ(named.blocks[named.figures[0].block].file, "My figures/1.png");
  name_figures(text, {"", "2.png"});
  EXPECT_EQ(text.markdown, "a\n\n![](2.png)\n\nb\n");
  EXPECT_EQ(text.blocks[text.figures[0].block].file, "");
  ReplyText bare = reply_text(reply, page);
  name_figures(bare, {});
  EXPECT_EQ(bare.markdown, "a\n\nb\n");
}

TEST(ReplyText, DamagedGroundingLosesNoWords) {
  struct Case {
    const char* name;
    std::string reply;
    std::string markdown;
    std::size_t blocks;
  };
  const Case cases[] = {
      {"text outside", "before\n<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\ninside", "before\n\ninside\n", 2},
      {"det breaks off", "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\na\n<|ref|>text<|/ref|><|det|>[[1, 2", "a\n",
       1},
      {"ref breaks off", "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\na\n<|ref|>tex", "a\ntex\n", 1},
      {"no det", "<|ref|>the red house<|/ref|> is here", "the red house is here\n", 1},
      {"det without ref", "a <|det|>[[1, 2, 3, 4]]<|/det|> b", "a  b\n", 1},
      {"det not closed",
       "<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]\nwords\n<|ref|>text<|/ref|><|det|>[[5, 6, 7, 8]]<|/det|>\nmore",
       "words\n\nmore\n", 2},
      {"words in det", "<|ref|>text<|/ref|><|det|>__import__('os')<|/det|>\na", "__import__('os')\n\na\n", 2},
      {"lines as labels",
       "<|ref|>Hello, world<|/ref|><|det|>[[1, 2, 30, 40]]<|/det|>\n<|ref|>Total 12<|/ref|><|det|>[[1, 50, 30, "
       "60]]<|/det|>\n",
       "Hello, world\n\nTotal 12\n", 2},
      {"an unknown label", "<|ref|>seal<|/ref|><|det|>[[1, 2, 30, 40]]<|/det|>\nCity of Kendal", "City of Kendal\n", 1},
      {"stray marks", "a<|/ref|>b<|/det|>c", "abc\n", 1},
      {"a figure of nowhere", "<|ref|>image<|/ref|><|det|>[]<|/det|>\nwords", "words\n", 1},
      {"a mark inside a link that looks like ours", "a](<|/det|>figure:0)", "a](figure-0)\n", 1},
      {"a link that looks like ours", "![](figure:7)\n<|ref|>text<|/ref|><|det|>[[1, 2, 3, 4]]<|/det|>\na",
       "![](figure-7)\n\na\n", 2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const ReplyText text = reply_text(c.reply, page);
    EXPECT_EQ(text.markdown, c.markdown);
    EXPECT_EQ(text.blocks.size(), c.blocks);
  }
}

TEST(ReplyText, BoxesAreClampedAndPutInOrder) {
  struct Case {
    std::string list;
    std::vector<GroundedBox> boxes;
  };
  const Case cases[] = {
      {"[[1, 2, 3, 4]]", {{1, 2, 3, 4}}},
      {"[[1,2,3,4],[5,6,7,8]]", {{1, 2, 3, 4}, {5, 6, 7, 8}}},
      {"[[30, 40, 10, 20]]", {{10, 20, 30, 40}}},
      {"[[-5, 0, 1200, 1e9]]", {{0, 0, 999, 999}}},
      {"[[1.9, 2.5, 3.1, 4.0]]", {{1, 2, 3, 4}}},
      {"[[5, 5, 5, 9]]", {}},
      {"[[1, 2, 3]]", {}},
      {"[[1, 2, 3, 4], [5, 6", {{1, 2, 3, 4}}},
      {"[[99999999999999999999999999, 0, 1, 1e999]]", {{1, 0, 999, 999}}},
      {"", {}},
      {"None", {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.list);
    EXPECT_EQ(grounded_boxes(c.list), c.boxes);
  }
}

TEST(ReplyText, RealPagesAreUntouched) {
  for (const RealText& real : real_texts()) {
    SCOPED_TRACE(real.name);
    const ReplyText text = reply_text(real.text, page);
    EXPECT_EQ(markdown_of(text.markdown), text.markdown);  // a second time changes nothing
    EXPECT_FALSE(text.said_nothing);
    EXPECT_FALSE(text.blocks.empty());
  }
}

}  // namespace
}  // namespace lectern::reading
