// Fetching documents from real servers on this machine, which the guard must be told to allow.
#include "service/url_fetch.h"

#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/hash.h"
#include "job/memory_blobs.h"
#include "provider/test_server.h"
#include "run_coroutine.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using provider::TestServer;
using ExchangePtr = std::shared_ptr<TestServer::Exchange>;

const std::string document(1'000'000, 'd');

// /ok the document; /to?URL redirects there; /N redirects to /N-1; other paths as their names say.
asio::awaitable<void> site(ExchangePtr exchange) {
  const std::string path = exchange->request.target;
  if (path == "/ok" || path == "/files/my%20report.pdf") {
    co_await exchange->answer(200, document, "application/pdf");
  } else if (path == "/named") {
    co_await exchange->answer(
        200, document, "application/pdf",
        "Content-Disposition: attachment; filename=\"plain.pdf\"; filename*=UTF-8''n%C3%A4me.pdf\r\n");
  } else if (path.starts_with("/to?")) {
    co_await exchange->answer(302, "moved", "text/plain", "Location: " + path.substr(4) + "\r\n");
  } else if (path.starts_with("/hop")) {
    const int left = std::stoi(path.substr(4));
    const std::string next = left == 0 ? "/ok" : fmt::format("hop{}", left - 1);
    co_await exchange->answer(307, "", "text/plain", "Location: " + next + "\r\n");
  } else if (path == "/long") {
    co_await exchange->begin_stream();
    for (int i = 0; i < 100; ++i) co_await exchange->chunk(std::string(100'000, 'x'));
    co_await exchange->end_stream();
  } else if (path == "/cut") {
    co_await exchange->send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf");
    exchange->close();
  } else if (path == "/hang") {
    co_await exchange->hang();
  } else if (path == "/gzip") {
    co_await exchange->answer(200, "not really", "text/plain", "Content-Encoding: gzip\r\n");
  } else if (path == "/empty") {
    co_await exchange->answer(200, "");
  } else {
    co_await exchange->answer(404, "there is nothing here");
  }
}

class UrlFetchTest : public testing::Test {
 protected:
  Result<Fetched> fetch(std::string url, std::int64_t bytes_max = 5'000'000, UrlFetchOptions options = {},
                        Cancellation cancellation = {}) {
    if (allow_) options.guard = *UrlGuard::allowing(std::vector<std::string>{"127.0.0.1"});
    const auto fetcher = make_url_fetcher(options, http_, blobs_, cpu_);
    FetchRequest request{
        .url = std::move(url), .key = "jobs/a/original", .bytes_max = bytes_max, .cancellation = cancellation};
    return run_coroutine(loop_, fetcher->fetch(std::move(request)));
  }

  TestServer server_{site};
  asio::io_context loop_;
  CpuPool cpu_{1};
  std::shared_ptr<provider::HttpClient> http_ = std::make_shared<provider::HttpClient>(loop_.get_executor());
  job::MemoryBlobs blobs_;
  bool allow_ = true;
};

TEST_F(UrlFetchTest, BringsTheDocument) {
  const auto fetched = fetch(server_.address() + "/files/my%20report.pdf");
  ASSERT_TRUE(fetched) << fetched.error().for_log;
  EXPECT_EQ(fetched->bytes, 1'000'000);
  EXPECT_EQ(fetched->sha256, sha256_hex(document));
  EXPECT_EQ(fetched->name, "my report.pdf");
  EXPECT_EQ(blobs_.blobs.at("jobs/a/original"), document);
  EXPECT_FALSE(server_.requests().front().headers.contains("authorization"));
}

TEST_F(UrlFetchTest, TakesTheNameThatTheServerGives) {
  EXPECT_EQ(fetch(server_.address() + "/named")->name, "n\xC3\xA4me.pdf");
}

TEST_F(UrlFetchTest, RefusesAddressesInside) {
  allow_ = false;
  for (const std::string host :
       {"127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]", "0.0.0.0"}) {
    const std::string port = server_.address().substr(server_.address().rfind(':'));
    const auto fetched = fetch("http://" + host + port + "/ok");
    ASSERT_FALSE(fetched) << host;
    EXPECT_EQ(fetched.error().kind, ErrorKind::invalid_input) << host;
    EXPECT_EQ(fetched.error().for_caller, "the URL leads to an address that this server does not connect to") << host;
  }
  EXPECT_TRUE(server_.requests().empty());
  EXPECT_TRUE(blobs_.blobs.empty());
}

TEST_F(UrlFetchTest, ChecksEachRedirectAnew) {
  TestServer other(site);
  const std::string port = other.address().substr(other.address().rfind(':'));
  // The first address is allowed, the one it leads to is not.
  const auto fetched = fetch(server_.address() + "/to?http://127.0.0.2" + port + "/ok");
  ASSERT_FALSE(fetched);
  EXPECT_EQ(fetched.error().for_caller, "the URL leads to an address that this server does not connect to");
  EXPECT_TRUE(other.requests().empty());
  EXPECT_TRUE(fetch(server_.address() + "/to?" + other.address() + "/ok"));
}

// A name that was harmless when it was looked at, and is not when it is connected to, is not connected to: the address
// itself is asked about, on a connection of its own even where a kept one leads there.
TEST_F(UrlFetchTest, DoesNotUseConnectionsThatOthersMade) {
  provider::HttpRequest plain{.url = server_.address() + "/ok", .peer = "somebody"};
  ASSERT_TRUE(run_coroutine(loop_, http_->send(plain, {}, {}, {})));
  allow_ = false;
  EXPECT_FALSE(fetch(server_.address() + "/ok"));
  EXPECT_EQ(server_.requests().size(), 1U);
}

TEST_F(UrlFetchTest, FollowsAFewRedirects) {
  EXPECT_TRUE(fetch(server_.address() + "/hop4"));
  blobs_.blobs.clear();
  const auto lost = fetch(server_.address() + "/hop5");
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().for_caller, "the URL redirects more than 5 times");
  EXPECT_TRUE(blobs_.blobs.empty());
}

TEST_F(UrlFetchTest, GoesNowhereButTheWeb) {
  for (const std::string to : {"file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:6379/_INFO"}) {
    EXPECT_EQ(fetch(to).error().kind, ErrorKind::invalid_input) << to;
    const auto redirected = fetch(server_.address() + "/to?" + to);
    ASSERT_FALSE(redirected) << to;
    EXPECT_EQ(redirected.error().for_caller, "the URL redirects to something that is no address of the web");
  }
  const std::string host = server_.address().substr(7);
  EXPECT_NE(fetch("http://user:hush@" + host + "/ok").error().for_caller.find("user name"), std::string::npos);
  EXPECT_FALSE(fetch(server_.address() + "/to?http://user:hush@" + host + "/ok"));
}

TEST_F(UrlFetchTest, StopsAtTheLimit) {
  EXPECT_TRUE(fetch(server_.address() + "/ok", 1'000'000));
  blobs_.blobs.clear();
  EXPECT_NE(fetch(server_.address() + "/ok", 999'999).error().for_caller.find("more than 999999 bytes"),
            std::string::npos)
      << "by its head";
  EXPECT_NE(fetch(server_.address() + "/long", 999'999).error().for_caller.find("more than 999999 bytes"),
            std::string::npos)
      << "while it arrives";
  EXPECT_TRUE(blobs_.blobs.empty());
}

TEST_F(UrlFetchTest, SaysWhatWentWrong) {
  const std::pair<std::string, std::string_view> cases[] = {
      {"/nothing", "answered 404"}, {"/gzip", "encoded (gzip)"}, {"/empty", "empty"}, {"/cut", "in the middle"}};
  for (const auto& [path, says] : cases) {
    const auto fetched = fetch(server_.address() + path);
    ASSERT_FALSE(fetched) << path;
    EXPECT_EQ(fetched.error().kind, ErrorKind::invalid_input) << path;
    EXPECT_NE(fetched.error().for_caller.find(says), std::string::npos) << fetched.error().for_caller;
  }
  EXPECT_TRUE(blobs_.blobs.empty());
}

TEST_F(UrlFetchTest, DoesNotWaitForEver) {
  EXPECT_EQ(fetch(server_.address() + "/hang", 1000, {.stall_timeout = std::chrono::seconds(1)}).error().kind,
            ErrorKind::timeout);
  Cancellation stop;
  const std::jthread stopper([this, stop]() mutable {
    EXPECT_TRUE(server_.await_begun(2));
    stop.request();
  });
  EXPECT_EQ(fetch(server_.address() + "/hang", 1000, {}, stop).error().kind, ErrorKind::cancelled);
}

TEST_F(UrlFetchTest, AFullStoreIsNotTheServersFault) {
  blobs_.failure = Error{ErrorKind::overloaded, "full", "full"};
  EXPECT_EQ(fetch(server_.address() + "/ok").error().kind, ErrorKind::overloaded);
}

}  // namespace
}  // namespace lectern::service
