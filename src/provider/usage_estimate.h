// What a question and its answer cost where the server does not say: it sends its counts at the end, and not everybody
// gets there. Budgets must not take that for nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lectern::provider {

struct Prompt;

std::int64_t estimate_prompt_tokens(const Prompt& prompt);
std::int64_t estimate_text_tokens(std::size_t bytes);

}  // namespace lectern::provider
