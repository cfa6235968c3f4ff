#include "provider/process_desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace lectern::provider {
namespace {

bool is_over(const QuestionPtr& question) {
  return question->ended.requested();
}

}  // namespace

ProcessDesk::ProcessDesk(std::string engine, int batch_max)
    : engine_(std::move(engine)), size_(BatchSizeOptions{.batch_max = batch_max}) {}

void ProcessDesk::add(QuestionPtr question, TimePoint now) {
  question->arrived = now;
  waiting_.push_back(std::move(question));
}

void ProcessDesk::program_ready(const ReadyLine& line, TimePoint now) {
  model_ = line.model;
  batch_ = line.batch;
  parallel_ = static_cast<std::size_t>(std::max(1, line.parallel));
  if (line.batch_max) size_.lower_max(*line.batch_max);
  free_since_ = now;
}

std::optional<TimePoint> ProcessDesk::send_at() const {
  if (waiting_.empty() || open_.size() >= parallel_) return std::nullopt;
  const Question& first = *waiting_.front();
  const bool alone = first.programs_ended > 0;
  if (!open_.empty() && (alone || open_.begin()->second.alone)) return std::nullopt;
  if (alone || waiting_.size() >= static_cast<std::size_t>(batch_limit())) return TimePoint::min();
  return std::max(free_since_, first.arrived) +
         std::chrono::duration_cast<TimePoint::duration>(collecting_time(last_batch_));
}

ProcessDesk::Request ProcessDesk::take(TimePoint now) {
  const bool alone = waiting_.front()->programs_ended > 0;
  const auto limit = static_cast<std::size_t>(alone ? 1 : batch_limit());
  Open open{.alone = alone, .sent = now};
  while (!waiting_.empty() && open.questions.size() < limit && (waiting_.front()->programs_ended > 0) == alone) {
    QuestionPtr question = std::move(waiting_.front());
    waiting_.pop_front();
    question->sent = now;
    question->first_byte.reset();
    question->text.clear();
    ++question->attempts;
    open.questions.push_back(std::move(question));
  }
  open.size = open.questions.size();
  Request request{.id = next_id_++, .questions = open.questions};
  open_.emplace(request.id, std::move(open));
  return request;
}

QuestionPtr* ProcessDesk::find(std::uint64_t id, std::size_t index, OpenMap::iterator& open) {
  open = open_.find(id);
  if (open == open_.end() || index >= open->second.size || !open->second.questions[index]) return nullptr;
  return &open->second.questions[index];
}

bool ProcessDesk::heard(const PieceLine& line, TimePoint now) {
  OpenMap::iterator open;
  QuestionPtr* place = find(line.id, line.index, open);
  if (place == nullptr || is_over(*place)) return false;
  Question& question = **place;
  if (!question.first_byte) question.first_byte = now;
  question.text += line.text;
  if (question.streamed) question.events.try_send(TextPiece{.text = line.text, .after = now - question.sent});
  return false;
}

bool ProcessDesk::heard(const AnswerLine& line, TimePoint now) {
  OpenMap::iterator open;
  QuestionPtr* place = find(line.id, line.index, open);
  if (place == nullptr) return false;
  if (!is_over(*place)) {
    Question& question = **place;
    Reply reply;
    reply.text = line.text.value_or(question.text);
    reply.finish = line.finish;
    reply.usage = line.usage;
    reply.mean_logprob = line.mean_logprob;
    reply.model = model_;
    reply.engine = engine_;
    reply.first_byte = question.first_byte.value_or(now) - question.sent;
    reply.total = now - question.sent;
    reply.attempts = question.attempts;
    // A listener hears the whole text, also of a program that gives it only at the end.
    if (question.streamed && reply.text.size() > question.text.size() && reply.text.starts_with(question.text)) {
      question.events.try_send(TextPiece{.text = reply.text.substr(question.text.size()), .after = reply.total});
    }
    answer(*place, std::move(reply));
  }
  settle(open, *place, now);
  return true;
}

bool ProcessDesk::heard(const ErrorLine& line, TimePoint now) {
  if (!line.index) {
    const auto found = open_.find(line.id);
    if (found == open_.end()) return false;
    const std::size_t size = found->second.size;
    ErrorLine one = line;
    for (std::size_t i = 0; i < size; ++i) {
      one.index = i;
      heard(one, now);
    }
    return line.reason != FailureReason::out_of_memory;
  }
  OpenMap::iterator open;
  QuestionPtr* place = find(line.id, *line.index, open);
  if (place == nullptr) return false;
  if (line.reason == FailureReason::out_of_memory && open->second.size > 1) {
    if (!is_over(*place)) open->second.too_much.push_back(*place);
  } else if (!is_over(*place)) {
    Failure failure{.reason = line.reason};
    // Cancelled, but not by us: it gave up for a reason of its own.
    if (failure.reason == FailureReason::cancelled) failure.reason = FailureReason::engine_failed;
    failure.message = fmt::format(
        "{}: {}", engine_, line.message.empty() ? std::string(to_string(failure.reason)) : clean_text(line.message));
    answer(*place, std::unexpected(with_partial(std::move(failure), **place)));
  }
  const bool answered = line.reason != FailureReason::out_of_memory;
  settle(open, *place, now);
  return answered;
}

void ProcessDesk::settle(OpenMap::iterator open, QuestionPtr& place, TimePoint now) {
  place.reset();
  if (++open->second.answered == open->second.size) close(open, now);
}

void ProcessDesk::close(OpenMap::iterator open, TimePoint now) {
  Open request = std::move(open->second);
  open_.erase(open);
  request.closed.request();
  free_since_ = now;
  if (batch_) {
    last_batch_ = now - request.sent;
    const auto size = static_cast<int>(request.size);
    if (request.too_much.empty()) {
      size_.good(size);
    } else {
      size_.too_much(size);
    }
  }
  ask_again(std::move(request.too_much));
}

void ProcessDesk::ask_again(std::vector<QuestionPtr> questions) {
  std::erase_if(questions, is_over);
  for (const QuestionPtr& question : questions) question->events.try_send(AskedAgain{});
  waiting_.insert(waiting_.begin(), questions.begin(), questions.end());
}

std::optional<ProcessDesk::Left> ProcessDesk::leave(const QuestionPtr& question) {
  question->ended.request();
  if (std::erase(waiting_, question) > 0) return std::nullopt;
  for (auto& [id, open] : open_) {
    const auto place = std::ranges::find(open.questions, question);
    if (place == open.questions.end()) continue;
    const bool nobody_waits =
        std::ranges::all_of(open.questions, [](const QuestionPtr& other) { return !other || is_over(other); });
    const auto index = static_cast<std::size_t>(place - open.questions.begin());
    return Left{.cancel_line = cancel_line(id, nobody_waits ? std::nullopt : std::optional(index)),
                .nobody_waits = nobody_waits,
                .id = id,
                .request_closed = open.closed};
  }
  return std::nullopt;
}

void ProcessDesk::program_ended(const Failure& cause, TimePoint now) {
  std::vector<QuestionPtr> again;
  for (auto& [id, open] : std::exchange(open_, {})) {
    open.closed.request();
    // Memory that ran out often shows as a sudden death, so a batch that was in hand counts as too much.
    if (batch_) size_.too_much(static_cast<int>(open.size));
    again.insert(again.end(), open.too_much.begin(), open.too_much.end());
    for (const QuestionPtr& question : open.questions) {
      if (!question || is_over(question)) continue;
      if (++question->programs_ended > 1) {
        answer(question, std::unexpected(with_partial(cause, *question)));
      } else {
        again.push_back(question);
      }
    }
  }
  free_since_ = now;
  ask_again(std::move(again));
}

void ProcessDesk::fail_waiting(const Failure& cause) {
  for (const QuestionPtr& question : std::exchange(waiting_, {})) {
    answer(question, std::unexpected(with_partial(cause, *question)));
  }
}

void ProcessDesk::answer(const QuestionPtr& question, Answer answer) const {
  question->events.try_send(std::move(answer));
  question->ended.request();
}

Failure ProcessDesk::with_partial(Failure failure, const Question& question) const {
  failure.reply_started = question.first_byte.has_value();
  failure.partial_text = question.text;
  return failure;
}

}  // namespace lectern::provider
