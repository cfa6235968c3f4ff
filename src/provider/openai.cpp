#include "provider/openai.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <utility>

#include "provider/http_client.h"
#include "provider/openai_answer.h"
#include "provider/openai_endpoint.h"
#include "provider/openai_features.h"
#include "provider/openai_load.h"
#include "provider/openai_request.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;

struct Engine {
  OpenAiEndpoint endpoint;
  ServerFeatures features;
  FirstModel first_model;
  std::shared_ptr<LoadPages> load_pages = std::make_shared<LoadPages>();  // also held by calls under way

  explicit Engine(OpenAiEndpoint made) : endpoint(std::move(made)) {}
};

// After "[DONE]" only the end of the body can come, which lets the connection be kept; not all servers send it.
constexpr std::chrono::seconds end_of_body_time{1};

struct Attempt {
  Answer answer;
  std::optional<Feature> refused;  // then the request is worth sending again without it
};

asio::awaitable<Attempt> attempt(std::shared_ptr<Engine> engine, HttpRequest request, FeatureSet sent,
                                 CallOptions options) {
  AnswerReader reader(engine->endpoint.address.name, options.on_text);
  asio::steady_timer end_of_body(co_await asio::this_coro::executor);
  Cancellation stop;
  const auto on_cancel = options.cancellation.on_request([stop]() mutable { stop.request(); });
  const TimePoint started = system_clock().now();
  HttpResponse so_far;  // for when it does not end by itself
  // The handlers are called only while this coroutine awaits them.
  HttpHandlers handlers{.on_head = [&](const HttpHead& head) { reader.take_head(head); },
                        .on_body =
                            [&](std::string_view bytes) {
                              if (options.on_sign) options.on_sign();
                              if (so_far.first_byte.count() == 0) so_far.first_byte = system_clock().now() - started;
                              const bool go_on = reader.take_body(bytes);
                              if (!reader.done() || so_far.total.count() > 0) return go_on;
                              so_far.total = system_clock().now() - started;
                              end_of_body.expires_after(end_of_body_time);
                              end_of_body.async_wait([stop](boost::system::error_code error) mutable {
                                if (!error) stop.request();
                              });
                              return go_on;
                            }};
  HttpAnswer end =
      co_await engine->endpoint.client->send(std::move(request), std::move(handlers), options.deadline, stop);
  if (!end && reader.done() && !options.cancellation.requested()) end = std::move(so_far);
  Answer answer = reader.finish(end);
  std::optional<Feature> refused;
  if (!answer && answer.error().http_status >= 400 && !answer.error().reply_started) {
    refused = refused_feature(answer.error(), read_error_body(reader.error_body()), sent);
  }
  co_return Attempt{std::move(answer), refused};
}

asio::awaitable<Answer> ask(std::shared_ptr<Engine> engine, Prompt prompt, CallOptions options) {
  const OpenAiEndpoint& endpoint = engine->endpoint;
  if (prompt.model.empty()) prompt.model = endpoint.options.model;
  if (prompt.model.empty()) {
    auto name = co_await engine->first_model.name(endpoint, options);
    if (!name) co_return std::unexpected(std::move(name.error()));
    prompt.model = std::move(*name);
  }
  for (;;) {
    auto body = build_chat_body(prompt, {.stream = endpoint.options.stream,
                                         .hosted = endpoint.address.hosted,
                                         .extra_body = endpoint.options.extra_body,
                                         .features = engine->features.now()});
    if (!body) co_return std::unexpected(std::move(body.error()));
    HttpRequest request = endpoint.request("POST", "/chat/completions");
    request.headers.emplace_back("Content-Type: application/json");
    request.body = std::move(body->body);
    Attempt made = co_await attempt(engine, std::move(request), body->sent, options);
    if (made.refused) {  // ends: each round sends at least one feature less
      engine->features.refuse(*made.refused);
      continue;
    }
    if (made.answer && made.answer->model.empty()) made.answer->model = prompt.model;
    co_return std::move(made.answer);
  }
}

class OpenAiProvider final : public Provider {
 public:
  explicit OpenAiProvider(OpenAiEndpoint endpoint) : engine_(std::make_shared<Engine>(std::move(endpoint))) {}

  asio::awaitable<Answer> invoke(Prompt prompt, CallOptions options) override {
    return ask(engine_, std::move(prompt), std::move(options));
  }
  bool tells_load() const override { return provider::tells_load(engine_->endpoint); }
  asio::awaitable<LoadAnswer> load(CallOptions options) override {
    return ask_load(engine_->endpoint, engine_->load_pages, std::move(options));
  }
  std::string name() const override { return engine_->endpoint.address.name; }

 private:
  std::shared_ptr<Engine> engine_;  // also held by calls under way
};

}  // namespace

Result<std::unique_ptr<Provider>> make_openai_provider(std::shared_ptr<HttpClient> client, OpenAiOptions options) {
  auto endpoint = make_endpoint(std::move(client), std::move(options));
  if (!endpoint) return std::unexpected(std::move(endpoint.error()));
  return std::make_unique<OpenAiProvider>(std::move(*endpoint));
}

}  // namespace lectern::provider
