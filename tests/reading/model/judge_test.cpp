#include "reading/model/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reading/model/real_text.h"

namespace lectern::reading {
namespace {

using provider::FinishReason;

struct Given {
  std::string text;
  FinishReason finish = FinishReason::stop;
  std::optional<double> logprob = std::nullopt;
  std::string words = {};
  bool blank = false;
  const Repetition* loop = nullptr;
  double confidence_min = 0;
};

Judgement judged(const Given& given) {
  provider::Reply reply;
  reply.text = given.text;
  reply.finish = given.finish;
  reply.mean_logprob = given.logprob;
  return judge_reply({.reply = reply,
                      .text = given.text,
                      .loop = given.loop,
                      .evidence = {.words = given.words, .blank = given.blank},
                      .confidence_min = given.confidence_min});
}

TEST(Judge, EachFaultHasItsVerdict) {
  const Repetition loop{.begins_at = 3, .unit = "again", .times = 40};
  struct Case {
    const char* name;
    Given given;
    Verdict verdict;
    std::string why;  // a part of it
  };
  const Case cases[] = {
      {"an ordinary answer", {.text = prose()}, Verdict::good, "no token probabilities"},
      {"the token limit", {.text = prose(), .finish = FinishReason::length}, Verdict::truncated, "token limit"},
      {"a server that stops",
       {.text = prose(), .finish = FinishReason::abort},
       Verdict::truncated,
       "gave the answer up"},
      {"nothing before the limit", {.text = "", .finish = FinishReason::length}, Verdict::truncated, "token limit"},
      {"a filter", {.text = "", .finish = FinishReason::content_filter}, Verdict::refused, "content filter"},
      {"a loop", {.text = prose(), .finish = FinishReason::cut, .loop = &loop}, Verdict::looping, "\"again\" 40 times"},
      {"a loop that the server saw", {.text = prose(), .finish = FinishReason::repetition}, Verdict::looping, "server"},
      {"cut for another reason", {.text = prose(), .finish = FinishReason::cut}, Verdict::truncated, "cut"},
      {"nothing, though the page has words", {.text = " \n", .words = prose()}, Verdict::empty, "although"},
      {"nothing on a blank page", {.text = "", .blank = true}, Verdict::good, "blank"},
      {"nothing, and nobody knows", {.text = ""}, Verdict::empty, "not known"},
      {"a refusal", {.text = "I'm sorry, but I can't assist with that."}, Verdict::refused, "declined"},
      {"with a typographic apostrophe",
       {.text = "I’m unable to transcribe this document."},
       Verdict::refused,
       "declined"},
      {"in Portuguese", {.text = "Desculpe, mas não posso ajudar com isso."}, Verdict::refused, "declined"},
      {"in German", {.text = "Es tut mir leid, aber dabei kann ich nicht helfen."}, Verdict::refused, "declined"},
      {"in Chinese", {.text = "抱歉，我无法查看这张图片。"}, Verdict::refused, "declined"},
      {"in Japanese",
       {.text = "申し訳ありませんが、この画像を読み取ることができません。"},
       Verdict::refused,
       "declined"},
      {"a sorry letter", {.text = "I'm sorry that we missed you on Friday. Call again.\n\nTom"}, Verdict::good, ""},
      {"a page that says so itself",
       {.text = "I'm sorry, but I cannot process your request until the fee is paid.",
        .words = "I'm sorry, but I cannot process your request until the fee is paid."},
       Verdict::good,
       "100%"},
      {"a long page that begins sorry",
       {.text = "I'm sorry, I can't help with the image. " + prose()},
       Verdict::good,
       ""},
      {"an open table, nobody says why",
       {.text = "<table><tr><td>a", .finish = FinishReason::unknown},
       Verdict::truncated,
       "a table"},
      {"an open row",
       {.text = "| a | b |\n|---|---|\n| c |\n| d", .finish = FinishReason::unknown},
       Verdict::truncated,
       "a table"},
      {"an open fence", {.text = "text\n```\ncode", .finish = FinishReason::unknown}, Verdict::truncated, "code"},
      {"an open formula", {.text = "text\n$$\nx", .finish = FinishReason::unknown}, Verdict::truncated, "formula"},
      {"closed things",
       {.text = "<table></table>\n```\nx\n```\n$$\nx\n$$\n$$y$$", .finish = FinishReason::unknown},
       Verdict::good,
       ""},
      {"an open table, but the model was done",
       {.text = "<table><tr><td>a", .finish = FinishReason::stop},
       Verdict::good,
       ""},
      {"improbable tokens",
       {.text = prose(), .logprob = std::log(0.6), .confidence_min = 0.85},
       Verdict::doubtful,
       "0.60"},
      {"other words than the page's",
       {.text = prose(), .words = prose_cjk(), .confidence_min = 0.85},
       Verdict::doubtful,
       "0%"},
      {"nothing to judge by is not doubtful", {.text = prose(), .confidence_min = 0.85}, Verdict::good, "no words"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Judgement judgement = judged(c.given);
    EXPECT_EQ(to_string(judgement.verdict), to_string(c.verdict)) << judgement.why;
    EXPECT_NE(judgement.why.find(c.why), std::string::npos) << judgement.why;
    EXPECT_FALSE(judgement.why.empty());
    EXPECT_GE(judgement.confidence, 0);
    EXPECT_LE(judgement.confidence, 1);
    if (c.verdict == Verdict::refused || c.verdict == Verdict::empty) EXPECT_EQ(judgement.confidence, 0);
    if (c.verdict == Verdict::looping || c.verdict == Verdict::truncated) EXPECT_LE(judgement.confidence, 0.5);
  }
}

TEST(Judge, ConfidenceComesFromProbabilitiesAndWords) {
  EXPECT_NEAR(judged({.text = prose(), .logprob = std::log(0.93)}).confidence, 0.93, 1e-9);
  EXPECT_NEAR(judged({.text = prose()}).confidence, 0.7, 1e-9);
  const double both = judged({.text = prose(), .logprob = std::log(0.93), .words = prose()}).confidence;
  EXPECT_GT(both, 0.93);
  EXPECT_GT(judged({.text = prose(), .words = prose()}).confidence, 0.95);
  const std::string half = prose().substr(0, prose().size() / 3);
  const double less = judged({.text = half, .logprob = std::log(0.93), .words = prose()}).confidence;
  EXPECT_LT(less, 0.85);
  EXPECT_GT(less, 0.5);
  EXPECT_LT(judged({.text = prose(), .logprob = -INFINITY}).confidence, 0.71);  // no probability at all
  EXPECT_EQ(judged({.text = prose()}).agreement, std::nullopt);
  EXPECT_NEAR(judged({.text = prose(), .words = prose()}).agreement.value_or(0), 1, 1e-9);
}

TEST(Judge, WordAgreement) {
  struct Case {
    const char* name;
    std::string a;
    std::string b;
    double least;
    double most;
  };
  const std::string text = "The fund for the new roof stood at a little over four thousand pounds on Tuesday.";
  const Case cases[] = {
      {"the same", text, text, 1, 1},
      {"other order", text, "on Tuesday, pounds thousand four over little a at stood roof new the for fund the", 1, 1},
      {"case and markup", text,
       "# THE **FUND** for the *new* roof\n\n| stood | at a |\n|---|---|\n| little | over <b>four</b> thousand | "
       "[pounds](http://x.y/z) on Tuesday",
       1, 1},
      {"tags", text,
       "<table><tr><td>The fund for the new roof</td><td colspan=\"2\">stood at a little over four thousand pounds on "
       "Tuesday.</td></tr></table>",
       1, 1},
      {"hyphens at line ends", text,
       "The fund for the new roof stood at a lit-\ntle over four thou-\nsand pounds on Tuesday.", 1, 1},
      {"apostrophes", "don't can't won't it's we're they're isn't aren't",
       "don’t can’t won’t it’s we’re they’re isn’t aren’t", 1, 1},
      {"ligatures", "the ﬁrst oﬃce ﬂoor is a ﬁne place to work", "the first office floor is a fine place to work", 1,
       1},
      {"numbers", "Sum 1,234.56 and 7 and 8.50 and 99 and 2024-05-01",
       "Sum 1.234,56 and 7 and 8,50 and 99 and 2024-05-01", 1, 1},
      {"other numbers", "1 2 3 4 5 6 7 8 9 10", "11 12 13 14 15 16 17 18 19 20", 0, 0},
      {"a third is missing", text, "The fund for the new roof stood at a little over", 0.7, 0.85},
      {"a word once and again", "no no no no no no no no no no", "no yes yes yes yes yes yes yes yes yes", 0.1, 0.1},
      {"Chinese", "委员会于星期二在小礼堂开会，听取了报告。", "委员会于星期二在小礼堂开会 听取了报告", 1, 1},
      {"Chinese with an error", "委员会于星期二在小礼堂开会听取了报告", "委员会于星期三在小礼堂开会听取了报告", 0.8,
       0.95},
      {"other Chinese", "委员会于星期二在小礼堂开会听取了报告", "主席说他将与排水部门联系没有其他事项", 0, 0.1},
      {"Cyrillic case", "КОМИТЕТ СОБРАЛСЯ ВО ВТОРНИК В МАЛОМ ЗАЛЕ И ВЫСЛУШАЛ",
       "комитет собрался во вторник в малом зале и выслушал", 1, 1},
      {"much against little", text, "roof", 0.05, 0.2},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const auto agreement = word_agreement(c.a, c.b);
    ASSERT_TRUE(agreement);
    EXPECT_GE(*agreement, c.least - 1e-9);
    EXPECT_LE(*agreement, c.most + 1e-9);
    EXPECT_EQ(word_agreement(c.b, c.a), agreement);
  }
  EXPECT_EQ(word_agreement("two words", "and three words"), std::nullopt);
  EXPECT_EQ(word_agreement("", ""), std::nullopt);
}

}  // namespace
}  // namespace lectern::reading
