// The body of a chat completion: small parts as JSON text, pictures as pieces that are encoded while they go out.
#pragma once

#include <expected>
#include <string>

#include "provider/http_body.h"
#include "provider/openai_features.h"
#include "provider/provider.h"

namespace lectern::provider {

struct ChatBodyOptions {
  bool stream = true;
  bool hosted = false;     // send only what OpenAI's own API knows
  std::string extra_body;  // JSON object text; the prompt's own extra_body wins over it, and it over our fields
  FeatureSet features = FeatureSet::all();
};

struct ChatBody {
  HttpBody body;
  FeatureSet sent;  // which of the refusable fields it holds
};

// Failures: bad_request for a schema or extra_body that is no JSON object.
std::expected<ChatBody, Failure> build_chat_body(const Prompt& prompt, const ChatBodyOptions& options);

// Is it the text of a JSON object (or empty)?
bool is_json_object(const std::string& text);

}  // namespace lectern::provider
