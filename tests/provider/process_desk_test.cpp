#include "provider/process_desk.h"

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "run_coroutine.h"

namespace lectern::provider {
namespace {

using namespace std::chrono_literals;

const TimePoint start = TimePoint{} + 1h;

class ProcessDeskTest : public testing::Test {
 protected:
  std::vector<QuestionPtr> ask(int count, bool streamed = false) {
    std::vector<QuestionPtr> questions;
    for (int i = 0; i < count; ++i) {
      auto question = std::make_shared<Question>();
      question->streamed = streamed;
      desk_.add(question, start);
      questions.push_back(std::move(question));
    }
    return questions;
  }
  void ready(int parallel = 1, bool batch = true) {
    desk_.program_ready({.model = "m", .batch = batch, .parallel = parallel}, start);
  }
  void answer_all(const ProcessDesk::Request& request, TimePoint now = start) {
    for (std::size_t i = 0; i < request.questions.size(); ++i) {
      desk_.heard(AnswerLine{.id = request.id, .index = i, .text = fmt::format("answer {}", i)}, now);
    }
  }
  // All that its asker has been told so far.
  std::vector<QuestionEvent> told(const QuestionPtr& question) {
    question->events.close();
    std::vector<QuestionEvent> events;
    for (;;) {
      auto event = run_coroutine(loop_, question->events.receive());
      if (!event) return events;
      events.push_back(std::move(*event));
    }
  }
  Answer answer_of(const QuestionPtr& question) {
    auto events = told(question);
    if (events.empty()) return std::unexpected(Failure{.message = "was told nothing"});
    return std::get<Answer>(events.back());
  }

  boost::asio::io_context loop_;
  ProcessDesk desk_{"the program", 8};
};

TEST_F(ProcessDeskTest, WhatWaitsTogetherIsOneBatchUpToTheSize) {
  const auto questions = ask(10);
  ready();
  ASSERT_TRUE(desk_.send_at());
  const auto first = desk_.take(start);
  EXPECT_EQ(first.questions, std::vector(questions.begin(), questions.begin() + 8));
  EXPECT_FALSE(desk_.send_at()) << "one request at a time";
  answer_all(first);
  const auto second = desk_.take(start);
  EXPECT_EQ(second.questions, std::vector(questions.begin() + 8, questions.end()));
  answer_all(second);
  EXPECT_FALSE(desk_.anybody_waits());
  EXPECT_EQ(answer_of(questions[9])->text, "answer 1");
}

TEST_F(ProcessDeskTest, AProgramWithoutBatchesGetsOneByOneAsManyAsItCanTake) {
  ask(5);
  ready(2, false);
  EXPECT_EQ(desk_.take(start).questions.size(), 1U);
  EXPECT_EQ(desk_.take(start).questions.size(), 1U);
  EXPECT_FALSE(desk_.send_at());
}

TEST_F(ProcessDeskTest, ABatchThatIsNotFullWaitsALittleForMore) {
  ready();
  ask(8);
  EXPECT_EQ(desk_.send_at(), TimePoint::min()) << "a full one goes at once";
  const auto first = desk_.take(start);
  ask(2);
  answer_all(first, start + 2s);
  EXPECT_EQ(desk_.send_at(), start + 2s + 100ms);
  ask(6);
  EXPECT_EQ(desk_.send_at(), TimePoint::min());
}

TEST_F(ProcessDeskTest, OutOfMemoryIsAskedAgainInHalvesDownToOne) {
  const auto questions = ask(4);
  ready();
  desk_.heard(ErrorLine{.id = desk_.take(start).id, .reason = FailureReason::out_of_memory}, start);
  const auto half = desk_.take(start);
  EXPECT_EQ(half.questions, (std::vector{questions[0], questions[1]}));
  desk_.heard(ErrorLine{.id = half.id, .reason = FailureReason::out_of_memory}, start);
  for (int i = 0; i < 4; ++i) {
    const auto one = desk_.take(start);
    EXPECT_EQ(one.questions, std::vector{questions[static_cast<std::size_t>(i)]});
    const bool fits = i != 1;
    if (fits) answer_all(one);
    if (!fits)
      desk_.heard(ErrorLine{.id = one.id, .index = 0, .reason = FailureReason::out_of_memory, .message = "full"},
                  start);
  }
  EXPECT_TRUE(answer_of(questions[0]));
  const Answer too_large = answer_of(questions[1]);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().reason, FailureReason::out_of_memory);
  EXPECT_EQ(too_large.error().message, "the program: full");
  EXPECT_EQ(answer_of(questions[3])->attempts, 2);
}

TEST_F(ProcessDeskTest, OnlyThoseThatDidNotFitAreAskedAgain) {
  const auto questions = ask(3);
  ready();
  const auto request = desk_.take(start);
  desk_.heard(ErrorLine{.id = request.id, .index = 2, .reason = FailureReason::out_of_memory}, start);
  desk_.heard(AnswerLine{.id = request.id, .index = 0, .text = "a"}, start);
  EXPECT_FALSE(desk_.send_at()) << "the rest of the batch still runs";
  desk_.heard(AnswerLine{.id = request.id, .index = 1, .text = "b"}, start);
  EXPECT_EQ(desk_.take(start).questions, std::vector{questions[2]});
}

TEST_F(ProcessDeskTest, AfterTheEndOfAProgramEachIsAskedAloneAndTheKillerDiesAlone) {
  const auto questions = ask(3);
  ready(4);
  desk_.take(start);
  const Failure end{.reason = FailureReason::connection_lost, .message = "it died"};
  desk_.program_ended(end, start);
  const auto late = ask(1);
  ready(4);
  const auto killer = desk_.take(start);
  EXPECT_EQ(killer.questions, std::vector{questions[0]});
  EXPECT_FALSE(desk_.send_at()) << "nothing runs beside it";
  desk_.program_ended(end, start);
  ready(4);
  for (int i = 1; i < 3; ++i) {
    const auto one = desk_.take(start);
    EXPECT_EQ(one.questions, std::vector{questions[static_cast<std::size_t>(i)]});
    answer_all(one);
  }
  EXPECT_EQ(desk_.take(start).questions, late);
  EXPECT_EQ(answer_of(questions[0]).error(), end);
  EXPECT_TRUE(answer_of(questions[1]));
  EXPECT_TRUE(answer_of(questions[2]));
}

TEST_F(ProcessDeskTest, AnAskerHearsThatItIsAskedAgain) {
  const auto question = ask(1, true).front();
  ready();
  desk_.heard(PieceLine{.id = desk_.take(start).id, .index = 0, .text = "lost"}, start);
  desk_.program_ended({.reason = FailureReason::connection_lost}, start);
  ready();
  const auto again = desk_.take(start);
  desk_.heard(PieceLine{.id = again.id, .index = 0, .text = "found"}, start + 1s);
  desk_.heard(AnswerLine{.id = again.id, .index = 0, .text = "found it"}, start + 3s);
  const auto events = told(question);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(std::get<TextPiece>(events[0]).text, "lost");
  EXPECT_TRUE(std::holds_alternative<AskedAgain>(events[1]));
  EXPECT_EQ(std::get<TextPiece>(events[2]).text, "found");
  EXPECT_EQ(std::get<TextPiece>(events[3]).text, " it") << "what the pieces left out";
  const auto& reply = *std::get<Answer>(events[4]);
  EXPECT_EQ(reply.text, "found it");
  EXPECT_EQ(reply.first_byte, 1s);
  EXPECT_EQ(reply.total, 3s);
  EXPECT_EQ(reply.attempts, 2);
  EXPECT_EQ(reply.model, "m");
}

TEST_F(ProcessDeskTest, WhoLeavesIsCancelledThereAndTheOthersStay) {
  const auto questions = ask(2);
  ready();
  const auto request = desk_.take(start);
  const auto first = desk_.leave(questions[0]);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->cancel_line, cancel_line(request.id, 0));
  EXPECT_FALSE(first->nobody_waits);
  const auto second = desk_.leave(questions[1]);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cancel_line, cancel_line(request.id, std::nullopt));
  EXPECT_TRUE(second->nobody_waits);
  EXPECT_FALSE(second->request_closed.requested());
  ask(1);
  EXPECT_FALSE(desk_.send_at()) << "the program has not let go of it yet";
  answer_all(request);
  EXPECT_TRUE(second->request_closed.requested());
  EXPECT_TRUE(desk_.send_at());
  EXPECT_TRUE(told(questions[0]).empty());
}

TEST_F(ProcessDeskTest, WhoLeavesBeforeItsTurnIsNotAsked) {
  const auto questions = ask(2);
  EXPECT_FALSE(desk_.leave(questions[0]));
  ready();
  EXPECT_EQ(desk_.take(start).questions, std::vector{questions[1]});
}

TEST_F(ProcessDeskTest, StrayLinesAreIgnored) {
  const auto question = ask(1).front();
  ready();
  const auto request = desk_.take(start);
  EXPECT_FALSE(desk_.heard(AnswerLine{.id = 99, .index = 0, .text = "?"}, start));
  EXPECT_FALSE(desk_.heard(AnswerLine{.id = request.id, .index = 1, .text = "?"}, start));
  EXPECT_FALSE(desk_.heard(ErrorLine{.id = 99}, start));
  EXPECT_TRUE(desk_.heard(AnswerLine{.id = request.id, .index = 0, .text = "first"}, start));
  EXPECT_FALSE(desk_.heard(AnswerLine{.id = request.id, .index = 0, .text = "second"}, start));
  EXPECT_EQ(answer_of(question)->text, "first");
}

TEST_F(ProcessDeskTest, AFailureKeepsWhatHadArrived) {
  const auto question = ask(1).front();
  ready();
  const auto request = desk_.take(start);
  desk_.heard(PieceLine{.id = request.id, .index = 0, .text = "half a "}, start);
  desk_.heard(ErrorLine{.id = request.id, .index = 0, .message = "boom"}, start);
  const Answer answer = answer_of(question);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::engine_failed);
  EXPECT_TRUE(answer.error().reply_started);
  EXPECT_EQ(answer.error().partial_text, "half a ");
}

}  // namespace
}  // namespace lectern::provider
