// Puts a reply together from what /v1/chat/completions sends: a stream of chunks, or one JSON body.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "provider/provider.h"

namespace lectern::provider {

class ReplyParser {
 public:
  enum class State : std::uint8_t {
    open,    // more may come
    ended,   // "[DONE]", or a whole body was read
    error,   // the server sent an error object: error()
    broken,  // it sent something that is no reply: error() tells what
  };

  // One event of a stream. Returns what it adds to the text; the view lasts until the next call.
  // REQUIRES: at least 64 readable bytes follow `event`.
  std::string_view take_event(std::string_view event);
  // A body that is no stream. Returns the text.
  std::string_view take_whole(std::string body);

  State state() const { return state_; }
  const std::string& error() const { return error_; }
  bool saw_choice() const { return saw_choice_; }
  // Did the server say why it stopped?
  bool finished() const { return finished_; }

  // Text, reasoning, finish, usage, mean_logprob and model; the rest is the caller's.
  Reply take_reply();
  const std::string& text() const { return reply_.text; }
  const std::string& reasoning() const { return reply_.reasoning; }

 private:
  struct Reading;  // the JSON side, so that simdjson stays out of this header
  void take(std::string_view json);
  void become(State state, std::string_view what);

  Reply reply_;
  State state_ = State::open;
  std::string error_;
  bool saw_choice_ = false;
  bool finished_ = false;
  double logprob_sum_ = 0;
  std::int64_t logprob_count_ = 0;
};

FinishReason finish_reason_of(std::string_view name);

}  // namespace lectern::provider
