#include "provider/usage_estimate.h"

#include "provider/provider.h"

namespace lectern::provider {

namespace {

constexpr std::size_t bytes_of_token = 4;       // of western text
constexpr std::int64_t tokens_of_image = 1500;  // pages take 500 to 4,000

}  // namespace

std::int64_t estimate_text_tokens(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + bytes_of_token - 1) / bytes_of_token);
}

std::int64_t estimate_prompt_tokens(const Prompt& prompt) {
  return estimate_text_tokens(prompt.system.size() + prompt.user.size()) +
         tokens_of_image * static_cast<std::int64_t>(prompt.images.size());
}

}  // namespace lectern::provider
