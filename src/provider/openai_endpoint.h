// How requests to one engine look: address, key, headers, transport. Also what it offers (GET /v1/models).
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "provider/http_client.h"
#include "provider/openai.h"
#include "provider/openai_address.h"

namespace lectern::provider {

struct OpenAiEndpoint {
  std::shared_ptr<HttpClient> client;
  EngineAddress address;
  OpenAiOptions options;

  HttpRequest request(std::string method, std::string_view path) const;
};

// Errors: an address, key, header or extra_body that cannot be one.
Result<OpenAiEndpoint> make_endpoint(std::shared_ptr<HttpClient> client, OpenAiOptions options);

using ModelList = std::expected<std::vector<ModelInfo>, Failure>;
boost::asio::awaitable<ModelList> ask_for_models(OpenAiEndpoint endpoint, CallOptions call);
// The body of GET /v1/models; nullopt = it is none.
std::optional<std::vector<ModelInfo>> parse_models(std::string body);

// The name of the engine's first model, asked for once however many want to know it. Safe from any thread.
class FirstModel {
 public:
  boost::asio::awaitable<std::expected<std::string, Failure>> name(OpenAiEndpoint endpoint, CallOptions call);

 private:
  struct State;
  std::shared_ptr<State> state_ = make_state();
  static std::shared_ptr<State> make_state();
  static boost::asio::awaitable<std::expected<std::string, Failure>> find(std::shared_ptr<State> state,
                                                                          OpenAiEndpoint endpoint, CallOptions call);
};

}  // namespace lectern::provider
