// What goes wrong, and with which requests. The choice is a function of seed and request number (or image), so a run
// can be repeated exactly.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"

namespace lectern::sim {

enum class FaultKind : std::uint8_t {
  too_many,            // "429": refused at once
  unavailable,         // "503": refused at once
  oom,                 // 500 with the text of a CUDA out-of-memory error, after the prefill
  drop,                // the connection is closed before the first byte
  hang,                // a slot is taken and nothing ever sent
  hang_mid_stream,     // half of the reply, then silence
  cut,                 // half of the reply, then the connection is closed
  slow_bytes,          // the reply trickles
  garbage,             // broken JSON, or broken events in a stream
  wrong_content_type,  // 200 with an HTML page
  loop,                // a sentence that repeats until max_tokens
  truncated,           // half of the text, finish_reason length
  empty,               // no text
  refusal,             // a polite no
  error_in_stream,     // an error object inside a 200 stream; without streaming, a 500
  abort,               // half of the text, finish_reason abort
};
inline constexpr std::size_t fault_kinds = 16;
std::string_view to_string(FaultKind kind);

struct FaultRule {
  FaultKind kind = FaultKind::too_many;
  double rate = 1;          // of the requests that the rest of the rule lets through
  bool by_image = false;    // the rate chooses images, not requests: a chosen page fails each time
  std::string image;        // only images whose hash begins so (hex)
  std::uint64_t after = 0;  // spare this many requests…
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();  // …then hit only this many
  std::uint64_t every = 1;                                          // only each such request
  double from_s = 0;                                                // only from this time after the first request…
  double until_s = std::numeric_limits<double>::infinity();         // …to this one
  std::optional<double> retry_after_s;                              // 429, 503: header Retry-After
  int bytes = 16;                                                   // slow-bytes: so many at a time…
  double interval_s = 0.05;                                         // …this far apart
  bool operator==(const FaultRule&) const = default;
};

// "KIND[:RATE][:key=value]…", for instance "429:retry-after=2:0.1", "cut:first=3", "loop:by=image:0.05".
Result<FaultRule> parse_fault(std::string_view text);
std::string to_string(const FaultRule& rule);

struct FaultSubject {
  std::uint64_t seed = 0;
  std::uint64_t request = 1;  // counts from 1
  const Sha256Digest* digest = nullptr;
  double elapsed_s = 0;  // since the first request
};
// The first rule that hits; null when none does.
const FaultRule* choose_fault(std::span<const FaultRule> rules, const FaultSubject& subject);

}  // namespace lectern::sim
