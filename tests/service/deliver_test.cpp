#include "service/deliver.h"

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <thread>

#include "base/base64.h"
#include "base/hash.h"
#include "job/request.h"
#include "provider/test_server.h"
#include "run_coroutine.h"
#include "service/webhook.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using job::Ending;
using provider::TestRequest;
using provider::TestServer;
using ExchangePtr = std::shared_ptr<TestServer::Exchange>;

TEST(Webhook, SignsThePublishedExample) {
  const auto key = webhook_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  ASSERT_TRUE(key);
  EXPECT_EQ(webhook_signature(*key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, R"({"test": 2432232314})"),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST(Webhook, TakesSecretsAsBase64OrAsTheyAre) {
  EXPECT_EQ(webhook_key("whsec_aGVsbG8=").value_or("?"), "hello");
  EXPECT_EQ(webhook_key("some words").value_or("?"), "some words");
  EXPECT_FALSE(webhook_key("whsec_!"));
  EXPECT_FALSE(webhook_key("whsec_"));
  EXPECT_FALSE(webhook_key(""));
}

TEST(AfterDelivery, DecidesByTheStatus) {
  const job::Policy policy;
  const auto after = [&](int status, std::string_view wait = "", int attempts = 1) {
    return after_delivery({.status = status, .retry_after = wait, .now = {}, .attempts = attempts}, policy);
  };
  for (const int status : {200, 201, 204, 299}) EXPECT_EQ(after(status).ending, Ending::done) << status;
  EXPECT_EQ(after(410).ending, Ending::failed);
  for (const int status : {301, 302, 307, 400, 401, 404, 408, 429, 500, 502, 503}) {
    EXPECT_EQ(after(status).ending, Ending::again) << status;
    EXPECT_EQ(after(status).delay, 0) << "by the policy";
    EXPECT_NE(after(status).error.find(std::to_string(status)), std::string::npos);
  }
  EXPECT_EQ(after(429, "3600").delay, 3'600'000);
  EXPECT_EQ(after(503, "1", 4).delay, 40'000) << "not sooner than without";
  EXPECT_EQ(after(200, "3600").delay, 0);
}

class DeliverTest : public testing::Test {
 protected:
  static job::Work work_for(const std::string& webhook, const std::string& secret = "") {
    job::Work work;
    work.task.attempts = 1;
    work.job.request = {
        .id = "job_0123456789abcdefghijklmnop", .document = "r\xC3\xA9port.pdf", .bytes = 5, .webhook = webhook};
    if (!secret.empty()) work.job.request.secret = to_json(job::JobSecret{.webhook_secret = secret});
    work.job.phase = job::Phase::succeeded;
    work.job.pages = {.ok = 3, .fallback = 1, .failed = 0};
    work.job.pages_total = 4;
    work.job.created_at = 1794721775000;
    work.job.finished_at = 1794721785000;
    work.job.result = "{}";
    work.job.round = 2;
    return work;
  }
  job::Outcome deliver(job::Work work, DeliverOptions options = {}, bool allow = true) {
    if (allow) options.guard = *UrlGuard::allowing(std::vector<std::string>{"127.0.0.1"});
    const auto handler = make_deliver_handler(options, http_, clock_);
    return run_coroutine(loop_, handler->handle(std::move(work)));
  }

  ManualClock clock_;
  asio::io_context loop_;
  std::shared_ptr<provider::HttpClient> http_ = std::make_shared<provider::HttpClient>(loop_.get_executor());
};

asio::awaitable<void> thanks(ExchangePtr exchange) {
  co_await exchange->answer(200, "thank you");
}
asio::awaitable<void> elsewhere(ExchangePtr exchange) {
  co_await exchange->answer(302, "", "text/plain", "Location: /other\r\n");
}
asio::awaitable<void> later(ExchangePtr exchange) {
  co_await exchange->answer(503, "", "text/plain", "Retry-After: 100\r\n");
}
asio::awaitable<void> never(ExchangePtr exchange) {
  co_await exchange->hang();
}
asio::awaitable<void> nothing(ExchangePtr exchange) {
  exchange->close();
  co_return;
}

TEST_F(DeliverTest, TellsTheReceiver) {
  TestServer server(thanks);
  clock_.set_wall(WallTime(std::chrono::seconds(1794721790)));
  const job::Outcome outcome = deliver(work_for(server.address() + "/hook?a=b", "whsec_aGVsbG8="));
  EXPECT_EQ(outcome.ending, Ending::done) << outcome.error;
  EXPECT_EQ(outcome.detail, R"({"status": 200})");
  const TestRequest request = server.requests().front();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/hook?a=b");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
  EXPECT_EQ(request.headers.at("webhook-id"), "job_0123456789abcdefghijklmnop_2");
  EXPECT_EQ(request.headers.at("webhook-timestamp"), "1794721790");
  EXPECT_EQ(request.headers.at("webhook-signature"),
            "v1," + base64_encode(hmac_sha256("hello", "job_0123456789abcdefghijklmnop_2.1794721790." + request.body)));
  const auto message = nlohmann::json::parse(request.body);
  EXPECT_EQ(message.at("type"), "job.succeeded");
  EXPECT_EQ(message.at("timestamp"), "2026-11-15T05:49:45.000Z");
  EXPECT_EQ(message.at("data").at("id"), "job_0123456789abcdefghijklmnop");
  EXPECT_EQ(message.at("data").at("status"), "succeeded");
  EXPECT_EQ(message.at("data").at("document").at("name"), "r\xC3\xA9port.pdf");
  EXPECT_EQ(message.at("data").at("pages").at("ok"), 3);
  EXPECT_EQ(message.at("data").at("links").at("result"), "/v1/jobs/job_0123456789abcdefghijklmnop/result");
  EXPECT_EQ(request.body.find("aGVsbG8"), std::string::npos);
}

TEST_F(DeliverTest, SignsByTheServersSecretWhereTheJobHasNone) {
  TestServer server(thanks);
  EXPECT_EQ(deliver(work_for(server.address()), {.secret = "ours"}).ending, Ending::done);
  EXPECT_EQ(deliver(work_for(server.address(), "its own"), {.secret = "ours"}).ending, Ending::done);
  EXPECT_EQ(deliver(work_for(server.address())).ending, Ending::done);
  const auto requests = server.requests();
  const std::string signed_text = "job_0123456789abcdefghijklmnop_2.0." + requests[0].body;
  EXPECT_EQ(requests[0].headers.at("webhook-signature"), "v1," + base64_encode(hmac_sha256("ours", signed_text)));
  EXPECT_EQ(requests[1].headers.at("webhook-signature"), "v1," + base64_encode(hmac_sha256("its own", signed_text)));
  EXPECT_FALSE(requests[2].headers.contains("webhook-signature"));
  EXPECT_EQ(requests[0].headers.at("webhook-id"), requests[1].headers.at("webhook-id")) << "the same message";
  EXPECT_EQ(requests[0].body, requests[1].body);
}

TEST_F(DeliverTest, FollowsNoRedirect) {
  TestServer server(elsewhere);
  const job::Outcome outcome = deliver(work_for(server.address()));
  EXPECT_EQ(outcome.ending, Ending::again);
  EXPECT_NE(outcome.error.find("redirects are not followed"), std::string::npos);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(DeliverTest, ComesBackWhenTold) {
  TestServer server(later);
  const job::Outcome outcome = deliver(work_for(server.address()));
  EXPECT_EQ(outcome.ending, Ending::again);
  EXPECT_EQ(outcome.delay, 100'000);
}

TEST_F(DeliverTest, ComesBackWhenNobodyIsThere) {
  TestServer server(nothing);
  EXPECT_EQ(deliver(work_for(server.address())).ending, Ending::again);
  EXPECT_EQ(deliver(work_for("http://127.0.0.1:1/")).ending, Ending::again);
  TestServer mute(never);
  const job::Outcome slow = deliver(work_for(mute.address()), {.time_max = std::chrono::seconds(1)});
  EXPECT_EQ(slow.ending, Ending::again);
  EXPECT_NE(slow.error.find("in time"), std::string::npos) << slow.error;
}

TEST_F(DeliverTest, GoesNowhereInside) {
  TestServer server(thanks);
  const job::Outcome outcome = deliver(work_for(server.address()), {}, false);
  EXPECT_EQ(outcome.ending, Ending::failed);
  EXPECT_EQ(outcome.error, "the webhook leads to an address that this server does not connect to");
  EXPECT_TRUE(server.requests().empty());
  for (const std::string webhook : {"ftp://example.com", "file:///etc/passwd", "http://u:p@127.0.0.1/"}) {
    EXPECT_EQ(deliver(work_for(webhook)).ending, Ending::failed) << webhook;
  }
  EXPECT_EQ(deliver(work_for(server.address(), "whsec_!")).ending, Ending::failed);
}

TEST_F(DeliverTest, GivesTheTaskBackWhenItMustStop) {
  TestServer server(never);
  job::Work work = work_for(server.address());
  const std::jthread stopper([&server, stop = work.cancellation]() mutable {
    EXPECT_TRUE(server.await_begun(1));
    stop.request();
  });
  EXPECT_EQ(deliver(std::move(work)).ending, Ending::give_back);
}

}  // namespace
}  // namespace lectern::service
