#include "reading/layout/inline_text.h"

#include <gtest/gtest.h>

#include "reading/layout/unicode.h"
#include "reading/page_builder.h"

namespace lectern::reading::layout {
namespace {

struct Page {
  std::vector<Line> lines;
  Vocabulary vocabulary;
  std::vector<document::Link> links;
  explicit Page(PageBuilder page) {
    Glyphs glyphs = clean_glyphs(page.content());
    std::vector<Word> words = make_words(glyphs.upright, page.content().fonts);
    attach_links(words, page.content().links);
    lines = make_segments(std::move(words));
    vocabulary.add(lines);
    links = page.content().links;
  }
  InlineText all(const InlineOptions& options = {}) const { return inline_text(lines, links, vocabulary, options); }
};

TEST(InlineText, JoinsLines) {
  struct Case {
    const char* name;
    const char* first;
    const char* second;
    const char* joined;
  };
  const Case cases[] = {
      {"a space between lines", "one line", "and another", "one line and another"},
      {"a broken word is mended", "a hyphen-", "ated word", "a hyphenated word"},
      {"upper case keeps the hyphen", "the Franco-", "Prussian war", "the Franco-Prussian war"},
      {"a word that has a hyphen keeps it", "an up-to-", "date list", "an up-to-date list"},
      {"prefixes that keep theirs", "a self-", "locking nut", "a self-locking nut"},
      {"a dash is no hyphen", "this -", "and that", "this - and that"},
      {"numbers keep it", "1914-", "1918", "1914-1918"},
      {"so do ranges with a dash", "pages 737\u2013", "9 of it", "pages 737\u20139 of it"},
      {"Han text has no spaces", "漢字", "仮名", "漢字仮名"},
      {"Korean has", "한글", "문장", "한글 문장"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Page(PageBuilder().lines(50, 100, {c.first, c.second})).all().text, c.joined);
  }
}

TEST(InlineText, TheRestOfThePageDecidesAboutAHyphen) {
  const Page page(PageBuilder().lines(50, 100, {"the load-carrying nut", "and the load-", "carrying nut"}));
  EXPECT_EQ(page.all().text, "the load-carrying nut and the load-carrying nut");
}

TEST(InlineText, MarksEmphasis) {
  PageBuilder page;
  page.text(50, 100, "plain ")
      .text(77.5F, 100, "bold", {.bold = true})
      .text(97.5F, 100, ", and ")
      .text(120, 100, "slanted", {.italic = true});
  EXPECT_EQ(Page(page).all().markdown, "plain **bold**, and *slanted*");
  EXPECT_EQ(Page(page).all().text, "plain bold, and slanted");
  EXPECT_EQ(Page(page).all({.emphasis = false}).markdown, "");
}

TEST(InlineText, MarksLinksAndScripts) {
  PageBuilder page;
  page.text(50, 100, "see ").text(67.5F, 100, "here").link(67, 90, 87.6F, 103, "https://example.org/a");
  page.text(88.5F, 96, "1", {.size = 6});
  EXPECT_EQ(Page(page).all().markdown, "see [here](https://example.org/a)<sup>1</sup>");
}

TEST(InlineText, TheSignThatEndsAClauseIsNotPartOfALink) {
  PageBuilder page;
  page.text(50, 100, "see ").text(67.5F, 100, "here;").link(67, 90, 95, 103, "https://example.org/a");
  EXPECT_EQ(Page(page).all().markdown, "see [here](https://example.org/a);");
}

TEST(InlineText, UnsafeLinksAreText) {
  PageBuilder page;
  page.text(50, 100, "click").link(40, 90, 90, 103, "javascript:alert(1)");
  EXPECT_EQ(Page(page).all().markdown, "");
}

TEST(InlineText, LinkedTextIsNoPicture) {
  PageBuilder page;
  page.text(50, 100, "![img](http://example.org/x.png)").link(40, 90, 300, 103, "http://example.org/x.png");
  EXPECT_EQ(Page(page).all().markdown, "[!\\[img\\](http://example.org/x.png)](http://example.org/x.png)");
}

TEST(InlineText, AnExclamationMarkMakesNoPictureOfALink) {
  PageBuilder page;
  page.text(50, 100, "wow!").text(70, 100, "here", {.bold = true}).link(71, 90, 90, 103, "http://example.org/x.png");
  EXPECT_EQ(Page(page).all().markdown, "wow\\![**here**](http://example.org/x.png)");
}

TEST(InlineText, ATargetThatIsNoLinkMakesNoPictureOfText) {
  PageBuilder page;
  page.text(50, 100, "![img]").text(80, 100, "(http://example.org/x.png)", {.family = "Sans"});
  page.link(81, 90, 300, 103, "file:x");
  EXPECT_EQ(Page(page).all().text, "![img](http://example.org/x.png)");
  EXPECT_EQ(Page(page).all().markdown, "");
}

TEST(InlineText, CodeWordsAreCode) {
  PageBuilder page;
  page.text(50, 100, "run ").text(67.5F, 100, "make_all", {.mono = true});
  EXPECT_EQ(Page(page).all({.code = true}).markdown, "run `make_all`");
}

TEST(InlineText, JoinsFinishedTexts) {
  EXPECT_EQ(join_texts("a sen-", "tence"), "a sentence");
  EXPECT_EQ(join_texts("a", "b"), "a b");
  EXPECT_EQ(join_texts("", "b"), "b");
}

}  // namespace
}  // namespace lectern::reading::layout
