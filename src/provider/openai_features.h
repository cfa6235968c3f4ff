// Fields that some servers refuse. A request goes out with all that it wants; when a server refuses one by name, it is
// left out for the rest of the run and the request goes out again.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "provider/openai_errors.h"

namespace lectern::provider {

enum class Feature : std::uint8_t {
  stream_options,   // token counts at the end of a stream
  logprobs,         //
  response_format,  // a JSON schema for the reply
  penalties,        // repetition_penalty and repeat_penalty
  temperature,      // some hosted models think at one temperature only
  max_tokens,       // under this name: without it, max_completion_tokens is sent
};
inline constexpr int feature_count = 6;

class FeatureSet {
 public:
  bool has(Feature feature) const { return (bits_ >> static_cast<unsigned>(feature) & 1U) != 0; }
  FeatureSet without(Feature feature) const { return FeatureSet(bits_ & ~(1U << static_cast<unsigned>(feature))); }
  bool operator==(const FeatureSet&) const = default;

  static FeatureSet all() { return FeatureSet((1U << feature_count) - 1); }

 private:
  friend class ServerFeatures;
  explicit FeatureSet(unsigned bits) : bits_(bits) {}
  unsigned bits_;
};

// What one server has not refused yet. Safe from any thread.
class ServerFeatures {
 public:
  FeatureSet now() const { return FeatureSet(bits_.load(std::memory_order_relaxed)); }
  void refuse(Feature feature) { bits_.fetch_and(FeatureSet::all().without(feature).bits_); }

 private:
  std::atomic<unsigned> bits_{FeatureSet::all().bits_};
};

// The feature of `sent` that a refusal names, if it does. A prompt that is too long is no refusal, though the text
// speaks of max_tokens.
std::optional<Feature> refused_feature(const Failure& failure, const ErrorText& text, FeatureSet sent);

}  // namespace lectern::provider
