// An answer as the JSON of chat completions: one object, or the events of a stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/sim/answer.h"

namespace lectern::sim {

struct ChatReplyInput {
  const Settings* settings = nullptr;
  const ChatRequest* request = nullptr;
  const Answer* answer = nullptr;
  std::uint64_t number = 0;  // of the request: makes its id
  std::int64_t created = 0;  // Unix time
  double prefill_s = 0;      // for llama-server's timings
  double decode_s = 0;
};

// The body of a reply that is not streamed.
std::string plain_body(const ChatReplyInput& input);

// Events of a stream, each "data: …" with its blank line.
class StreamEvents {
 public:
  explicit StreamEvents(const ChatReplyInput& input);
  std::string role() const;
  std::string content(std::size_t from_token, std::size_t to_token) const;
  std::string finish() const;
  std::string usage() const;  // empty when it was not asked for
  static constexpr std::string_view done = "data: [DONE]\n\n";
  // llama-server ends a stream without [DONE] after it.
  std::string error(std::string_view message) const;

 private:
  std::string chunk(std::string_view choices, std::string_view more) const;
  const ChatReplyInput& in_;
  std::string head_;  // members that every chunk begins with
};

}  // namespace lectern::sim
