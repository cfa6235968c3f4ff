// Hears one HTTP response to a chat completion and makes an answer of it: a stream, a plain body, or an error.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "provider/http_client.h"
#include "provider/openai_reply.h"
#include "provider/provider.h"
#include "provider/sse.h"

namespace lectern::provider {

class AnswerReader {
 public:
  // `on_text` may be empty.
  AnswerReader(std::string engine, std::function<bool(std::string_view)> on_text)
      : engine_(std::move(engine)), on_text_(std::move(on_text)) {}

  void take_head(const HttpHead& head);
  // False: nothing more is wanted, the connection may be closed.
  bool take_body(std::string_view bytes);
  // The stream has said that nothing more comes.
  bool done() const { return kind_ == Kind::stream && parser_.state() == ReplyParser::State::ended; }
  // After the response has ended, however it did.
  Answer finish(const HttpAnswer& end);

  // The body of an error response, as far as it was kept.
  const std::string& error_body() const { return body_; }

 private:
  enum class Kind : std::uint8_t { undecided, stream, whole, error };

  Kind kind_of_body(std::string_view bytes) const;
  bool take_stream(std::string_view bytes);
  bool take_event(std::string_view event);
  bool hear(std::string_view text);
  Answer reply(std::chrono::nanoseconds first_byte, std::chrono::nanoseconds total);
  std::unexpected<Failure> broken(FailureReason reason, std::string_view what);
  std::unexpected<Failure> with_partial(Failure failure);
  std::unexpected<Failure> too_large();

  const std::string engine_;
  const std::function<bool(std::string_view)> on_text_;
  HttpHead head_;
  Kind kind_ = Kind::undecided;
  bool cut_ = false;
  bool too_large_ = false;
  std::string body_;  // of what is no stream
  SseParser sse_;
  ReplyParser parser_;
};

}  // namespace lectern::provider
