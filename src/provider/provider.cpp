#include "provider/provider.h"

#include <utility>

namespace lectern::provider {

std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::abort:
      return "abort";
    case FinishReason::repetition:
      return "repetition";
    case FinishReason::cut:
      return "cut";
    case FinishReason::unknown:
      return "unknown";
  }
  std::unreachable();
}

boost::asio::awaitable<std::vector<Answer>> Provider::batch_invoke(std::vector<Prompt> prompts, CallOptions options) {
  std::vector<Answer> answers;
  answers.reserve(prompts.size());
  for (Prompt& prompt : prompts) answers.push_back(co_await invoke(std::move(prompt), options));
  co_return answers;
}

boost::asio::awaitable<LoadAnswer> Provider::load(CallOptions /*options*/) {
  co_return LoadAnswer{.figures = std::nullopt, .ask_again = false};
}

}  // namespace lectern::provider
