#include "reading/layout/document_pass.h"

#include <gtest/gtest.h>

#include "reading/layout/running_lines.h"

namespace lectern::reading {
namespace {

Block block(BlockKind kind, std::string text, float y, float size = 10, bool bold = false) {
  Block b;
  b.kind = kind;
  b.text = std::move(text);
  b.bbox = {50, y, 400, y + size};
  b.font_size_pt = size;
  b.bold = bold;
  return b;
}

PageResult page_with(int number, std::vector<Block> blocks) {
  PageResult p;
  p.page = number;
  p.size = {600, 800};
  p.blocks = std::move(blocks);
  return p;
}

Block body(float y = 400) {
  Block b = block(
      BlockKind::paragraph,
      "Running text of some length, so that the document has a usual size of type that everything else is judged by.",
      y);
  b.bbox.y1 = y + 60;
  return b;
}

void pass_over(std::vector<PageResult>& pages, const std::vector<document::OutlineEntry>& outline = {}) {
  DocumentPass pass;
  pass.outline(outline);
  for (const PageResult& p : pages) pass.observe(p);
  for (auto p = pages.rbegin(); p != pages.rend(); ++p) pass.finish(*p);  // the order does not matter
}

TEST(DocumentPass, RunningLinesAreFoundModuloNumbers) {
  std::vector<PageResult> pages;
  for (int n = 1; n <= 4; ++n) {
    pages.push_back(page_with(n, {block(BlockKind::paragraph, "The Annual Report", 20), body(),
                                  block(BlockKind::paragraph, "Page " + std::to_string(n) + " of 4", 770)}));
  }
  pass_over(pages);
  for (const PageResult& p : pages) {
    EXPECT_EQ(p.blocks[0].kind, BlockKind::page_header);
    EXPECT_EQ(p.blocks[1].kind, BlockKind::paragraph);
    EXPECT_EQ(p.blocks[2].kind, BlockKind::page_footer);
  }
}

TEST(DocumentPass, LeftAndRightPagesMayDiffer) {
  std::vector<PageResult> pages;
  for (int n = 1; n <= 6; ++n) {
    pages.push_back(page_with(
        n, {block(BlockKind::paragraph, n % 2 == 0 ? "A Book about Layout" : "Chapter One: Columns", 20), body()}));
  }
  pass_over(pages);
  for (const PageResult& p : pages) EXPECT_EQ(p.blocks[0].kind, BlockKind::page_header) << p.page;
}

TEST(DocumentPass, ChapterTitlesRunWhereOthersRun) {
  std::vector<PageResult> pages;
  for (int n = 1; n <= 5; ++n)
    pages.push_back(page_with(
        n, {body(), block(BlockKind::paragraph, n == 3 ? "Something else entirely" : "The same line", 760, 8)}));
  pass_over(pages);
  EXPECT_EQ(pages[2].blocks[1].kind, BlockKind::page_footer);
}

TEST(DocumentPass, APageNumberAloneNeedsNoOtherPage) {
  std::vector<PageResult> pages = {page_with(1, {body(), block(BlockKind::paragraph, "- 7 -", 770)})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[1].kind, BlockKind::page_footer);
}

TEST(DocumentPass, AFootnoteIsNoFooter) {
  std::vector<PageResult> pages = {
      page_with(1, {body(), block(BlockKind::footnote, "1 A sample counts as met when it is.", 760, 8)})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[1].kind, BlockKind::footnote);
}

TEST(DocumentPass, ABylineUnderATitleIsNoHeader) {
  std::vector<PageResult> pages = {
      page_with(1, {block(BlockKind::heading, "River Quality in the Alder Valley", 55, 20, true),
                    block(BlockKind::paragraph, "Miriam Osei and Jonas Lindqvist, 3 February 2026", 80, 9), body()})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[1].kind, BlockKind::paragraph);
}

// Contracts and forms repeat their clauses: what stands under a heading is no running header.
TEST(DocumentPass, AParagraphThatComesAgainUnderAHeadingStays) {
  for (const float height : {25.0F, 10.0F}) {
    std::vector<PageResult> pages;
    for (int n = 1; n <= 3; ++n) {
      Block clause = block(BlockKind::paragraph, "The same standing clause opens each part of this agreement.", 84);
      clause.bbox.y1 = clause.bbox.y0 + height;
      const std::string part = n == 1 ? "Definitions" : n == 2 ? "What the parties owe" : "Termination";
      pages.push_back(page_with(n, {block(BlockKind::paragraph, "An Agreement, page " + std::to_string(n), 30),
                                    block(BlockKind::heading, part, 55, 16, true), clause, body()}));
    }
    pass_over(pages);
    for (const PageResult& p : pages) {
      SCOPED_TRACE(p.page);
      EXPECT_EQ(p.blocks[0].kind, BlockKind::page_header);
      EXPECT_EQ(p.blocks[1].kind, BlockKind::heading);
      EXPECT_EQ(p.blocks[2].kind, BlockKind::paragraph);
    }
  }
}

TEST(DocumentPass, ALetterheadRunsUnderItsOwnTitle) {
  std::vector<PageResult> pages;
  for (int n = 1; n <= 3; ++n)
    pages.push_back(page_with(n, {block(BlockKind::heading, "Osei and Sons", 30, 16, true),
                                  block(BlockKind::paragraph, "4 Harbour Road, Alder", 55), body()}));
  pass_over(pages);
  for (const PageResult& p : pages) EXPECT_EQ(p.blocks[1].kind, BlockKind::page_header);
}

TEST(DocumentPass, TextInTheMarginOfOnePageStays) {
  std::vector<PageResult> pages = {page_with(1, {block(BlockKind::paragraph, "Dear Sir or Madam", 60), body()})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[0].kind, BlockKind::paragraph);
}

TEST(DocumentPass, LevelsFollowSizes) {
  std::vector<PageResult> pages = {
      page_with(1, {block(BlockKind::heading, "The title of the whole document", 100, 24, true),
                    block(BlockKind::heading, "Part", 140, 16, true), body(),
                    block(BlockKind::heading, "Part again", 480, 16, true)})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[0].level, 1);
  EXPECT_EQ(pages[0].blocks[1].level, 2);
  EXPECT_EQ(pages[0].blocks[3].level, 2);
}

TEST(DocumentPass, ThereIsOneTitleAtMost) {
  std::vector<PageResult> pages;
  for (int n = 1; n <= 3; ++n)
    pages.push_back(page_with(
        n, {block(BlockKind::heading, "Chapter title " + std::string(1, static_cast<char>('A' + n)), 150, 20, true),
            body()}));
  pass_over(pages);
  for (const PageResult& p : pages) EXPECT_EQ(p.blocks[0].level, 2);
}

TEST(DocumentPass, NumberingSaysTheDepth) {
  std::vector<PageResult> pages = {page_with(1, {block(BlockKind::heading, "The title of it all", 100, 24, true),
                                                 block(BlockKind::heading, "1 First", 150, 14, true), body(200),
                                                 block(BlockKind::heading, "1.1 Inner", 300, 14.5F, true), body(330),
                                                 block(BlockKind::heading, "1.2 Inner", 420, 14.5F, true), body(450),
                                                 block(BlockKind::heading, "2 Second", 550, 14, true)})};
  pass_over(pages);
  EXPECT_EQ(pages[0].blocks[0].level, 1);
  EXPECT_LT(pages[0].blocks[1].level, pages[0].blocks[3].level);
}

TEST(DocumentPass, TheOutlineNamesHeadings) {
  std::vector<PageResult> pages = {page_with(
      1, {block(BlockKind::paragraph, "A plain heading", 100), body(), block(BlockKind::paragraph, "Not one", 500)})};
  pass_over(pages, {{1, "Book", 1}, {2, "A Plain Heading", 1}});
  EXPECT_EQ(pages[0].blocks[0].kind, BlockKind::heading);
  EXPECT_EQ(pages[0].blocks[0].level, 2);
  EXPECT_EQ(pages[0].blocks[2].kind, BlockKind::paragraph);
}

TEST(DocumentPass, LargeForItsPageIsNotLargeForTheDocument) {
  std::vector<PageResult> pages = {page_with(1, {body(), body(500)}),
                                   page_with(2, {block(BlockKind::heading, "As large as body text", 100, 10),
                                                 block(BlockKind::paragraph, "tiny", 200, 6)})};
  pass_over(pages);
  EXPECT_EQ(pages[1].blocks[0].kind, BlockKind::paragraph);
}

TEST(DocumentPass, ParagraphsGoOnOverThePageBreak) {
  std::vector<PageResult> pages = {
      page_with(1, {body(), block(BlockKind::paragraph, "this sentence breaks off and", 500)}),
      page_with(2, {block(BlockKind::paragraph, "goes on over here.", 150), body()})};
  pass_over(pages);
  EXPECT_TRUE(pages[0].blocks[1].continues);
  EXPECT_FALSE(pages[1].blocks[1].continues);
}

TEST(DocumentPass, UnknownAndFailedPagesAreLeftAlone) {
  DocumentPass pass;
  PageResult failed = page_with(1, {});
  failed.error = "it did not render";
  pass.observe(failed);
  pass.finish(failed);
  EXPECT_TRUE(failed.blocks.empty());
  PageResult unknown = page_with(9, {block(BlockKind::paragraph, "7", 770)});
  pass.finish(unknown);
  EXPECT_EQ(unknown.blocks[0].kind, BlockKind::paragraph);
}

TEST(RunningLines, Shapes) {
  EXPECT_EQ(layout::shape_of("Page 12 of 30"), "page # of #");
  EXPECT_EQ(layout::shape_of("xiv"), "#");
  EXPECT_EQ(layout::shape_of("7-45"), "#-#");
}

}  // namespace
}  // namespace lectern::reading
