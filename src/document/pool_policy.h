// The pool's decisions, apart from its processes: which renderer serves a call, who is served next, when a renderer has
// grown too large, when to try to start one. Pure functions and values.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace lectern::document {

using DocumentId = std::uint64_t;  // 0 = none

struct RendererView {
  bool busy = false;
  bool started = false;
  DocumentId document = 0;
  std::uint64_t last_used = 0;  // grows with every use
};

// The free renderer that costs least: one that has the document open, then one without a document, then a place where
// none was started yet, then the one unused longest. nullopt = all are busy.
std::optional<std::size_t> choose_renderer(std::span<const RendererView> renderers, DocumentId document);

struct WaitingCall {
  DocumentId document = 0;
  int overtaken = 0;  // how often another call was served before this one although it came later
};

// Who gets a renderer that has `document` open: the first in line, unless a later call wants that very document, which
// saves opening one. No call is overtaken more than `overtaken_max` times. nullopt = nobody waits.
inline constexpr int overtaken_max = 8;
std::optional<std::size_t> choose_waiting(std::span<const WaitingCall> waiting, DocumentId document);

struct RendererMemory {
  std::uint64_t pages = 0;        // answered for this document
  std::int64_t rss_at_first = 0;  // after the first of them
  std::int64_t rss_now = 0;
};

struct RecycleRule {
  std::int64_t threshold_bytes = 0;  // below this, never
  std::int64_t limit_bytes = 0;      // what a renderer may use at most
};

// True when a renderer is above the threshold and has grown by half since its first page: a document that needs much
// from the beginning is not opened again and again. Nor is one that is slow to open: only every so many answers, more
// of them while it is under twice the threshold, unless the renderer has come near its limit. Starting one and reading
// the document's fonts again costs as much as several pages.
inline constexpr std::uint64_t pages_between_recycles = 64;
inline constexpr std::uint64_t pages_between_small_recycles = 256;
bool should_recycle(const RendererMemory& memory, const RecycleRule& rule);

// Starting renderers. One that cannot start says why to its caller; after a few in a row the pool gives the same error
// without trying, for a while that doubles: the machine may be short of memory or descriptors only now.
class StartPolicy {
 public:
  bool may_try(std::chrono::steady_clock::time_point now) const;
  void note_success() { failures_ = 0; }
  void note_failure(std::chrono::steady_clock::time_point now);

 private:
  int failures_ = 0;  // in a row
  std::chrono::steady_clock::time_point again_at_{};
};

}  // namespace lectern::document
