// Where an engine's load is asked for, and when it is not asked any more.
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "provider/openai.h"
#include "provider/test_server.h"
#include "run_coroutine.h"

namespace lectern::provider {
namespace {

namespace asio = boost::asio;
using ExchangePtr = std::shared_ptr<TestServer::Exchange>;

// Answers each page with what is written for it; 404 for others.
struct Pages {
  std::shared_ptr<std::map<std::string, std::pair<int, std::string>>> pages =
      std::make_shared<std::map<std::string, std::pair<int, std::string>>>();

  asio::awaitable<void> operator()(ExchangePtr exchange) const { return answer(pages, std::move(exchange)); }
  static asio::awaitable<void> answer(std::shared_ptr<std::map<std::string, std::pair<int, std::string>>> pages,
                                      ExchangePtr exchange) {
    const auto found = pages->find(exchange->request.target);
    const std::pair<int, std::string> page = found == pages->end() ? std::pair(404, std::string("{}")) : found->second;
    co_await exchange->answer(page.first, page.second);
  }
};

class OpenAiLoadTest : public testing::Test {
 protected:
  LoadAnswer load() {
    if (!provider_)
      provider_ = std::move(make_openai_provider(client_, {.address = server_.address(), .api_key = "k"}).value());
    EXPECT_TRUE(provider_->tells_load());
    return run_coroutine(loop_, provider_->load({}));
  }
  std::string asked() const {
    std::string text;
    for (const TestRequest& request : server_.requests()) text += (text.empty() ? "" : " ") + request.target;
    return text;
  }

  Pages pages_;
  TestServer server_{pages_};
  asio::io_context loop_;
  std::shared_ptr<HttpClient> client_ = make_http_client(loop_.get_executor());
  std::unique_ptr<Provider> provider_;
};

TEST_F(OpenAiLoadTest, SlotsAreAskedForFirst) {
  (*pages_.pages)["/slots"] = {200, R"([{"is_processing":true}])"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(load().figures->slots, 1);
  EXPECT_EQ(asked(), "/slots /slots");
  EXPECT_EQ(server_.requests()[0].headers.at("authorization"), "Bearer k");
}

TEST_F(OpenAiLoadTest, ThenMetrics) {
  (*pages_.pages)["/metrics"] = {200, "vllm:num_requests_running 3\n"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(load().figures->running, 3);
  EXPECT_EQ(asked(), "/slots /metrics /metrics");
}

TEST_F(OpenAiLoadTest, WhoeverSaysNothingIsNotAskedAgain) {
  for (const int status : {404, 401, 501, 200}) {
    SCOPED_TRACE(status);
    provider_.reset();
    (*pages_.pages)["/slots"] = {status, "no"};
    (*pages_.pages)["/metrics"] = {status, "no"};
    const std::size_t before = server_.requests().size();
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(load().ask_again);
      EXPECT_EQ(server_.requests().size(), before + 2);
    }
  }
}

TEST_F(OpenAiLoadTest, TroubleThatPassesIsForgiven) {
  (*pages_.pages)["/slots"] = {503, "{}"};
  LoadAnswer answer = load();
  EXPECT_TRUE(answer.ask_again);
  EXPECT_FALSE(answer.figures);
  (*pages_.pages)["/slots"] = {200, R"([{"is_processing":true}])"};
  EXPECT_TRUE(load().figures);
  EXPECT_EQ(asked(), "/slots /slots");
}

TEST_F(OpenAiLoadTest, HostedApisAndUnknownPathsAreNotAsked) {
  for (const char* address : {"https://api.openai.com/v1", "https://host/v1beta/openai"}) {
    EXPECT_FALSE(make_openai_provider(client_, {.address = address}).value()->tells_load()) << address;
  }
}

}  // namespace
}  // namespace lectern::provider
