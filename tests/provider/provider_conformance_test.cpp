#include "provider/provider_conformance.h"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "base/random.h"
#include "run_coroutine.h"

namespace lectern::provider {

namespace asio = boost::asio;
using namespace std::chrono_literals;

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ProviderConformance);

std::string measure_images(const std::vector<std::vector<std::uint8_t>>& images) {
  std::string text;
  for (const auto& bytes : images) {
    std::uint64_t hash = 1469598103934665603U;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 1099511628211U;
    text += fmt::format("{}{} {:016x}", text.empty() ? "" : ", ", bytes.size(), hash);
  }
  return text;
}

Answer ProviderConformance::ask(Prompt prompt, CallOptions options) {
  return run_coroutine(subject_->loop(), subject_->provider().invoke(std::move(prompt), std::move(options)));
}

Answer ProviderConformance::ask(std::string_view user, CallOptions options) {
  Prompt prompt;
  prompt.user = user;
  return ask(std::move(prompt), std::move(options));
}

namespace {

std::string message_of(const Answer& answer) {
  return answer ? "" : answer.error().message;
}

std::vector<std::uint8_t> noise(std::size_t size, std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<std::uint8_t> bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
  return bytes;
}

Prompt measuring(const std::vector<std::vector<std::uint8_t>>& images) {
  Prompt prompt;
  prompt.user = "measure";
  for (const auto& bytes : images) {
    prompt.images.push_back({.bytes = std::make_shared<const std::vector<std::uint8_t>>(bytes)});
  }
  return prompt;
}

std::vector<Prompt> asking(const std::vector<std::string>& questions) {
  std::vector<Prompt> prompts;
  for (const std::string& question : questions) prompts.push_back({.user = question});
  return prompts;
}

TEST_P(ProviderConformance, AnswersWithText) {
  const Answer answer = ask("say the quick brown fox");
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(answer->text, "the quick brown fox");
  EXPECT_EQ(answer->finish, FinishReason::stop);
  EXPECT_FALSE(answer->engine.empty());
}

TEST_P(ProviderConformance, CarriesAnyText) {
  const std::string text = "\"quotes\" \\ back\nnew line\ttab é 漢字 😀 data: [DONE] </s>";
  const Answer answer = ask("say " + text);
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(answer->text, text);
}

TEST_P(ProviderConformance, PiecesMakeTheText) {
  std::string heard;
  CallOptions options;
  options.on_text = [&](std::string_view piece) {
    heard += piece;
    return true;
  };
  const Answer answer = ask("say one two three four five six", options);
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(heard, "one two three four five six");
  EXPECT_EQ(answer->text, heard);
}

TEST_P(ProviderConformance, ListenerCutsTheAnswerAndTheWork) {
  std::string heard;
  int pieces = 0;
  CallOptions options;
  options.on_text = [&](std::string_view piece) {
    heard += piece;
    return ++pieces < 3;
  };
  const Answer answer = ask("endless", options);
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(answer->finish, FinishReason::cut);
  EXPECT_EQ(pieces, 3) << "nothing is heard after the cut";
  EXPECT_EQ(answer->text.substr(0, heard.size()), heard);
  EXPECT_TRUE(subject_->await_ended(1));
}

TEST_P(ProviderConformance, BatchKeepsOrder) {
  std::vector<std::string> questions;
  for (int i = 0; i < 20; ++i) questions.push_back(fmt::format("say number {}", i));
  const auto answers = run_coroutine(subject_->loop(), subject_->provider().batch_invoke(asking(questions), {}));
  ASSERT_EQ(answers.size(), questions.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ASSERT_TRUE(answers[i]) << message_of(answers[i]);
    EXPECT_EQ(answers[i]->text, fmt::format("number {}", i));
  }
}

TEST_P(ProviderConformance, OneBadPromptOfABatchCostsOnlyItself) {
  const auto answers =
      run_coroutine(subject_->loop(), subject_->provider().batch_invoke(asking({"say a", "fail", "say b"}), {}));
  ASSERT_EQ(answers.size(), 3U);
  ASSERT_TRUE(answers[0]) << message_of(answers[0]);
  EXPECT_EQ(answers[0]->text, "a");
  EXPECT_FALSE(answers[1]);
  ASSERT_TRUE(answers[2]) << message_of(answers[2]);
  EXPECT_EQ(answers[2]->text, "b");
}

TEST_P(ProviderConformance, EmptyBatchHasNoAnswers) {
  EXPECT_TRUE(run_coroutine(subject_->loop(), subject_->provider().batch_invoke({}, {})).empty());
}

TEST_P(ProviderConformance, FailureSaysWhyAndDoesNotPoisonWhatFollows) {
  for (int round = 0; round < 3; ++round) {
    const Answer bad = ask("fail");
    ASSERT_FALSE(bad);
    EXPECT_FALSE(worth_retrying(bad.error().reason)) << to_string(bad.error().reason);
    EXPECT_FALSE(bad.error().message.empty());
    const Answer good = ask("say still here");
    ASSERT_TRUE(good) << message_of(good);
    EXPECT_EQ(good->text, "still here");
  }
}

TEST_P(ProviderConformance, CancellationEndsTheCallAndTheWork) {
  CallOptions options;
  const std::jthread canceller([this, cancellation = options.cancellation]() mutable {
    subject_->await_begun(1);
    cancellation.request();
  });
  const Answer answer = ask("hang", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::cancelled) << message_of(answer);
  EXPECT_TRUE(subject_->await_ended(1));
  const Answer next = ask("say next");
  ASSERT_TRUE(next) << message_of(next);
  EXPECT_EQ(next->text, "next");
}

TEST_P(ProviderConformance, CancelledBeforehandIsNotAsked) {
  CallOptions options;
  options.cancellation.request();
  const Answer answer = ask("hang", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::cancelled);
}

TEST_P(ProviderConformance, DeadlineEndsTheCallAndTheWork) {
  ASSERT_TRUE(ask("say ready"));  // whatever starts up has started: the deadline is for the question
  CallOptions options;
  options.deadline = Deadline::after(2s, system_clock());
  const Answer answer = ask("hang", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::timed_out) << message_of(answer);
  EXPECT_TRUE(subject_->await_ended(1));
}

TEST_P(ProviderConformance, PassedDeadlineFailsAtOnce) {
  CallOptions options;
  options.deadline = Deadline::at(system_clock().now() - 1s);
  const Answer answer = ask("hang", options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::timed_out);
}

TEST_P(ProviderConformance, ManyCallsAtOnceDoNotMix) {
  constexpr int calls = 100;
  std::vector<std::optional<Answer>> answers(calls);
  for (int i = 0; i < calls; ++i) {
    Prompt prompt{.user = fmt::format("say answer {} of many", i)};
    asio::co_spawn(subject_->loop(), subject_->provider().invoke(std::move(prompt), {}),
                   [&answers, i](std::exception_ptr error, Answer answer) {
                     EXPECT_FALSE(error);
                     answers[static_cast<std::size_t>(i)] = std::move(answer);
                   });
  }
  subject_->loop().restart();
  subject_->loop().run();
  for (int i = 0; i < calls; ++i) {
    const auto& answer = answers[static_cast<std::size_t>(i)];
    ASSERT_TRUE(answer);
    ASSERT_TRUE(*answer) << message_of(*answer);
    EXPECT_EQ((*answer)->text, fmt::format("answer {} of many", i));
  }
}

TEST_P(ProviderConformance, PicturesArriveWholeAndInOrder) {
  const std::vector<std::vector<std::uint8_t>> images = {noise(1, 1), noise(2, 2), noise(3, 3), noise(70'001, 4)};
  const Answer answer = ask(measuring(images));
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(answer->text, measure_images(images));
}

TEST_P(ProviderConformance, BigPictureArrivesWhole) {
  const std::vector<std::vector<std::uint8_t>> images = {noise(8'000'003, 5)};
  const Answer answer = ask(measuring(images));
  ASSERT_TRUE(answer) << message_of(answer);
  EXPECT_EQ(answer->text, measure_images(images));
}

}  // namespace
}  // namespace lectern::provider
