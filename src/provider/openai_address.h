// Where an engine is, from what a person writes: "localhost:8000", "https://api.example.com/v1/",
// "unix:/run/vllm.sock".
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::provider {

struct EngineAddress {
  std::string base;         // "http://host:8000/v1", credentials included
  std::string root;         // "http://host:8000": where pages beside the API are; empty = nobody knows
  std::string query;        // "" or "?api-version=…", kept for every request
  std::string unix_socket;  // path; empty = TCP
  std::string name;         // how messages call it: as written, without credentials, path "/v1" and query
  bool local = false;       // this machine: no proxy is wanted
  bool hosted = false;      // a hosted API that refuses parameters it does not know

  std::string url(std::string_view path) const { return base + std::string(path) + query; }
};

// "/v1" is added unless the path names a version already; a pasted ".../chat/completions" is accepted.
// Errors: what cannot be an address (the text says what was expected).
Result<EngineAddress> parse_engine_address(std::string_view text);

}  // namespace lectern::provider
