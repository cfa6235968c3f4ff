// What a chat completions request asks for, scanned out of its JSON without building it: bodies are images, almost
// entirely.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hash.h"

namespace lectern::sim {

struct ChatRequest {
  std::string model;
  bool stream = false;
  bool include_usage = false;
  bool has_stream_options = false;
  bool logprobs = false;
  int top_logprobs = 0;
  std::optional<int> tokens_max;  // max_completion_tokens, else max_tokens
  std::string text;               // of all messages, one after another
  std::size_t images = 0;
  std::size_t image_bytes = 0;    // of the first one, decoded
  int image_tokens = 0;           // what its size in pixels would cost: one token for 28 x 28
  bool image_recognised = false;  // the first image begins as a JPEG, PNG, GIF, WebP or BMP does
  Sha256Digest digest{};          // of the first image's bytes; of `text` when there is no image
};

// Errors say what a server would say: broken JSON (corrupt), or an image that is not base64 (invalid_input).
Result<ChatRequest> scan_chat_request(std::string_view body);

}  // namespace lectern::sim
