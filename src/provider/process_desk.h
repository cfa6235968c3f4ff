// Who waits for what from a program: forms batches of the questions that wait together, hands each line of the program
// to its asker, and decides who is asked again. Has no I/O and no clock; one owner (process_core.h), except that askers
// on other threads receive from Question::events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/cancellation.h"
#include "base/channel.h"
#include "base/clock.h"
#include "provider/batch_size.h"
#include "provider/process_lines.h"
#include "provider/provider.h"

namespace lectern::provider {

struct TextPiece {
  std::string text;
  std::chrono::nanoseconds after{0};  // the question was sent
};
struct AskedAgain {};  // what came before does not count
using QuestionEvent = std::variant<TextPiece, AskedAgain, Answer>;

struct Question {
  // Constant after construction.
  std::vector<BodyPiece> pieces;  // its part of the request line
  bool streamed = false;          // somebody listens to the pieces of the answer

  // Self-synchronised. The asker receives; nothing comes after an Answer. Unbounded: an answer has tokens_max.
  Channel<QuestionEvent> events{SIZE_MAX};
  Cancellation ended;  // requested when it is answered, or its asker has left

  // The desk's own.
  TimePoint arrived;
  TimePoint sent;
  std::optional<TimePoint> first_byte;
  std::string text;        // of the pieces so far
  int attempts = 0;        // how often it was sent
  int programs_ended = 0;  // while they had it in hand
};
using QuestionPtr = std::shared_ptr<Question>;  // shared by its asker, the desk and its timer

class ProcessDesk {
 public:
  ProcessDesk(std::string engine, int batch_max);

  void add(QuestionPtr question, TimePoint now);
  bool anybody_waits() const { return !waiting_.empty(); }

  // A fresh program is there and says what it can.
  void program_ready(const ReadyLine& line, TimePoint now);

  // When the next request may go out; nullopt: nobody waits, or the program has its hands full. A batch that is not
  // full waits a little for more (collecting_time).
  std::optional<TimePoint> send_at() const;
  struct Request {
    std::uint64_t id = 0;
    std::vector<QuestionPtr> questions;
  };
  // REQUIRES: send_at() is not nullopt.
  Request take(TimePoint now);

  // A line of the program about a question. True: it was an answer. Lines about requests that are over are ignored: the
  // program may not have seen yet that they were cancelled.
  bool heard(const PieceLine& line, TimePoint now);
  bool heard(const AnswerLine& line, TimePoint now);
  bool heard(const ErrorLine& line, TimePoint now);

  struct Left {
    std::string cancel_line;      // to tell the program
    bool nobody_waits = false;    // for anything of this request any more
    std::uint64_t id = 0;         // of the request
    Cancellation request_closed;  // requested when the program is done with the request
  };
  // The asker has left. nullopt: there is nothing to tell the program.
  std::optional<Left> leave(const QuestionPtr& question);

  // The program has ended. What it had in hand is asked once more, each question alone, so that the one that kills it
  // takes no other with it; what has seen two ends fails with `cause`.
  void program_ended(const Failure& cause, TimePoint now);
  // All that wait fail.
  void fail_waiting(const Failure& cause);

 private:
  struct Open {
    std::vector<QuestionPtr> questions;  // null: answered
    std::vector<QuestionPtr> too_much;   // to be asked again in smaller batches
    std::size_t size = 0;
    std::size_t answered = 0;  // too_much and left ones included
    bool alone = false;        // nothing may run beside it
    TimePoint sent;
    Cancellation closed;
  };
  using OpenMap = std::map<std::uint64_t, Open>;

  // The question that a line is about; null when there is none any more.
  QuestionPtr* find(std::uint64_t id, std::size_t index, OpenMap::iterator& open);
  void settle(OpenMap::iterator open, QuestionPtr& place, TimePoint now);
  void close(OpenMap::iterator open, TimePoint now);
  void answer(const QuestionPtr& question, Answer answer) const;
  Failure with_partial(Failure failure, const Question& question) const;
  void ask_again(std::vector<QuestionPtr> questions);
  int batch_limit() const { return batch_ ? size_.present() : 1; }

  const std::string engine_;
  BatchSize size_;
  std::string model_;
  bool batch_ = false;
  std::size_t parallel_ = 1;
  std::deque<QuestionPtr> waiting_;  // in the order they came; those asked again stand in front
  OpenMap open_;                     // with the program
  std::uint64_t next_id_ = 1;
  TimePoint free_since_;  // when the program last had a place
  std::chrono::nanoseconds last_batch_{0};
};

}  // namespace lectern::provider
