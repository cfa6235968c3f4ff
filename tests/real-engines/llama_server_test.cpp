// Our providers against llama.cpp's own server: what its answers, errors, slots and ends really look like.
#include "real-engines/llama_server.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

#include "base/random.h"
#include "base/timers.h"
#include "provider/fleet.h"
#include "provider/http_client.h"
#include "provider/openai.h"
#include "run_coroutine.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using Json = nlohmann::json;

constexpr auto patience = 60s;  // for what must happen sooner or later

// A JPEG of 24×24 grey pixels.
constexpr std::string_view small_jpeg =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j"
    "q62rZ4C8ybqmx5moq6T/wAALCAAYABgBAREA/8QAFQABAQAAAAAAAAAAAAAAAAAABAX/xAAeEAACAgICAwAAAAAAAAAAAAABBAAh"
    "EhQiMRMjYf/aAAgBAQAAPwBzbRBNwG7y7j1GiSLgH8rkj2eX5K6GVR7apJNQGly6jlFSCKn/2Q==";

std::vector<std::uint8_t> decoded(std::string_view base64) {
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : base64) {
    static constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t value = alphabet.find(c);
    if (value == std::string_view::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if ((count += 6) >= 8) bytes.push_back(static_cast<std::uint8_t>(bits >> (count -= 8)));
  }
  return bytes;
}

Prompt asking(std::string user, int tokens_max = 24) {
  return {.user = std::move(user), .parameters = {.tokens_max = tokens_max}};
}

class LlamaServerTest : public testing::Test {
 protected:
  std::unique_ptr<Provider> provider(bool stream = true) {
    return std::move(make_openai_provider(client_, {.address = server_.address(), .stream = stream}).value());
  }
  Answer ask(Provider& engine, Prompt prompt, CallOptions options = {}) {
    return run_coroutine(loop_, engine.invoke(std::move(prompt), std::move(options)));
  }
  // Until it has loaded its model. Returns why it was not there before.
  std::set<FailureReason> await_ready() {
    std::set<FailureReason> reasons;
    const Deadline deadline = Deadline::after(patience, system_clock());
    for (;;) {
      const auto models =
          run_coroutine(loop_, list_models(client_, {.address = server_.address()}, {.deadline = deadline}));
      if (models) return reasons;
      reasons.insert(models.error().reason);
      if (deadline.passed(system_clock().now())) {
        ADD_FAILURE() << models.error().message << "\n" << server_.log();
        return reasons;
      }
    }
  }
  HttpResponse get(const std::string& path) {
    auto request = HttpRequest{.url = server_.address() + path, .peer = "llama-server"};
    auto answer =
        run_coroutine(loop_, client_->send(std::move(request), {}, Deadline::after(patience, system_clock()), {}));
    if (answer) return std::move(*answer);
    ADD_FAILURE() << answer.error().message;
    return {};
  }
  HttpResponse post(const Json& body) {
    auto request = HttpRequest{.method = "POST",
                               .url = server_.address() + "/v1/chat/completions",
                               .peer = "llama-server",
                               .headers = {"Content-Type: application/json"},
                               .body = HttpBody({body.dump()})};
    auto answer =
        run_coroutine(loop_, client_->send(std::move(request), {}, Deadline::after(patience, system_clock()), {}));
    if (answer) return std::move(*answer);
    ADD_FAILURE() << answer.error().message;
    return {};
  }
  // Waits until no slot works; false after too long. `tokens`: the most that a slot then remembers, prompt and answer.
  bool await_idle(int& tokens) {
    const Deadline deadline = Deadline::after(patience, system_clock());
    for (bool busy = true; busy;) {
      busy = false;
      tokens = 0;
      for (const Json& slot : Json::parse(get("/slots").body)) {
        busy = busy || slot.at("is_processing").get<bool>();
        tokens = std::max(tokens, slot.value("n_prompt_tokens", 0));  // absent in a slot that was never used
      }
      if (busy && deadline.passed(system_clock().now())) return false;
    }
    return true;
  }

  LlamaServer server_{{"--mmproj", LECTERN_REAL_ENGINES "/tiny-mmproj.gguf", "--parallel", "2", "--ctx-size", "8192"}};
  SystemTimers timers_;
  SystemRandom random_;
  asio::io_context loop_;
  std::shared_ptr<HttpClient> client_ = make_http_client(loop_.get_executor());
};

TEST_F(LlamaServerTest, PlainAndStreamedAnswersAreTheSame) {
  await_ready();
  const auto plain = provider(false);
  const auto streamed = provider(true);
  for (const std::string question : {"What is this?", "é 漢字 \"quotes\""}) {
    SCOPED_TRACE(question);
    const Answer first = ask(*plain, asking(question));
    ASSERT_TRUE(first) << first.error().message;
    std::string heard;
    int pieces = 0;
    CallOptions options;
    options.on_text = [&](std::string_view piece) {
      heard += piece;
      ++pieces;
      return true;
    };
    const Answer second = ask(*streamed, asking(question), options);
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_FALSE(first->text.empty());
    EXPECT_EQ(first->text, second->text);
    EXPECT_EQ(heard, second->text);
    EXPECT_GT(pieces, 1);
    EXPECT_EQ(first->finish, FinishReason::length);
    EXPECT_EQ(second->finish, FinishReason::length);
    ASSERT_TRUE(first->usage);
    ASSERT_TRUE(second->usage);
    EXPECT_EQ(first->usage->completion_tokens, 24);
    EXPECT_EQ(second->usage->completion_tokens, 24);
    EXPECT_EQ(first->usage->prompt_tokens, second->usage->prompt_tokens);
    EXPECT_GT(second->first_byte, 0ns);
    EXPECT_LE(second->first_byte, second->total);
  }
}

TEST_F(LlamaServerTest, StopStringsEndTheAnswer) {
  await_ready();
  const auto engine = provider();
  const Answer whole = ask(*engine, asking("Say something."));
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_GT(whole->text.size(), 10U);
  Prompt prompt = asking("Say something.");
  prompt.parameters.stop = {whole->text.substr(5, 4)};
  const Answer stopped = ask(*engine, prompt);
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->finish, FinishReason::stop);
  EXPECT_EQ(stopped->text, whole->text.substr(0, whole->text.find(prompt.parameters.stop[0])));
}

TEST_F(LlamaServerTest, SchemaIsKept) {
  await_ready();
  Prompt prompt = asking("Answer.", 40);
  prompt.parameters.json_schema = R"({"type":"object","properties":{"yes":{"type":"boolean"}},"required":["yes"]})";
  const Answer answer = ask(*provider(), prompt);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->finish, FinishReason::stop);
  const Json reply = Json::parse(answer->text, nullptr, false);
  ASSERT_TRUE(reply.is_object()) << answer->text;
  EXPECT_TRUE(reply.at("yes").is_boolean());
}

TEST_F(LlamaServerTest, ListsItsModel) {
  await_ready();
  const auto models = run_coroutine(loop_, list_models(client_, {.address = server_.address()}, {}));
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 1U);
  EXPECT_EQ(models->front().id, "tiny");
  const Json raw = Json::parse(get("/v1/models").body);
  EXPECT_TRUE(raw.at("data").at(0).contains("meta")) << raw.dump();
}

TEST_F(LlamaServerTest, LogprobsMakeAMean) {
  await_ready();
  for (const bool stream : {true, false}) {
    SCOPED_TRACE(stream);
    Prompt prompt = asking("How sure are you?");
    prompt.parameters.logprobs = true;
    const Answer answer = ask(*provider(stream), prompt);
    ASSERT_TRUE(answer) << answer.error().message;
    ASSERT_TRUE(answer->mean_logprob);
    EXPECT_LT(*answer->mean_logprob, 0);
    EXPECT_GT(*answer->mean_logprob, -20);
  }
}

TEST_F(LlamaServerTest, PicturesAreSeen) {
  await_ready();
  const auto engine = provider();
  Prompt prompt = asking("Read this page.");
  const Answer blind = ask(*engine, prompt);
  ASSERT_TRUE(blind) << blind.error().message;
  prompt.images = {{.bytes = std::make_shared<const std::vector<std::uint8_t>>(decoded(small_jpeg))}};
  const Answer seeing = ask(*engine, prompt);
  ASSERT_TRUE(seeing) << seeing.error().message;
  EXPECT_NE(seeing->text, blind->text);
  EXPECT_GT(seeing->usage->prompt_tokens, blind->usage->prompt_tokens + 10);
}

TEST_F(LlamaServerTest, WhatIsNoPictureIsABadImage) {
  await_ready();
  const std::string words = "this is no picture at all";
  Prompt prompt = asking("Read this page.");
  prompt.images = {{.bytes = std::make_shared<const std::vector<std::uint8_t>>(words.begin(), words.end())}};
  const Answer answer = ask(*provider(), prompt);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().reason, FailureReason::bad_image) << answer.error().message;
  EXPECT_EQ(answer.error().http_status, 400);
}

TEST_F(LlamaServerTest, BrokenRequestsKeepTheirShapes) {
  await_ready();
  struct Case {
    std::string_view name;
    Json body;
    int status;
    std::string_view type;
  };
  const auto user = [](Json content) -> Json {
    return {{"messages", {{{"role", "user"}, {"content", std::move(content)}}}}};
  };
  const Json text_url = {{{"type", "image_url"}, {"image_url", "data:image/png;base64,AAAA"}}};
  const Json unknown_part = {{{"type", "film"}, {"film", "x"}}};
  Json wrong_type = user("hi");
  wrong_type["temperature"] = "hot";
  Json bad_schema = user("hi");
  bad_schema["response_format"] = {{"type", "json_schema"}, {"json_schema", {{"schema", {{"type", "nonsense"}}}}}};
  const Case cases[] = {{"no messages", {{"max_tokens", 1}}, 400, "invalid_request_error"},
                        {"unknown part", user(unknown_part), 400, "invalid_request_error"},
                        {"picture as text", user(text_url), 500, "server_error"},
                        {"a field of the wrong type", wrong_type, 400, "invalid_request_error"},
                        {"a schema that is none", bad_schema, 400, "invalid_request_error"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const HttpResponse response = post(c.body);
    EXPECT_EQ(response.head.status, c.status);
    const Json error = Json::parse(response.body).at("error");
    EXPECT_EQ(error.at("type"), c.type);
    EXPECT_EQ(error.at("code"), c.status);
    EXPECT_TRUE(error.at("message").is_string());
  }
}

TEST_F(LlamaServerTest, TooLongForTheContext) {
  await_ready();
  const std::string book(20'000, 'x');
  for (const bool stream : {true, false}) {
    SCOPED_TRACE(stream);
    const Answer answer = ask(*provider(stream), asking(book));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, FailureReason::too_long) << answer.error().message;
    EXPECT_EQ(answer.error().http_status, 400);
  }
  const HttpResponse raw = post({{"messages", {{{"role", "user"}, {"content", book}}}}});
  const Json error = Json::parse(raw.body).at("error");
  EXPECT_EQ(error.at("type"), "exceed_context_size_error");
  EXPECT_GT(error.at("n_prompt_tokens"), error.at("n_ctx"));
}

TEST_F(LlamaServerTest, ACutOrCancelledAnswerFreesItsSlot) {
  await_ready();
  const auto engine = provider();
  CallOptions cut;
  cut.on_text = [](std::string_view) { return false; };
  const Answer answer = ask(*engine, asking("Go on and on.", 3'000), cut);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->finish, FinishReason::cut);
  int tokens = 0;
  EXPECT_TRUE(await_idle(tokens));
  EXPECT_LT(tokens, 2'000) << "it went on to its end";

  CallOptions cancelled;
  cancelled.on_text = [cancellation = cancelled.cancellation](std::string_view) mutable {
    cancellation.request();
    return true;
  };
  const Answer none = ask(*engine, asking("Go on and on.", 3'000), cancelled);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().reason, FailureReason::cancelled);
  EXPECT_TRUE(await_idle(tokens));
  EXPECT_GT(tokens, 0);
  EXPECT_LT(tokens, 2'000) << "it went on to its end";
}

TEST_F(LlamaServerTest, MoreRequestsThanSlotsAllGetTheirOwnAnswer) {
  await_ready();
  const auto engine = provider();
  std::vector<std::string> alone;
  for (int i = 0; i < 8; ++i) alone.push_back(ask(*engine, asking(fmt::format("Question {}", i))).value().text);
  std::vector<std::unique_ptr<Provider>> engines;
  engines.push_back(provider());
  Fleet fleet(std::move(engines), {.parallel = 8}, {.timers = timers_, .random = random_});
  std::vector<std::string> together(8);
  for (std::size_t i = 0; i < together.size(); ++i) {
    asio::co_spawn(loop_, fleet.invoke(asking(fmt::format("Question {}", i)), {}),
                   [&together, i](std::exception_ptr, Answer answer) {
                     together[i] = answer ? answer->text : answer.error().message;
                   });
  }
  loop_.restart();
  loop_.run();
  EXPECT_EQ(together, alone);
  EXPECT_EQ(fleet.report().engines.front().failed, 0U);
}

TEST_F(LlamaServerTest, FleetSurvivesItsKillAndReturn) {
  await_ready();
  const std::string before = ask(*provider(), asking("Are you there?")).value().text;
  std::vector<std::unique_ptr<Provider>> engines;
  engines.push_back(provider());
  Fleet fleet(std::move(engines), {.parallel = 4, .attempts_max = 100, .retry_share_max = 100},
              {.timers = timers_, .random = random_});
  int answered = 0;
  int failed = 0;
  bool killed = false;
  CallOptions options;
  options.deadline = Deadline::after(patience, system_clock());
  options.on_text = [&](std::string_view) {
    if (!std::exchange(killed, true)) {
      server_.kill();
      server_.start();
    }
    return true;
  };
  for (int i = 0; i < 8; ++i) {
    asio::co_spawn(loop_, fleet.invoke(asking(fmt::format("Page {}", i), 100), options),
                   [&](std::exception_ptr, Answer answer) { answer ? ++answered : ++failed; });
  }
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(killed);
  EXPECT_EQ(answered, 8) << fleet.report().engines.front().last_failure;
  EXPECT_EQ(failed, 0);
  EXPECT_GT(fleet.report().retries, 0U);
  EXPECT_EQ(ask(fleet, asking("Are you there?")).value().text, before);
}

TEST_F(LlamaServerTest, WhileItComesItIsUnreachableOrLoading) {
  const std::set<FailureReason> seen = await_ready();
  for (const FailureReason reason : seen) {
    EXPECT_TRUE(reason == FailureReason::unreachable || reason == FailureReason::loading) << to_string(reason);
    EXPECT_TRUE(worth_retrying(reason));
  }
  EXPECT_FALSE(seen.empty());
  RecordProperty("loading", seen.contains(FailureReason::loading));
  std::string names;
  for (const FailureReason reason : seen) names += fmt::format(" {}", to_string(reason));
  fmt::print("seen before it was ready:{}\n", names);
}

}  // namespace
}  // namespace lectern::provider
