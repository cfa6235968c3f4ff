// A provider that speaks /v1/chat/completions: vLLM, llama-server, SGLang, Ollama, hosted APIs.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "provider/provider.h"

namespace lectern::provider {

// One pool of connections for the whole process: libcurl's multi interface driven by an event loop. Its work runs on
// `executor`, whose loop must be run by one thread. Destroying it ends all transfers as cancelled.
class HttpClient;
std::shared_ptr<HttpClient> make_http_client(boost::asio::any_io_executor executor);

struct OpenAiOptions {
  std::string address;     // "http://host:8000", with or without /v1; "unix:/run/vllm.sock" for a socket
  std::string model;       // empty = the server's only model, asked for once
  std::string api_key;     // empty = none is sent
  std::string extra_body;  // JSON object text that joins every request (Parameters::extra_body wins)
  std::vector<std::string> extra_headers;  // "Name: value"
  bool stream = true;                      // so that a cancelled request really frees its slot
  std::string proxy;                       // empty = as the environment says
  std::string ca_file;                     // empty = the system's
  bool verify_tls = true;
  std::chrono::milliseconds connect_timeout{5'000};
};

// Errors: an address that cannot be one (the text says what was expected).
Result<std::unique_ptr<Provider>> make_openai_provider(std::shared_ptr<HttpClient> client, OpenAiOptions options);

struct ModelInfo {
  std::string id;
  int context_tokens = 0;  // 0 = the server does not say
};
// GET /v1/models: what the server offers.
boost::asio::awaitable<std::expected<std::vector<ModelInfo>, Failure>> list_models(std::shared_ptr<HttpClient> client,
                                                                                   OpenAiOptions options,
                                                                                   CallOptions call);

}  // namespace lectern::provider
