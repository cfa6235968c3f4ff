// What the model says to a request: text, how it ended, and what that counts in tokens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sim/chat_request.h"
#include "engine/sim/settings.h"

namespace lectern::sim {

struct Answer {
  std::string text;
  std::vector<std::size_t> ends;  // of its tokens in the text
  std::string_view finish = "stop";
  int prompt_tokens = 0;

  int completion_tokens() const { return static_cast<int>(ends.size()); }
  std::string_view token(std::size_t index) const {
    const std::size_t from = index == 0 ? 0 : ends[index - 1];
    return std::string_view(text).substr(from, ends[index] - from);
  }
  // Tokens [from, to) as one text.
  std::string_view piece(std::size_t from, std::size_t to) const {
    if (from >= to) return {};
    const std::size_t begin = from == 0 ? 0 : ends[from - 1];
    return std::string_view(text).substr(begin, ends[to - 1] - begin);
  }
};

int prompt_tokens_of(const ChatRequest& request);
Answer make_answer(const Settings& settings, const ChatRequest& request, std::optional<FaultKind> fault);

}  // namespace lectern::sim
