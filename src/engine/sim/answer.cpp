#include "engine/sim/answer.h"

#include <algorithm>

#include "engine/sim/page_text.h"

namespace lectern::sim {
namespace {

constexpr int template_tokens = 12;
constexpr int endless = 1 << 20;
constexpr int loop_tokens_default = 4096;

std::string whole_text(const Settings& settings, const ChatRequest& request, std::optional<FaultKind> fault,
                       int limit) {
  if (fault == FaultKind::empty) return {};
  if (fault == FaultKind::refusal) return "I'm sorry, but I can't help with transcribing this image.";
  if (fault == FaultKind::loop) return looping_text(request.digest, limit);
  if (settings.echo) return request.text;
  if (!settings.fixed_text.empty()) return settings.fixed_text;
  return page_text(request.digest, {.words = settings.words, .grounding = settings.grounding});
}

}  // namespace

int prompt_tokens_of(const ChatRequest& request) {
  return template_tokens + static_cast<int>(request.text.size() / 4) +
         request.image_tokens * static_cast<int>(request.images);
}

Answer make_answer(const Settings& settings, const ChatRequest& request, std::optional<FaultKind> fault) {
  Answer answer{.prompt_tokens = prompt_tokens_of(request)};
  int limit = request.tokens_max && *request.tokens_max >= 0 ? *request.tokens_max : endless;
  if (settings.context_tokens > 0) limit = std::min(limit, std::max(1, settings.context_tokens - answer.prompt_tokens));
  if (fault == FaultKind::loop && limit == endless) limit = loop_tokens_default;
  answer.text = whole_text(settings, request, fault, limit);
  for (std::size_t end = 0; const std::string_view token : tokens_of(answer.text))
    answer.ends.push_back(end += token.size());
  if (fault == FaultKind::truncated || fault == FaultKind::abort) {
    answer.ends.resize(answer.ends.size() / 2);
    answer.finish = fault == FaultKind::abort ? "abort" : "length";
  }
  if (answer.ends.size() > static_cast<std::size_t>(limit)) {
    answer.ends.resize(static_cast<std::size_t>(limit));
    answer.finish = "length";
  }
  answer.text.resize(answer.ends.empty() ? 0 : answer.ends.back());
  return answer;
}

}  // namespace lectern::sim
