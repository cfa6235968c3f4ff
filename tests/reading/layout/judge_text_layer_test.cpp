#include <gtest/gtest.h>

#include "reading/layout/layout.h"
#include "reading/page_builder.h"

namespace lectern::reading {
namespace {

TEST(JudgeTextLayer, NothingIsMissing) {
  const auto j = judge_text_layer(PageBuilder().content());
  EXPECT_EQ(j.verdict, TextLayer::missing);
  EXPECT_FALSE(j.why.empty());
}

TEST(JudgeTextLayer, PlainTextIsTrusted) {
  const auto j = judge_text_layer(PageBuilder().text(50, 100, "A sentence in a sound encoding.").content());
  EXPECT_EQ(j.verdict, TextLayer::trusted);
  EXPECT_GT(j.score, 0.9);
}

TEST(JudgeTextLayer, OtherScriptsAreTrusted) {
  for (const char* text : {"القوية التي يمكن أن", "日本語の文章です。", "한국어 문장입니다", "Ελληνικά και Кириллица",
                           "x = (a + b) / 2 ≤ 7"}) {
    EXPECT_EQ(judge_text_layer(PageBuilder().text(50, 100, text).content()).verdict, TextLayer::trusted) << text;
  }
}

TEST(JudgeTextLayer, PrivateUseIsGarbled) {
  const auto j = judge_text_layer(PageBuilder().text(50, 100, "\uE001\uE002\uE003\uE004\uE005 ab").content());
  EXPECT_EQ(j.verdict, TextLayer::garbled);
  EXPECT_LT(j.score, 0.5);
}

TEST(JudgeTextLayer, NonsenseWordsAreGarbled) {
  PageBuilder page;
  for (int i = 0; i < 10; ++i) page.text(50, 100 + 12 * static_cast<float>(i), "aBcDe x!y#z q$r%s tUvWx");
  EXPECT_EQ(judge_text_layer(page.content()).verdict, TextLayer::garbled);
}

TEST(JudgeTextLayer, InvisibleTextIsSaidToBe) {
  PageBuilder page;
  page.text(50, 100, "recognised words").flag_last(16, document::Char::invisible);
  EXPECT_EQ(judge_text_layer(page.content()).verdict, TextLayer::invisible);
}

TEST(JudgeTextLayer, AStampOverAScanIsNoTextLayer) {
  PageBuilder page;
  page.picture(0, 0, 600, 800).text(500, 790, "Page 3");
  page.content().full_page_scan = 0;
  EXPECT_EQ(judge_text_layer(page.content()).verdict, TextLayer::missing);
}

}  // namespace
}  // namespace lectern::reading
