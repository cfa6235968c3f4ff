// What an engine says of its own load, and what follows from it. Pure. A hint and no more: figures are a little old,
// and vLLM counts a picture neither as running nor as waiting until it has been decoded, so that 0 may mean a queue.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "provider/provider.h"

namespace lectern::provider {

// The body of llama-server's GET /slots; nullopt = it is none.
std::optional<LoadFigures> parse_slots(std::string body);
// The text of GET /metrics, as vLLM and SGLang write it; what several of their engines say is added up. nullopt = it
// says nothing of the kind. llama-server's is left alone: reading it resets averages that somebody else may watch.
std::optional<LoadFigures> parse_metrics(std::string_view text);

struct LoadHint {
  std::optional<int> slots;  // more at a time can only queue
  int others = 0;            // requests of other clients there, at least
  bool crowded = false;      // some of those wait: whoever asks for more takes it from them
  bool operator==(const LoadHint&) const = default;
};
// `ours`: what we had in flight there meanwhile.
LoadHint hint_from(const LoadFigures& figures, int ours);

}  // namespace lectern::provider
