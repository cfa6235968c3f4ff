// The provider as a whole against a scripted server: models, refused fields, keys, failures.
#include "provider/openai.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thread>

#include "provider/conformance_engine.h"
#include "provider/test_server.h"
#include "run_coroutine.h"
#include "temp_folder.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using ExchangePtr = std::shared_ptr<TestServer::Exchange>;
using Json = nlohmann::json;

constexpr std::string_view said_ok =
    R"({"model":"served-name","choices":[{"index":0,"message":{"content":"ok"},"finish_reason":"stop"}]})";

class OpenAiTest : public testing::Test {
 protected:
  std::unique_ptr<Provider> make(OpenAiOptions options) {
    return std::move(make_openai_provider(client_, std::move(options)).value());
  }
  Answer ask(Provider& provider, Prompt prompt, CallOptions options = {}) {
    return run_coroutine(loop_, provider.invoke(std::move(prompt), std::move(options)));
  }

  asio::io_context loop_;
  std::shared_ptr<HttpClient> client_ = make_http_client(loop_.get_executor());
};

asio::awaitable<void> say_ok(ExchangePtr exchange) {
  if (exchange->request.target == "/v1/models") {
    co_await exchange->answer(
        200,
        R"({"data":[{"id":"first","max_model_len":8192},{"id":"lora"},{"no":"id"},{"id":"l","meta":{"n_ctx_train":4}}]})");
  } else {
    co_await exchange->answer(200, std::string(said_ok));
  }
}

TEST_F(OpenAiTest, AsksTheFirstModelOnceForAll) {
  TestServer server(say_ok);
  const auto provider = make({.address = server.address()});
  int answered = 0;
  for (int i = 0; i < 30; ++i) {
    asio::co_spawn(loop_, provider->invoke({.user = "u"}, {}), [&](std::exception_ptr, Answer answer) {
      answered += answer && answer->text == "ok" && answer->model == "served-name";
    });
  }
  loop_.run();
  EXPECT_EQ(answered, 30);
  int lists = 0;
  for (const TestRequest& request : server.requests()) {
    if (request.target == "/v1/models") {
      ++lists;
    } else {
      EXPECT_EQ(Json::parse(request.body)["model"], "first");
    }
  }
  EXPECT_EQ(lists, 1);
}

// Lets the first who asks for the models wait for ever.
class HangOnce {
 public:
  asio::awaitable<void> operator()(ExchangePtr exchange) const {
    if (exchange->request.target == "/v1/models" && std::exchange(*first_, false)) co_await exchange->hang();
    co_await say_ok(exchange);
  }

 private:
  std::shared_ptr<bool> first_ = std::make_shared<bool>(true);  // std::function copies
};

TEST_F(OpenAiTest, TheAskersOwnEndIsNotTheOthers) {
  TestServer server{HangOnce()};
  const auto provider = make({.address = server.address()});
  CallOptions impatient;
  std::optional<Answer> gave_up;
  std::optional<Answer> stayed;
  asio::co_spawn(loop_, provider->invoke({.user = "u"}, impatient),
                 [&](std::exception_ptr, Answer answer) { gave_up = std::move(answer); });
  asio::co_spawn(loop_, provider->invoke({.user = "u"}, {}),
                 [&](std::exception_ptr, Answer answer) { stayed = std::move(answer); });
  const std::jthread canceller([&server, stop = impatient.cancellation]() mutable {
    server.await_begun(1);
    stop.request();
  });
  loop_.run();
  ASSERT_TRUE(gave_up && !*gave_up);
  EXPECT_EQ(gave_up->error().reason, FailureReason::cancelled);
  ASSERT_TRUE(stayed && *stayed) << stayed->error().message;
  EXPECT_EQ((*stayed)->text, "ok");
}

TEST_F(OpenAiTest, ThoseWhoWaitForTheNameKeepTheirDeadlines) {
  TestServer server([](ExchangePtr exchange) -> asio::awaitable<void> { co_await exchange->hang(); });
  const auto provider = make({.address = server.address()});
  Cancellation asker_stops;
  std::optional<Answer> waiting;
  asio::co_spawn(loop_, provider->invoke({.user = "u"}, {.cancellation = asker_stops}),
                 [](std::exception_ptr, Answer) {});
  asio::co_spawn(loop_, provider->invoke({.user = "u"}, {.deadline = Deadline::after(50ms, system_clock())}),
                 [&](std::exception_ptr, Answer answer) {
                   waiting = std::move(answer);
                   asker_stops.request();
                 });
  loop_.run();
  ASSERT_TRUE(waiting && !*waiting);
  EXPECT_EQ(waiting->error().reason, FailureReason::timed_out);
}

TEST_F(OpenAiTest, AServerWithoutModelsIsNamed) {
  TestServer empty(
      [](ExchangePtr exchange) -> asio::awaitable<void> { co_await exchange->answer(200, R"({"data":[]})"); });
  const Answer none = ask(*make({.address = empty.address()}), {.user = "u"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, FailureReason::unknown_model);
  EXPECT_NE(none.error().message.find(empty.address()), std::string::npos);

  TestServer page([](ExchangePtr exchange) -> asio::awaitable<void> {
    co_await exchange->answer(200, "<html>hello</html>", "text/html");
  });
  const Answer other = ask(*make({.address = page.address()}), {.user = "u"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().reason, FailureReason::bad_reply);
  EXPECT_NE(other.error().message.find("is it a model server?"), std::string::npos);
}

TEST_F(OpenAiTest, ListsModels) {
  TestServer server(say_ok);
  const auto models = run_coroutine(loop_, list_models(client_, {.address = server.address()}, {}));
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 3U);
  EXPECT_EQ((*models)[0].id, "first");
  EXPECT_EQ((*models)[0].context_tokens, 8192);
  EXPECT_EQ((*models)[1].context_tokens, 0);
  EXPECT_EQ((*models)[2].context_tokens, 4);
  const auto bad = run_coroutine(loop_, list_models(client_, {.address = "ftp://x"}, {}));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().reason, FailureReason::bad_request);
}

TEST_F(OpenAiTest, KeysAndHeadersAreSent) {
  TestServer server(say_ok);
  const auto provider = make({.address = server.address() + "/v1/",
                              .model = "m",
                              .api_key = "sk-secret",
                              .extra_body = R"({"top_k":1})",
                              .extra_headers = {"X-Team: readers"}});
  ASSERT_TRUE(ask(*provider, {.user = "u"}));
  const TestRequest request = server.requests().front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/chat/completions");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer sk-secret");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_EQ(request.headers.at("x-team"), "readers");
  EXPECT_EQ(Json::parse(request.body)["top_k"], 1);
  EXPECT_EQ(Json::parse(request.body)["model"], "m");
}

TEST_F(OpenAiTest, ThePromptsModelWins) {
  TestServer server(say_ok);
  ASSERT_TRUE(ask(*make({.address = server.address(), .model = "m"}), {.model = "mine", .user = "u"}));
  EXPECT_EQ(Json::parse(server.requests().front().body)["model"], "mine");
}

TEST_F(OpenAiTest, SpeaksOverASocketFile) {
  const TempFolder folder;
  TestServer server(conformance_script, folder.path() / "engine.sock");
  const auto provider = make({.address = server.address()});
  const Answer answer = ask(*provider, {.user = "say over a file"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "over a file");
  EXPECT_EQ(answer->engine, server.address());
}

// Refuses, one after another, every field that a server might not know.
asio::awaitable<void> refuse_everything(ExchangePtr exchange) {
  const Json body = Json::parse(exchange->request.body);
  for (const std::string field :
       {"stream_options", "logprobs", "response_format", "repetition_penalty", "temperature"}) {
    if (!body.contains(field)) continue;
    const Json error = {{"error", {{"message", "Unknown parameter: '" + field + "'."}, {"code", 400}}}};
    co_await exchange->answer(400, error.dump());
    co_return;
  }
  if (body.contains("max_tokens")) {
    const Json error = {{"error", {{"message", "Use 'max_completion_tokens' instead."}, {"param", "max_tokens"}}}};
    co_await exchange->answer(400, error.dump());
    co_return;
  }
  co_await exchange->answer(200, std::string(said_ok));
}

TEST_F(OpenAiTest, RefusedFieldsAreDroppedForTheRestOfTheRun) {
  TestServer server(refuse_everything);
  const auto provider = make({.address = server.address(), .model = "m"});
  const Prompt prompt{
      .user = "u", .parameters = {.tokens_max = 9, .repetition_penalty = 1.1, .logprobs = true, .json_schema = "{}"}};
  const Answer first = ask(*provider, prompt);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(server.requests().size(), 7U);
  const Json last = Json::parse(server.requests().back().body);
  EXPECT_EQ(last["max_completion_tokens"], 9);
  const Answer second = ask(*provider, prompt);
  ASSERT_TRUE(second);
  EXPECT_EQ(server.requests().size(), 8U) << "it is not asked with them again";
}

TEST_F(OpenAiTest, AServerThatRefusesNoMatterWhatIsAskedOnceMore) {
  TestServer server([](ExchangePtr exchange) -> asio::awaitable<void> {
    co_await exchange->answer(400, R"({"error":{"message":"stream_options is forbidden here"}})");
  });
  const Answer answer = ask(*make({.address = server.address(), .model = "m"}), {.user = "u"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::bad_request);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(OpenAiTest, AStaleConnectionCostsNothing) {
  TestServer server(say_ok);
  const auto provider = make({.address = server.address(), .model = "m"});
  for (int round = 0; round < 4; ++round) {
    const Answer answer = ask(*provider, {.user = "u"});
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->attempts, 1);
    server.drop_connections();
  }
  EXPECT_EQ(server.connections(), 4);
}

TEST_F(OpenAiTest, FailuresNameTheEngineWithoutCredentials) {
  TestServer server([](ExchangePtr exchange) -> asio::awaitable<void> {
    co_await exchange->answer(503, R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})",
                              "application/json", "Retry-After: 2\r\n");
  });
  std::string address = server.address();
  address.insert(7, "me:secret@");
  const auto provider = make({.address = address, .model = "m"});
  EXPECT_EQ(provider->name(), server.address());
  const Answer answer = ask(*provider, {.user = "u"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::loading);
  EXPECT_EQ(answer.error().message, server.address() + " answered 503: Loading model");
  EXPECT_EQ(answer.error().retry_after, 2s);
  EXPECT_TRUE(server.requests().front().headers.at("authorization").starts_with("Basic "));
}

TEST_F(OpenAiTest, CutMidStreamKeepsWhatHadArrived) {
  TestServer server([](ExchangePtr exchange) -> asio::awaitable<void> {
    co_await exchange->begin_stream();
    co_await exchange->event(R"({"choices":[{"index":0,"delta":{"content":"half a"}}]})");
    exchange->close();
  });
  const Answer answer = ask(*make({.address = server.address(), .model = "m"}), {.user = "u"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::connection_lost);
  EXPECT_TRUE(answer.error().reply_started);
}

TEST_F(OpenAiTest, BadOptionsAreRefusedWithAReason) {
  const OpenAiOptions bad[] = {{.address = "nonsense://x"},
                               {.address = "http://h", .api_key = "a\r\nX-Evil: 1"},
                               {.address = "http://h", .extra_body = "[1]"},
                               {.address = "http://h", .extra_headers = {"no colon"}},
                               {.address = "http://h", .extra_headers = {"A: b\r\nC: d"}}};
  for (const OpenAiOptions& options : bad) {
    const auto made = make_openai_provider(client_, options);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(made.error().for_caller.find("X-Evil"), std::string::npos) << "keys are not shown";
  }
}

TEST_F(OpenAiTest, TimesAreMeasured) {
  TestServer server(say_ok);
  const Answer answer = ask(*make({.address = server.address(), .model = "m"}), {.user = "u"});
  ASSERT_TRUE(answer);
  EXPECT_GT(answer->first_byte.count(), 0);
  EXPECT_GE(answer->total, answer->first_byte);
}

asio::awaitable<void> never_end(ExchangePtr exchange) {
  co_await exchange->begin_stream();
  co_await exchange->event(R"({"choices":[{"index":0,"delta":{"content":"page"},"finish_reason":"stop"}]})");
  co_await exchange->event("[DONE]");
  co_await exchange->hang();
}

TEST_F(OpenAiTest, AnAnswerIsWholeWithDoneThoughTheServerKeepsTheBodyOpen) {
  TestServer server(never_end);
  const auto provider = make({.address = server.address(), .model = "m"});
  const Answer answer = ask(*provider, {.user = "u"});  // without a deadline
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->text, "page");
  EXPECT_GT(answer->first_byte.count(), 0);
  EXPECT_GE(answer->total, answer->first_byte);
  EXPECT_TRUE(server.await_left(1)) << "the connection was closed";
}

asio::awaitable<void> talk_forever(ExchangePtr exchange) {
  co_await exchange->answer(200, std::string(std::size_t{17} << 20, ' '));
}

TEST_F(OpenAiTest, AListOfModelsWithoutEndIsGivenUp) {
  TestServer server(talk_forever);
  const auto provider = make({.address = server.address()});
  const Answer answer = ask(*provider, {.user = "u"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::bad_reply);
  EXPECT_NE(answer.error().message.find("more than 16 MiB"), std::string::npos) << answer.error().message;
}

}  // namespace
}  // namespace lectern::provider
