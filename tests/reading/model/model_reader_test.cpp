// The ladder as it is climbed: a scripted provider answers, the page is a fake one, everything between is real.
#include "reading/model/model_reader.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <deque>

#include "base/async.h"
#include "reading/model/reply_cache.h"
#include "reading/one_page_document.h"
#include "reading/page_record.h"
#include "run_coroutine.h"
#include "temp_folder.h"

namespace lectern::reading {
namespace {

using provider::Answer;
using provider::FailureReason;
using provider::FinishReason;

const std::string prose =
    "The committee met on Tuesday and agreed that the old bridge should be repaired before winter comes. "
    "The committee met on Tuesday and agreed that the old bridge should be repaired before winter comes.";

Answer says(std::string text, FinishReason finish = FinishReason::stop) {
  provider::Reply reply;
  reply.text = std::move(text);
  reply.finish = finish;
  reply.usage = provider::Usage{.prompt_tokens = 100, .completion_tokens = 10};
  return reply;
}
Answer fails(FailureReason reason) {
  return std::unexpected(provider::Failure{.reason = reason, .message = "the engine said so"});
}

// Answers what the script says, the last line again and again.
class ScriptedProvider final : public provider::Provider {
 public:
  explicit ScriptedProvider(std::deque<Answer> script) : script_(std::move(script)) {}

  asio::awaitable<Answer> invoke(provider::Prompt prompt, provider::CallOptions options) override {
    asked.push_back(prompt);
    deadlines.push_back(options.deadline);
    if (when_asked) when_asked();
    if (hears_stop && options.cancellation.requested()) co_return fails(FailureReason::cancelled);
    Answer answer = script_.front();
    if (script_.size() > 1) script_.pop_front();
    if (answer && options.on_text) {
      for (std::size_t at = 0; at < answer->text.size(); at += 7) {
        if (options.on_text(std::string_view(answer->text).substr(at, 7))) continue;
        answer->text.resize(std::min(answer->text.size(), at + 7));
        answer->finish = FinishReason::cut;
        break;
      }
    }
    co_return answer;
  }
  std::string name() const override { return "scripted"; }

  std::vector<provider::Prompt> asked;
  std::vector<Deadline> deadlines;
  std::function<void()> when_asked;
  bool hears_stop = true;  // false: what it was about to say comes all the same

 private:
  std::deque<Answer> script_;
};

class FakeBuiltin final : public PageReader {
 public:
  asio::awaitable<PageResult> read(std::shared_ptr<document::OpenDocument>, int page_number, FigureSink,
                                   Cancellation) override {
    ++reads;
    PageResult result;
    result.page = page_number;
    result.reader = "builtin";
    result.error = error;
    if (finds_nothing) {
      result.content_class = "blank";
      result.attempts.push_back({"builtin", "ok", "", 1});
    } else if (error.empty()) {
      result.blocks.push_back({.kind = BlockKind::paragraph, .text = "read by OCR"});
      result.attempts.push_back({"builtin", "ok", "", 1});
    }
    co_return result;
  }
  std::string fingerprint() const override { return "fake builtin"; }

  std::string error;
  bool finds_nothing = false;
  int reads = 0;
};

class ModelReaderTest : public testing::Test {
 protected:
  ModelReaderTest() { document_->content = page_of_prose(); }

  PageResult read(std::vector<ScriptedProvider*> models) {
    ModelReaderOptions options;
    for (ScriptedProvider* model : models) {
      options.models.push_back(
          {.provider = model, .name = "model-" + std::to_string(options.models.size() + 1), .size = size_});
    }
    options.builtin = builtin_ ? &*builtin_ : nullptr;
    options.pages_max = [] { return 4; };
    options.cache = cache_ ? &*cache_ : nullptr;
    auto reader = make_model_reader(std::move(options), cpu_, clock_);
    EXPECT_TRUE(reader);
    return run_coroutine(loop_, (*reader)->read(document_, 3, figures_, cancellation_));
  }
  static std::vector<std::string> outcomes(const PageResult& result) {
    std::vector<std::string> all;
    for (const Attempt& attempt : result.attempts) all.push_back(attempt.reader + " " + attempt.outcome);
    return all;
  }
  using Outcomes = std::vector<std::string>;

  CpuPool cpu_{1};
  ManualClock clock_;
  SizePolicy size_;
  asio::io_context loop_;
  std::shared_ptr<OnePageDocument> document_ = std::make_shared<OnePageDocument>();
  std::optional<FakeBuiltin> builtin_ = FakeBuiltin();
  std::optional<ReplyCache> cache_;
  Cancellation cancellation_;
  FigureSink figures_;
};

TEST_F(ModelReaderTest, AGoodAnswerIsThePage) {
  ScriptedProvider model({says("# Bridge\n\n" + prose)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.page, 3);
  EXPECT_EQ(result.markdown, "# Bridge\n\n" + prose + "\n");
  EXPECT_EQ(result.reader, "model");
  EXPECT_EQ(result.model, "model-1");
  EXPECT_EQ(outcomes(result), Outcomes{"model-1 ok"});
  ASSERT_TRUE(result.tokens);
  EXPECT_EQ(result.tokens->prompt, 100);
  ASSERT_TRUE(result.agreement);
  EXPECT_GT(*result.agreement, 0.5);
  ASSERT_EQ(model.asked.size(), 1U);
  EXPECT_EQ(model.asked[0].model, "model-1");
  ASSERT_EQ(model.asked[0].images.size(), 1U);
  EXPECT_EQ(model.asked[0].images[0].media_type, "image/jpeg");
  EXPECT_FALSE(model.asked[0].user.empty());
  ASSERT_EQ(document_->requests.size(), 1U);
  EXPECT_TRUE(document_->requests[0].exact);
  EXPECT_EQ(document_->requests[0].width_px_max % 32, 0);
  EXPECT_EQ(document_->requests[0].height_px_max, 1024);
  EXPECT_EQ(builtin_->reads, 0);
}

TEST_F(ModelReaderTest, AnEmptyPageIsNotAskedAbout) {
  document_->content = {};
  document_->content.size = {595, 842};
  ScriptedProvider model({says("nonsense")});
  const PageResult result = read({&model});
  EXPECT_EQ(result.content_class, "blank");
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(model.asked.empty());
}

TEST_F(ModelReaderTest, ALoopIsCutAndAskedAboutOtherwise) {
  std::string loop = prose + "\n";
  for (int i = 0; i < 2000; ++i) loop += "and so on and on. ";
  ScriptedProvider model({says(loop), says(prose)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.markdown, prose + "\n");
  EXPECT_EQ(outcomes(result), (Outcomes{"model-1 looping", "model-1 ok"}));
  ASSERT_EQ(model.asked.size(), 2U);
  EXPECT_GT(model.asked[1].parameters.repetition_penalty.value_or(1), 1);
  EXPECT_GT(model.asked[1].parameters.temperature, 0);
  EXPECT_EQ(document_->requests.size(), 1U) << "the same picture serves again";
}

TEST_F(ModelReaderTest, ATruncatedAnswerIsAskedForInHalves) {
  ScriptedProvider model(
      {says(prose, FinishReason::length), says("First half of the page."), says("Second half of it.")});
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.markdown, "First half of the page.\n\nSecond half of it.\n");
  ASSERT_EQ(model.asked.size(), 3U);
  const auto& requests = document_->requests;
  ASSERT_EQ(requests.size(), 4U) << "the page, a small one to find the cut, and two halves";
  ASSERT_TRUE(requests[2].clip && requests[3].clip);
  EXPECT_EQ(requests[2].clip->y1, requests[3].clip->y0) << "no line between the halves is lost";
  EXPECT_EQ(requests[3].clip->y1, 842);
}

TEST_F(ModelReaderTest, TooLongMeansASmallerPicture) {
  ScriptedProvider model({fails(FailureReason::too_long), says(prose)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(outcomes(result), (Outcomes{"model-1 too long", "model-1 ok"}));
  ASSERT_EQ(document_->requests.size(), 2U);
  EXPECT_LT(document_->requests[1].height_px_max, document_->requests[0].height_px_max);
}

TEST_F(ModelReaderTest, APictureThatCannotBeSmallerIsNotAskedAboutAgain) {
  size_.pixels_min = 700'000;  // one step down would be less
  ScriptedProvider full({fails(FailureReason::out_of_memory)});
  EXPECT_EQ(outcomes(read({&full})), (Outcomes{"model-1 out of memory", "builtin ok"}));
  ScriptedProvider long_winded({fails(FailureReason::too_long), says("First half."), says("Second half.")});
  EXPECT_EQ(outcomes(read({&long_winded})), (Outcomes{"model-1 too long", "model-1 ok"}));
  EXPECT_EQ(long_winded.asked.size(), 3U) << "the whole page once, then each half";
}

TEST_F(ModelReaderTest, TheNextModelSeesThePageInFull) {
  ScriptedProvider small({fails(FailureReason::out_of_memory)});
  ScriptedProvider large({says(prose)});
  EXPECT_EQ(read({&small, &large}).model, "model-2");
  const auto& requests = document_->requests;
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_LT(requests[2].height_px_max, requests[0].height_px_max);
  EXPECT_EQ(requests[3].height_px_max, requests[0].height_px_max);
}

TEST_F(ModelReaderTest, ThePagesTimeBeginsWithItsFirstQuestion) {
  // A sideways scan among many waits long to be turned.
  document_->when_rendered = [this] { clock_.advance(std::chrono::seconds(400)); };
  ScriptedProvider model({fails(FailureReason::too_long), says(prose)});
  EXPECT_EQ(read({&model}).model, "model-1");
  EXPECT_EQ(model.deadlines, std::vector(2, Deadline::at(TimePoint{} + std::chrono::seconds(400 + 300))));
}

TEST_F(ModelReaderTest, TheNextModelThenTheBuiltinReader) {
  ScriptedProvider first({fails(FailureReason::engine_failed)});
  ScriptedProvider second({says("I'm sorry, but I can't help with that.")});
  const PageResult result = read({&first, &second});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.reader, "builtin");
  EXPECT_EQ(result.model, "");
  ASSERT_EQ(result.blocks.size(), 1U);
  EXPECT_EQ(result.blocks[0].text, "read by OCR");
  EXPECT_EQ(outcomes(result), (Outcomes{"model-1 engine failed", "model-2 refused", "model-2 refused", "builtin ok"}));
  EXPECT_TRUE(result.tokens) << "what was paid for is accounted for";
}

TEST_F(ModelReaderTest, AnEmptyAnswerIsRightWhenOcrFindsNothingEither) {
  document_->content.chars.clear();  // a scan: nothing is known of it
  document_->content.pictures.push_back({.box = {0, 0, 595, 842}, .width_px = 600, .height_px = 800});
  builtin_->finds_nothing = true;
  ScriptedProvider model({says("")});
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.content_class, "blank");
  EXPECT_EQ(outcomes(result), (Outcomes{"model-1 empty", "model-1 empty", "builtin ok"}));
}

TEST_F(ModelReaderTest, WhatNobodyCanReadLeavesAPlaceholderWithItsNumber) {
  builtin_->error = "the page is damaged";
  ScriptedProvider model({fails(FailureReason::unreachable)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.page, 3);
  EXPECT_EQ(result.error, "the page is damaged");
  EXPECT_EQ(result.markdown, "[VLM_ERROR page 3]: the page is damaged\n");

  builtin_.reset();
  const PageResult without = read({&model});
  EXPECT_EQ(without.markdown, "[VLM_ERROR page 3]: the engine said so\n");
}

TEST_F(ModelReaderTest, HowItWasAskedIsToldApartFromWhatCameOfIt) {
  builtin_.reset();
  const auto told = [](const PageResult& result) {
    std::vector<std::string> all;
    for (const Attempt& attempt : result.attempts) all.push_back(attempt.how + ": " + attempt.reason);
    return all;
  };
  ScriptedProvider shy({says("I'm sorry, but I can't help with that.")});
  const std::string no = "the model declined: \"I'm sorry, but I can't help with that.\"";
  const PageResult refused = read({&shy});
  EXPECT_EQ(refused.markdown, "[VLM_ERROR page 3]: " + no + "\n");
  EXPECT_EQ(refused.error, no);
  EXPECT_EQ(told(refused), (Outcomes{": " + no, "penalty: " + no}));

  ScriptedProvider full({fails(FailureReason::too_long)});
  const PageResult too_long = read({&full});
  EXPECT_EQ(too_long.error, "the engine said so");
  EXPECT_EQ(told(too_long), (Outcomes{": the engine said so", "smaller picture: the engine said so",
                                      "smaller picture: the engine said so", "halves: the engine said so"}));
}

TEST_F(ModelReaderTest, HalfAnAnswerIsBetterThanNone) {
  builtin_.reset();
  ScriptedProvider model({says(prose, FinishReason::length)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_NE(result.markdown.find("committee"), std::string::npos);
  EXPECT_LE(result.confidence.value_or(1), 0.2);
  EXPECT_NE(result.confidence_why.find("not whole"), std::string::npos);
  const PageRecord record = record_of(result, {}, 0);
  EXPECT_EQ(record.state, PageState::fallback);
  EXPECT_EQ(record.reason, "the answer is not whole: the answer ran into the token limit");
}

TEST_F(ModelReaderTest, ALoopThatNothingMendsLeavesWhatCameBeforeIt) {
  builtin_.reset();
  std::string loop = prose + "\n";
  for (int i = 0; i < 2000; ++i) loop += "and so on and on. ";
  ScriptedProvider model({says(loop)});
  const PageResult result = read({&model});
  EXPECT_NE(result.markdown.find("committee"), std::string::npos);
  EXPECT_EQ(record_of(result, {}, 0).state, PageState::fallback);
  EXPECT_TRUE(record_of(result, {}, 0).reason.starts_with("the answer is not whole: the answer repeats"));
}

TEST_F(ModelReaderTest, APartWithoutTextIsNoAnswer) {
  builtin_.reset();
  ScriptedProvider thinker({says("", FinishReason::length)});
  const PageResult result = read({&thinker});
  EXPECT_EQ(result.error, "the answer ran into the token limit");
  EXPECT_EQ(record_of(result, {}, 0).state, PageState::failed);
}

TEST_F(ModelReaderTest, HalvesAreWorthTheWorseOfTheTwo) {
  Answer unsure = says("Something else entirely that is not what the page says at all, my friend.");
  unsure->mean_logprob = -1.5;
  ScriptedProvider first({says(prose, FinishReason::length), unsure, says("Cut in the mid", FinishReason::length)});
  ScriptedProvider second({fails(FailureReason::engine_failed)});
  builtin_.reset();
  const PageResult result = read({&first, &second});
  EXPECT_EQ(outcomes(result), (Outcomes{"model-1 truncated", "model-1 truncated", "model-2 engine failed"}));
  EXPECT_EQ(record_of(result, {}, 0).state, PageState::fallback);
}

TEST_F(ModelReaderTest, APageThatCannotBeDrawnCostsOnlyItself) {
  document_->render_error = Error{ErrorKind::corrupt, "log", "page 3 is damaged"};
  builtin_->error = "page 3 is damaged";
  ScriptedProvider model({says(prose)});
  const PageResult result = read({&model});
  EXPECT_EQ(result.markdown, "[VLM_ERROR page 3]: page 3 is damaged\n");
  EXPECT_TRUE(model.asked.empty());

  document_->inspect_error = Error{ErrorKind::timeout, "log", "page 3 took too long"};
  EXPECT_EQ(read({&model}).error, "page 3 took too long");
}

TEST_F(ModelReaderTest, TheSamePageIsPaidForOnce) {
  const TempFolder folder;
  cache_.emplace(real_disk(), folder.path());
  ScriptedProvider model({says(prose)});
  const PageResult first = read({&model});
  const PageResult second = read({&model});
  EXPECT_EQ(model.asked.size(), 1U);
  EXPECT_EQ(second.markdown, first.markdown);
  EXPECT_EQ(second.confidence, first.confidence);
  EXPECT_FALSE(second.tokens) << "nothing was paid for";
}

TEST_F(ModelReaderTest, ABadReplyIsAskedForAgain) {
  const TempFolder folder;
  cache_.emplace(real_disk(), folder.path());
  ScriptedProvider model({says(""), says("I'm sorry, but I can't help with that."), says(prose)});
  EXPECT_EQ(read({&model}).reader, "builtin");
  EXPECT_EQ(model.asked.size(), 2U);
  EXPECT_EQ(read({&model}).markdown, prose + "\n") << "as with --retry-failed";
  EXPECT_EQ(model.asked.size(), 3U);
  EXPECT_EQ(outcomes(read({&model})), Outcomes{"model-1 ok"});
  EXPECT_EQ(model.asked.size(), 3U) << "a good one is kept";

  // One that is there all the same.
  ASSERT_TRUE(cache_->keep(question_hash(model.asked[0]), *says("")));
  EXPECT_EQ(read({&model}).markdown, prose + "\n");
  EXPECT_EQ(model.asked.size(), 4U);
}

TEST_F(ModelReaderTest, BetweenDoubtfulAnswersTheSurerOneIsKept) {
  Answer unsure = says("Something else entirely that is not what the page says at all, my friend.");
  unsure->mean_logprob = -1.5;
  Answer surer = says(prose);
  surer->mean_logprob = -0.01;
  ScriptedProvider first({unsure});
  ScriptedProvider second({surer});
  EXPECT_EQ(read({&first, &second}).markdown, prose + "\n");
  EXPECT_EQ(first.asked.size(), 1U);
  EXPECT_EQ(second.asked.size(), 1U);
}

TEST_F(ModelReaderTest, FiguresAreCutOutAndLinked) {
  std::vector<int> numbers;
  figures_ = [&numbers](int page, int number, const image::Image& pixels) -> Result<std::string> {
    EXPECT_FALSE(pixels.empty());
    numbers.push_back(page * 100 + number);
    return fmt::format("doc.figures/page-{}-{}.png", page, number);
  };
  ScriptedProvider model({says("<|ref|>text<|/ref|><|det|>[[100, 100, 900, 300]]<|/det|>\n" + prose +
                               "\n\n<|ref|>image<|/ref|><|det|>[[0, 500, 999, 999]]<|/det|>\n")});
  const PageResult result = read({&model});
  EXPECT_EQ(numbers, std::vector{301});
  EXPECT_NE(result.markdown.find("(doc.figures/page-3-1.png)"), std::string::npos) << result.markdown;
  ASSERT_EQ(document_->requests.size(), 2U);
  ASSERT_TRUE(document_->requests[1].clip);
  EXPECT_NEAR(document_->requests[1].clip->y0, 842.0 * 500 / 999, 2);
}

TEST_F(ModelReaderTest, WhatAFamilyNeedsGoesWithTheRequest) {
  ScriptedProvider provider({says(prose)});
  ModelReaderOptions options;
  options.models.push_back(
      {.provider = &provider, .name = "deepseek-ocr", .size = {.family = ModelFamily::deepseek_ocr}});
  options.pages_max = [] { return 1; };
  const auto ask = [&] {
    auto reader = make_model_reader(options, cpu_, system_clock());
    run_coroutine(loop_, (*reader)->read(document_, 1, {}, cancellation_));
    return provider.asked.back();
  };
  EXPECT_NE(ask().parameters.extra_body.find("\"skip_special_tokens\":false"), std::string::npos);
  EXPECT_TRUE(ask().user.starts_with("<|grounding|>"));
  options.models[0].parameters.extra_body = R"({"a":1})";
  EXPECT_EQ(ask().parameters.extra_body, R"({"a":1})") << "what the user says counts";
}

TEST_F(ModelReaderTest, AStoppedRunLeavesThePageForLater) {
  cancellation_.request();
  ScriptedProvider model({says(prose)});
  const PageResult result = read({&model});
  EXPECT_NE(result.error, "");
  EXPECT_TRUE(model.asked.empty());
  EXPECT_EQ(builtin_->reads, 0);
}

TEST_F(ModelReaderTest, ACancelledPageEndsTheQuestionInFlight) {
  ScriptedProvider model({says(prose)});
  model.when_asked = [this] { cancellation_.request(); };
  const PageResult result = read({&model});
  EXPECT_NE(result.error, "");
  EXPECT_EQ(model.asked.size(), 1U);
  EXPECT_EQ(builtin_->reads, 0) << "a page that was not wanted any more is not read by other means";
}

TEST_F(ModelReaderTest, AFailureThatTheStopOvertakesIsNoReasonToFallBack) {
  ScriptedProvider model({fails(FailureReason::connection_lost)});
  model.hears_stop = false;
  model.when_asked = [this] { cancellation_.request(); };
  EXPECT_NE(read({&model}).error, "");
  EXPECT_EQ(builtin_->reads, 0);
}

TEST_F(ModelReaderTest, AnAnswerThatTheStopOvertakesIsKept) {
  ScriptedProvider model({says(prose)});
  model.hears_stop = false;
  model.when_asked = [this] { cancellation_.request(); };
  const PageResult result = read({&model});
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.markdown, prose + "\n");
}

TEST(ModelReader, ItsFingerprintNamesWhatResultsDependOn) {
  CpuPool cpu(1);
  ScriptedProvider provider({says("x")});
  const auto fingerprint = [&](auto change) {
    ModelReaderOptions options;
    options.models.push_back({.provider = &provider, .name = "m"});
    options.pages_max = [] { return 1; };
    change(options);
    return (*make_model_reader(std::move(options), cpu, system_clock()))->fingerprint();
  };
  const std::string plain = fingerprint([](ModelReaderOptions&) {});
  EXPECT_EQ(plain, fingerprint([](ModelReaderOptions& o) { o.page_timeout = std::chrono::seconds(1); }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].name = "n"; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].prompt = "describe"; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.temperature = 1; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].size.side_max = 2048; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.jpeg_quality = 50; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.top_p = 0.5; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.frequency_penalty = 0.5; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.seed = 1; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.stop = {"a"}; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.logprobs = true; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].parameters.json_schema = "{}"; }));
  EXPECT_NE(plain, fingerprint([](ModelReaderOptions& o) { o.models[0].engine_extras = R"({"top_k":20})"; }));
}

TEST(ModelReader, RefusesToBeMadeOfNothing) {
  CpuPool cpu(1);
  EXPECT_FALSE(make_model_reader({}, cpu, system_clock()));
  ModelReaderOptions options;
  options.models.push_back({.name = "m"});
  EXPECT_FALSE(make_model_reader(std::move(options), cpu, system_clock()));
}

}  // namespace
}  // namespace lectern::reading
