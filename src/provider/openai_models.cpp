// What an engine offers, and the first of it.
#include <fmt/format.h>
#include <simdjson.h>

#include <mutex>
#include <optional>
#include <utility>

#include "base/timers.h"
#include "provider/openai_endpoint.h"
#include "provider/openai_errors.h"
#include "provider/sse.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

// vLLM says max_model_len, llama-server meta.n_ctx (older: n_ctx_train), hosted gateways context_length.
int context_of(simdjson::dom::object model) {
  for (const char* key : {"/max_model_len", "/context_length", "/context_window", "/meta/n_ctx", "/meta/n_ctx_train"}) {
    std::int64_t tokens = 0;
    if (model.at_pointer(key).get(tokens) == simdjson::SUCCESS && tokens > 0 && tokens <= INT32_MAX) {
      return static_cast<int>(tokens);
    }
  }
  return 0;
}

}  // namespace

std::optional<std::vector<ModelInfo>> parse_models(std::string body) {
  body.reserve(body.size() + SseParser::padding);
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  simdjson::dom::element root;
  if (parser.parse(body.data(), body.size(), false).get(root) != simdjson::SUCCESS ||
      root["data"].get(list) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  std::vector<ModelInfo> models;
  for (const simdjson::dom::element entry : list) {
    simdjson::dom::object model;
    std::string_view id;
    if (entry.get(model) != simdjson::SUCCESS || model["id"].get(id) != simdjson::SUCCESS) continue;
    models.push_back({.id = std::string(id), .context_tokens = context_of(model)});
  }
  return models;
}

asio::awaitable<ModelList> ask_for_models(OpenAiEndpoint endpoint, CallOptions call) {
  HttpRequest request = endpoint.request("GET", "/models");
  HttpHandlers collect;
  HttpAnswer answer =
      co_await endpoint.client->send(std::move(request), std::move(collect), call.deadline, call.cancellation);
  if (!answer) co_return std::unexpected(std::move(answer.error()));
  const std::string& name = endpoint.address.name;
  if (answer->head.status != 200) {
    co_return std::unexpected(classify(name,
                                       {.status = answer->head.status,
                                        .retry_after = answer->head.header("retry-after"),
                                        .retry_after_ms = answer->head.header("retry-after-ms"),
                                        .location = answer->head.header("location"),
                                        .body = answer->body},
                                       system_clock().wall()));
  }
  auto models = parse_models(std::move(answer->body));
  if (!models) {
    co_return std::unexpected(Failure{.reason = FailureReason::bad_reply,
                                      .message = name + " does not list models at /v1/models; is it a model server?",
                                      .http_status = 200});
  }
  co_return std::move(*models);
}

// Either the name is known, or somebody asks for it and the others wait, each no longer than its own deadline.
struct FirstModel::State {
  struct Asking {
    std::optional<std::expected<std::string, Failure>> outcome;
    Cancellation over;  // requested when `outcome` is there, or when the asker gave up
  };
  std::mutex mutex;  // guards all below, and what an Asking holds
  std::optional<std::string> name;
  std::shared_ptr<Asking> asking;  // shared by those who wait for it
};

std::shared_ptr<FirstModel::State> FirstModel::make_state() {
  return std::make_shared<State>();
}

asio::awaitable<std::expected<std::string, Failure>> FirstModel::name(OpenAiEndpoint endpoint, CallOptions call) {
  return find(state_, std::move(endpoint), std::move(call));
}

asio::awaitable<std::expected<std::string, Failure>> FirstModel::find(std::shared_ptr<State> state,
                                                                      OpenAiEndpoint endpoint, CallOptions call) {
  const std::string& engine = endpoint.address.name;
  const auto refuse = [&](FailureReason reason) {
    return std::unexpected(Failure{.reason = reason, .message = engine + ": " + std::string(to_string(reason))});
  };
  std::shared_ptr<State::Asking> asking;
  for (bool mine = false; !mine;) {
    {
      const std::lock_guard lock(state->mutex);
      if (state->name) co_return *state->name;
      mine = !state->asking;
      if (mine) state->asking = std::make_shared<State::Asking>();
      asking = state->asking;
    }
    if (mine) break;
    Cancellation wake;
    const auto by_asker = asking->over.on_request([wake]() mutable { wake.request(); });
    const auto by_caller = call.cancellation.on_request([wake]() mutable { wake.request(); });
    SystemTimers timers;
    co_await timers.wait_until(call.deadline.when(), wake);
    {
      const std::lock_guard lock(state->mutex);
      if (asking->outcome) co_return *asking->outcome;
    }
    if (call.cancellation.requested()) co_return refuse(FailureReason::cancelled);
    if (call.deadline.passed(system_clock().now())) co_return refuse(FailureReason::timed_out);
  }

  // An asker whose coroutine is destroyed must not leave the others waiting.
  struct LetOthersAsk {
    std::shared_ptr<State> state;
    std::shared_ptr<State::Asking> asking;
    ~LetOthersAsk() {
      {
        const std::lock_guard lock(state->mutex);
        if (state->asking == asking) state->asking = nullptr;
      }
      asking->over.request();
    }
  };
  const LetOthersAsk let_others_ask{state, asking};
  const ModelList models = co_await ask_for_models(endpoint, call);
  std::expected<std::string, Failure> outcome;
  if (!models) {
    outcome = std::unexpected(models.error());
    if (models.error().reason == FailureReason::unknown_model) {
      outcome.error().message += " (it lists no models; name one with --model)";
    }
  } else if (models->empty()) {
    outcome = std::unexpected(
        Failure{.reason = FailureReason::unknown_model, .message = engine + " offers no model (/v1/models is empty)"});
  } else {
    outcome = models->front().id;
  }
  const bool own_affair = !outcome && (outcome.error().reason == FailureReason::cancelled ||
                                       outcome.error().reason == FailureReason::timed_out);
  {
    const std::lock_guard lock(state->mutex);
    if (outcome) state->name = *outcome;
    if (!own_affair) asking->outcome = outcome;
  }
  co_return outcome;
}

asio::awaitable<ModelList> list_models(std::shared_ptr<HttpClient> client, OpenAiOptions options, CallOptions call) {
  auto endpoint = make_endpoint(std::move(client), std::move(options));
  if (!endpoint) {
    co_return std::unexpected(
        Failure{.reason = FailureReason::bad_request, .message = std::move(endpoint.error().for_caller)});
  }
  co_return co_await ask_for_models(std::move(*endpoint), std::move(call));
}

}  // namespace lectern::provider
