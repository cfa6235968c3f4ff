#include "provider/openai_answer.h"

#include <fmt/format.h>

#include <utility>

#include "provider/openai_errors.h"

namespace lectern::provider {
namespace {

constexpr std::size_t error_body_max = 64U << 10;
constexpr std::size_t whole_body_max = 64U << 20;
constexpr std::size_t answer_max = 64U << 20;

}  // namespace

void AnswerReader::take_head(const HttpHead& head) {
  head_ = head;
}

// Some servers answer a request for a stream with one JSON body, and some proxies forget the content type: where it
// does not decide, the first character does.
AnswerReader::Kind AnswerReader::kind_of_body(std::string_view bytes) const {
  if (head_.status < 200 || head_.status >= 300) return Kind::error;
  const std::string_view type = head_.header("content-type");
  if (type.starts_with("text/event-stream")) return Kind::stream;
  if (type.starts_with("application/json")) return Kind::whole;
  const std::size_t start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos) return Kind::undecided;
  const std::string_view text = bytes.substr(start);
  for (const std::string_view opening : {":", "data:", "event:", "id:", "retry:"}) {
    if (text.starts_with(opening)) return Kind::stream;
    if (opening.starts_with(text)) return Kind::undecided;
  }
  return Kind::whole;
}

bool AnswerReader::take_body(std::string_view bytes) {
  if (kind_ == Kind::undecided) {
    body_ += bytes;  // too little to tell so far
    kind_ = kind_of_body(body_);
    if (kind_ == Kind::undecided) return true;
    const std::string first = std::exchange(body_, {});
    return take_body(first);
  }
  if (kind_ == Kind::stream) return take_stream(bytes);
  const std::size_t room = (kind_ == Kind::error ? error_body_max : whole_body_max) - body_.size();
  body_ += bytes.substr(0, room);
  too_large_ = kind_ == Kind::whole && bytes.size() > room;
  return !too_large_;
}

bool AnswerReader::take_stream(std::string_view bytes) {
  const bool wanted = sse_.feed(bytes, [this](std::string_view event) { return take_event(event); });
  too_large_ = sse_.overlong() || parser_.text().size() + parser_.reasoning().size() > answer_max;
  return wanted && !too_large_;
}

bool AnswerReader::take_event(std::string_view event) {
  if (parser_.state() == ReplyParser::State::ended) return true;  // nothing counts after "[DONE]"
  const std::string_view text = parser_.take_event(event);
  switch (parser_.state()) {
    case ReplyParser::State::open:
    case ReplyParser::State::ended:
      return hear(text);
    case ReplyParser::State::error:
    case ReplyParser::State::broken:
      return false;
  }
  std::unreachable();
}

bool AnswerReader::hear(std::string_view text) {
  if (text.empty() || !on_text_ || on_text_(text)) return true;
  cut_ = true;
  return false;
}

Answer AnswerReader::reply(std::chrono::nanoseconds first_byte, std::chrono::nanoseconds total) {
  Reply reply = parser_.take_reply();
  reply.engine = engine_;
  reply.first_byte = first_byte;
  reply.total = total;
  if (cut_) reply.finish = FinishReason::cut;
  return reply;
}

std::unexpected<Failure> AnswerReader::with_partial(Failure failure) {
  failure.http_status = failure.http_status != 0 ? failure.http_status : head_.status;
  failure.partial_text = parser_.text();
  failure.reasoning_bytes = parser_.reasoning().size();
  failure.reply_started = failure.reply_started || !failure.partial_text.empty();
  return std::unexpected(std::move(failure));
}

std::unexpected<Failure> AnswerReader::broken(FailureReason reason, std::string_view what) {
  return with_partial({.reason = reason, .message = fmt::format("{} {}", engine_, what)});
}

std::unexpected<Failure> AnswerReader::too_large() {
  Failure failure{.reason = FailureReason::bad_reply,
                  .message = fmt::format("{} sent an answer without end: more than {} MiB, or {} MiB in one event",
                                         engine_, answer_max >> 20, SseParser::event_max >> 20)};
  failure.http_status = head_.status;
  failure.reply_started = true;  // and not kept
  return std::unexpected(std::move(failure));
}

Answer AnswerReader::finish(const HttpAnswer& end) {
  using State = ReplyParser::State;
  if (too_large_) return too_large();
  if (kind_ == Kind::undecided && head_.status != 0) kind_ = kind_of_body("{");
  if (!end) {
    // Lost after the model had said that it was done: only the counts are missing.
    const bool whole = parser_.state() == State::ended || (parser_.state() == State::open && parser_.finished());
    if (kind_ == Kind::stream && whole && end.error().reason != FailureReason::cancelled) return reply({}, {});
    // Lost while it told what is wrong: the status says enough.
    if (kind_ != Kind::error || end.error().reason != FailureReason::connection_lost) return with_partial(end.error());
  }
  if (kind_ == Kind::error) {
    return with_partial(classify(engine_,
                                 {.status = head_.status,
                                  .retry_after = head_.header("retry-after"),
                                  .retry_after_ms = head_.header("retry-after-ms"),
                                  .location = head_.header("location"),
                                  .body = body_},
                                 system_clock().wall()));
  }
  if (kind_ == Kind::stream && !cut_) {
    sse_.finish([this](std::string_view event) { return take_event(event); });
  } else if (kind_ == Kind::whole) {
    hear(parser_.take_whole(std::exchange(body_, {})));
  }
  if (parser_.state() == State::error) return with_partial(classify_in_stream(engine_, parser_.error()));
  if (parser_.state() == State::broken) {
    const ErrorText text = read_error_body(parser_.error());
    return broken(FailureReason::bad_reply, text.message.empty()
                                                ? "sent an empty answer"
                                                : fmt::format("sent something that is no answer: {}", text.message));
  }
  if (!cut_ && parser_.state() == State::open && !parser_.finished()) {
    return parser_.text().empty() ? broken(FailureReason::bad_reply, "sent a stream with no answer in it")
                                  : broken(FailureReason::connection_lost, "ended its answer in the middle");
  }
  if (!cut_ && !parser_.saw_choice()) return broken(FailureReason::bad_reply, "sent a stream with no answer in it");
  return reply(end->first_byte, end->total);
}

}  // namespace lectern::provider
