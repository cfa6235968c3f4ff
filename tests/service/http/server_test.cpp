// The front door as clients meet it, good ones and bad ones.
#include "service/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "self_signed.h"
#include "service/http/live_http.h"
#include "service/raw_client.h"
#include "temp_folder.h"

namespace lectern::service::http {
namespace {

namespace asio = boost::asio;
using std::chrono::seconds;
using testing::HasSubstr;

// Answers with what was sent to it.
asio::awaitable<Response> echo(ExchangePtr exchange) {
  std::string all;
  for (;;) {
    auto piece = co_await exchange->read_body();
    if (!piece) co_return problem_response(piece.error(), exchange->request().id);
    if (piece->empty()) break;
    all += *piece;
  }
  co_return text_response(200, "text/plain", exchange->request().method + " " + all);
}

// Says how much has come so far, while it comes.
asio::awaitable<Response> count(std::atomic<std::size_t>* bytes, ExchangePtr exchange) {
  for (;;) {
    auto piece = co_await exchange->read_body();
    if (!piece) co_return problem_response(piece.error(), exchange->request().id);
    if (piece->empty()) co_return text_response(200, "text/plain", "all");
    *bytes += piece->size();
  }
}

asio::awaitable<Response> throws(ExchangePtr) {
  throw std::runtime_error("the password is 1234");
  co_return Response{};
}

asio::awaitable<Response> page(ExchangePtr exchange) {
  co_return text_response(200, "text/plain", "page " + exchange->request().path.at("n"));
}

// Without reading the body.
asio::awaitable<Response> refuse(ExchangePtr exchange) {
  co_return problem_response({.code = ProblemCode::queue_full, .retry_after = 7}, exchange->request().id);
}

class Pieces final : public BodySource {
 public:
  Pieces(int count, std::size_t bytes, bool fails) : count_(count), bytes_(bytes), fails_(fails) {}
  asio::awaitable<Result<std::string>> next() override {
    if (count_-- > 0) co_return std::string(bytes_, 'x');
    if (fails_) co_return fail(ErrorKind::unavailable, "the disk is gone");
    co_return std::string();
  }

 private:
  int count_;
  std::size_t bytes_;
  bool fails_;
};

Response streamed(int count, std::size_t bytes, bool fails) {
  Response response;
  response.fields.add("Content-Type", "text/plain");
  response.source = std::make_unique<Pieces>(count, bytes, fails);
  return response;
}

// Until the client leaves or the server stops.
asio::awaitable<Response> linger(Timers* timers, std::atomic<int>* gone, ExchangePtr exchange) {
  Cancellation over;
  const auto left = exchange->gone().on_request([over]() mutable { over.request(); });
  const auto stopped = exchange->stopping().on_request([over]() mutable { over.request(); });
  co_await timers->wait_until(TimePoint::max(), over);
  if (exchange->gone().requested()) ++*gone;
  co_return text_response(200, "text/plain", "waited");
}

asio::awaitable<Response> look(ExchangePtr exchange) {
  co_return text_response(200, "text/plain", exchange->gone().requested() ? "gone" : "there");
}

class HttpServerTest : public testing::Test {
 protected:
  void start(HttpOptions options = {}) {
    Router router;
    const auto constant = [](Response (*make)()) {
      return [make](ExchangePtr) -> asio::awaitable<Response> { return answer_with(make); };
    };
    router.add({.method = "GET", .pattern = "/", .handler = echo});
    router.add({.method = "POST", .pattern = "/echo", .body_bytes_max = 1'000'000, .handler = echo});
    router.add({.method = "POST", .pattern = "/refuse", .body_bytes_max = 100'000'000, .handler = refuse});
    router.add(
        {.method = "POST", .pattern = "/count", .body_bytes_max = 1'000'000, .handler = [this](ExchangePtr exchange) {
           return count(&counted_, std::move(exchange));
         }});
    router.add({.method = "GET", .pattern = "/throws", .handler = throws});
    router.add({.method = "GET", .pattern = "/pages/{n:number}", .handler = page});
    router.add({.method = "GET", .pattern = "/stream", .handler = constant(+[] { return streamed(3, 5, false); })});
    router.add({.method = "GET", .pattern = "/cut", .handler = constant(+[] { return streamed(3, 5, true); })});
    router.add(
        {.method = "GET", .pattern = "/big", .handler = constant(+[] { return streamed(1'000, 65'536, false); })});
    router.add({.method = "GET", .pattern = "/wait", .handler = [this](ExchangePtr exchange) {
                  return linger(timers_, &gone_, std::move(exchange));
                }});
    router.add({.method = "GET", .pattern = "/look", .handler = look});
    live_.emplace(std::move(router), std::move(options));
    timers_ = &live_->timers();
  }
  static asio::awaitable<Response> answer_with(Response (*make)()) { co_return make(); }
  RawClient client() { return RawClient(live_->address()); }
  // Beside the server itself, which waits for its end and for the next moment to look at its connections.
  bool handler_waits() {
    return live_->eventually([this](HttpServer&) { return live_->timers().waiting() == 3; });
  }

  std::optional<LiveHttp> live_;
  Timers* timers_ = nullptr;
  std::atomic<int> gone_ = 0;
  std::atomic<std::size_t> counted_ = 0;
};

TEST_F(HttpServerTest, AnswersOneRequestAfterAnotherOnAConnection) {
  start();
  RawClient one = client();
  const RawResponse first = one.ask("POST", "/echo", "X-Request-Id: my-id.1\r\n", "hello");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.body, "POST hello");
  EXPECT_EQ(first.fields.at("x-request-id"), "my-id.1");
  EXPECT_TRUE(first.fields.contains("date"));
  EXPECT_EQ(one.ask("GET", "/pages/12").body, "page 12");
  EXPECT_EQ(one.ask("GET", "/stream").body, "xxxxxxxxxxxxxxx");
  const auto seen = live_->await_seen(3);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].route, "/pages/{n:number}");
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient one = client();
  one.send(
      "GET /pages/1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhiGET "
      "/pages/3 HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(one.receive().body, "page 1");
  EXPECT_EQ(one.receive().body, "POST hi");
  EXPECT_EQ(one.receive().body, "page 3");
}

TEST_F(HttpServerTest, ChunkedBodiesComeTogether) {
  start();
  RawClient one = client();
  one.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  one.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(one.receive().body, "POST abcde");
  EXPECT_EQ(one.ask("GET", "/").status, 200);
}

TEST_F(HttpServerTest, HeadHasTheFieldsAndNoBody) {
  start();
  RawClient one = client();
  const RawResponse head = one.ask("HEAD", "/pages/12");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.fields.at("content-length"), "7");
  EXPECT_EQ(one.ask("GET", "/pages/12").body, "page 12");  // and the connection is in step
}

TEST_F(HttpServerTest, UnknownPathsAndMethodsAreProblems) {
  start();
  RawClient one = client();
  const RawResponse missing = one.ask("GET", "/nowhere");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.fields.at("content-type"), "application/problem+json");
  EXPECT_THAT(missing.body, HasSubstr(R"("code":"not_found")"));
  const RawResponse method = one.ask("DELETE", "/pages/12");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(method.fields.at("allow"), "GET, HEAD");
  EXPECT_EQ(one.ask("GET", "/pages/0").status, 404);
  EXPECT_EQ(one.ask("GET", "/pages/x").status, 404);
  EXPECT_EQ(one.ask("GET", "/pages/%zz").status, 400);
}

TEST_F(HttpServerTest, AnExceptionIsAnErrorWithoutDetail) {
  start();
  RawClient one = client();
  const RawResponse failed = one.ask("GET", "/throws");
  EXPECT_EQ(failed.status, 500);
  EXPECT_THAT(failed.body, HasSubstr(R"("code":"internal_error")"));
  EXPECT_THAT(failed.body, testing::Not(HasSubstr("1234")));
  EXPECT_EQ(one.ask("GET", "/").status, 200);
}

TEST_F(HttpServerTest, SmuggledRequestsAreRefusedAndTheConnectionClosed) {
  start();
  const std::string_view attempts[] = {
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /pages/1 "
      "HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 5\r\n\r\nabcGET /pages/1 "
      "HTTP/1.1\r\nHost: "
      "a\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nGET /pages/1 HTTP/1.1\r\nHost: "
      "a\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nGET /pages/1 HTTP/1.1\r\nHost: "
      "a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\nGET /pages/1 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\nGET /pages/1 HTTP/1.1\r\nHost: a\r\n\r\n",
  };
  for (const std::string_view attempt : attempts) {
    RawClient one = client();
    one.send(attempt);
    const RawResponse refused = one.receive();
    EXPECT_EQ(refused.status, 400) << attempt;
    EXPECT_EQ(refused.fields.at("connection"), "close");
    one.end();
    EXPECT_EQ(one.receive().status, 0) << "nothing may follow: " << attempt;
  }
}

TEST_F(HttpServerTest, BodiesThatAreTooLargeAreRefusedBeforeTheyAreSent) {
  start();
  RawClient one = client();
  one.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000001\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.receive().status, 413);  // and no "100 Continue"
  RawClient two = client();
  two.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 12; ++i) two.send("186a0\r\n" + std::string(100'000, 'x') + "\r\n");
  EXPECT_EQ(two.receive().status, 413);
}

TEST_F(HttpServerTest, WhoExpectsToContinueIsTold) {
  start();
  RawClient one = client();
  one.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.receive().status, 100);
  one.send("hi");
  EXPECT_EQ(one.receive().body, "POST hi");
}

TEST_F(HttpServerTest, ABodyThatNobodyReadIsPassedOver) {
  start();
  RawClient one = client();
  const RawResponse refused = one.ask("POST", "/refuse", "", std::string(100'000, 'x'));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.fields.at("retry-after"), "7");
  // The answer came at once, but nothing more is read from a client that comes back at once.
  one.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  live_->await_seen(1);
  RawClient other = client();
  EXPECT_EQ(other.ask("GET", "/").status, 200);
  EXPECT_EQ(live_->await_seen(2).size(), 2U);
  live_->advance(std::chrono::milliseconds(200));
  EXPECT_EQ(one.receive().status, 200);
}

TEST_F(HttpServerTest, ALargeBodyThatNobodyReadClosesTheConnectionAfterTheAnswer) {
  start();
  RawClient one = client();
  one.send("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n" + std::string(100'000, 'x'));
  const RawResponse refused = one.receive();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.fields.at("connection"), "close");
}

TEST_F(HttpServerTest, OldClientsGetTheEndOfTheConnectionAsTheEnd) {
  start();
  RawClient one = client();
  one.send("GET /stream HTTP/1.0\r\n\r\n");
  const RawResponse response = one.receive();
  EXPECT_EQ(response.body, "xxxxxxxxxxxxxxx");
  EXPECT_FALSE(response.fields.contains("transfer-encoding"));
  RawClient two = client();
  two.send("GET /pages/1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(two.receive().fields.at("connection"), "keep-alive");
  EXPECT_EQ(two.ask("GET", "/").status, 200);
}

TEST_F(HttpServerTest, AResponseThatFailsHalfwayIsCut) {
  start();
  RawClient one = client();
  one.send("GET /cut HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_THROW(one.receive(), std::runtime_error);  // no last chunk
  const auto seen = live_->await_seen(1);
  EXPECT_FALSE(seen.at(0).complete);
}

TEST_F(HttpServerTest, SlowHeadsAreCutOff) {
  start();
  RawClient silent = client();
  RawClient slow = client();
  slow.send("GET / HTTP/1.1\r\nHo");
  ASSERT_TRUE(live_->eventually([&](HttpServer& server) { return server.connections() == 2; }));
  RawClient quick = client();
  EXPECT_EQ(quick.ask("GET", "/").status, 200);  // the two others have been accepted by now
  live_->advance(seconds(9));
  EXPECT_EQ(live_->connections(), 3);
  slow.send("st: a\r\n");  // a byte now and then does not help
  live_->advance(seconds(2));
  EXPECT_TRUE(silent.closed_by_server());
  EXPECT_EQ(slow.receive().status, 408);
  EXPECT_EQ(quick.ask("GET", "/").status, 200);
  live_->await_seen(3);  // from now on it is idle
  live_->advance(seconds(76));
  EXPECT_TRUE(quick.closed_by_server());  // idle for too long
}

TEST_F(HttpServerTest, SlowBodiesAreCutOff) {
  start({.listen = {}, .limits = {.body_bytes_per_second_min = 1'000}});
  RawClient slow = client();
  slow.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nx");
  for (std::size_t sent = 1;; sent += 6'000) {
    ASSERT_TRUE(live_->eventually([&](HttpServer&) { return counted_ == sent; }));
    if (sent > 30'000) break;
    live_->advance(seconds(5));  // fast enough
    slow.send(std::string(6'000, 'x'));
  }
  live_->advance(seconds(11));
  EXPECT_EQ(slow.receive().status, 408);
}

TEST_F(HttpServerTest, ClientsThatDoNotReadAreCutOff) {
  start();
  RawClient one = client();
  one.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");  // 64 MB, and nobody takes them
  ASSERT_EQ(one.receive_head().status, 200);
  // Time passes only while the server is stuck in a write; how much fits into the sockets is not ours to say.
  ASSERT_TRUE(live_->eventually([&](HttpServer& server) {
    live_->timers().advance(seconds(1));
    return server.connections() == 0;
  }));
  const auto seen = live_->await_seen(1);
  EXPECT_FALSE(seen.at(0).complete);
}

TEST_F(HttpServerTest, WhatClientsDoNotTakeIsBoundedInAll) {
  start({.listen = {}, .limits = {.unsent_bytes_max = 4 * 65'536}});
  std::vector<RawClient> lazy;
  for (int i = 0; i < 8; ++i) {  // each of them keeps 64 KiB waiting when its sockets are full
    lazy.push_back(client());
    lazy.back().send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_EQ(lazy.back().receive_head().status, 200);
  }
  ASSERT_TRUE(live_->eventually([](HttpServer& server) { return server.connections() <= 4; }));
  RawClient eager = client();
  EXPECT_EQ(eager.ask("GET", "/stream").status, 200);
}

TEST_F(HttpServerTest, WhoWaitsLongestMakesRoomForOthers) {
  start({.listen = {}, .connections_max = 2});
  RawClient first = client();
  first.send("GET /");
  ASSERT_TRUE(live_->eventually([](HttpServer& server) { return server.connections() == 1; }));
  live_->advance(seconds(1));
  RawClient second = client();
  EXPECT_EQ(second.ask("GET", "/").status, 200);
  RawClient third = client();
  EXPECT_EQ(third.ask("GET", "/").status, 200);
  EXPECT_TRUE(first.closed_by_server());
  EXPECT_EQ(second.ask("GET", "/").status, 200);
}

TEST_F(HttpServerTest, AHandlerLearnsThatItsClientLeft) {
  start();
  {
    const RawClient one = client();
    one.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(live_->eventually([](HttpServer& server) { return server.connections() == 1; }));
  }
  live_->await_seen(1);
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, AlsoOfOneThatHadSentMoreBefore) {
  start();
  {
    const RawClient one = client();
    one.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(handler_waits());
    one.send("G");  // of the next request
    RawClient probe = client();
    EXPECT_EQ(probe.ask("GET", "/").status, 200);
    EXPECT_EQ(gone_, 0);
  }
  live_->await_seen(2);
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, AlsoOverTls) {
  const TempFolder folder;
  const testing_tls::SelfSigned self;
  start({.tls_certificate = folder.write("c.pem", self.pem()).string(),
         .tls_key = folder.write("k.pem", self.key_pem()).string()});
  const testing_tls::Context context(SSL_CTX_new(TLS_client_method()));
  // Not 1.3: its tickets, unread, would make a reset of what is a good end here.
  ASSERT_EQ(SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION), 1);
  {
    const RawClient socket = client();
    const testing_tls::Session session(SSL_new(context.get()));
    SSL_set_fd(session.get(), socket.fd());
    ASSERT_EQ(SSL_connect(session.get()), 1);
    const std::string request = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n";
    SSL_write(session.get(), request.data(), static_cast<int>(request.size()));
    ASSERT_TRUE(handler_waits());
    EXPECT_EQ(SSL_shutdown(session.get()), 0);  // says goodbye, and goes
  }
  live_->await_seen(1);
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, AConnectionIsWatchedForOneRequestAfterAnother) {
  start();
  {
    RawClient one = client();
    for (int i = 0; i < 3; ++i) {
      one.send("GET /look HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ(one.receive().body, "there");
    }
    one.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(handler_waits());
  }
  live_->await_seen(4);
  EXPECT_EQ(gone_, 1);
}

TEST_F(HttpServerTest, AStopLetsRequestsEndAndClosesIdleConnections) {
  start();
  RawClient idle = client();
  EXPECT_EQ(idle.ask("GET", "/").status, 200);
  RawClient busy = client();
  busy.send("GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
  RawClient uploading = client();
  uploading.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  ASSERT_TRUE(live_->eventually([](HttpServer& server) { return server.connections() == 3; }));
  RawClient probe = client();  // whatever was sent before this was answered has arrived
  EXPECT_EQ(probe.ask("GET", "/").status, 200);
  live_->stop();
  EXPECT_TRUE(idle.closed_by_server());
  const RawResponse waited = busy.receive();
  EXPECT_EQ(waited.body, "waited");
  EXPECT_EQ(waited.fields.at("connection"), "close");
  uploading.send("cd");
  EXPECT_EQ(uploading.receive().body, "POST abcd");
  EXPECT_TRUE(live_->ended());
  EXPECT_THROW(client(), std::runtime_error);
}

TEST_F(HttpServerTest, AfterTheGraceWhatIsLeftIsCut) {
  start();
  RawClient uploading = client();
  uploading.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  RawClient probe = client();
  EXPECT_EQ(probe.ask("GET", "/").status, 200);
  live_->stop();
  EXPECT_TRUE(probe.closed_by_server());
  live_->advance(seconds(21));
  EXPECT_TRUE(live_->ended());
}

TEST_F(HttpServerTest, ASocketFileServesTheSame) {
  const TempFolder folder;
  const std::string path = (folder.path() / "lectern.sock").string();
  start({.listen = {{.host = {}, .port = 0, .path = path}}});
  RawClient one("unix:" + path);
  EXPECT_EQ(one.ask("GET", "/pages/3").body, "page 3");
  live_.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(HttpServerTest, TheNextServerKeepsItsSocketFileWhenTheLastOneEnds) {
  const TempFolder folder;
  const std::string path = (folder.path() / "lectern.sock").string();
  start({.listen = {{.host = {}, .port = 0, .path = path}}});
  RawClient uploading = client();
  uploading.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nab");
  RawClient probe = client();
  EXPECT_EQ(probe.ask("GET", "/").status, 200);
  live_->stop();
  EXPECT_TRUE(probe.closed_by_server());  // it has stopped listening, and still has a request in hand
  EXPECT_FALSE(std::filesystem::exists(path));
  Router router;
  router.add({.method = "GET", .pattern = "/", .handler = echo});
  const LiveHttp next(std::move(router), {.listen = {{.host = {}, .port = 0, .path = path}}});
  uploading.send("cd");
  EXPECT_EQ(uploading.receive().body, "POST abcd");
  EXPECT_TRUE(live_->ended());
  live_.reset();
  EXPECT_EQ(RawClient("unix:" + path).ask("GET", "/").status, 200);
}

TEST_F(HttpServerTest, FilesOfOthersStayWhereTheSocketShouldBe) {
  const TempFolder folder;
  const std::string path = (folder.path() / "lectern.sock").string();
  const ListenAddress address{.host = {}, .port = 0, .path = path};
  start({.listen = {address}});
  std::filesystem::remove(path);
  auto other = listen_on(address);
  ASSERT_TRUE(other) << other.error().for_log;
  live_.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  stop_listening(*other);
  EXPECT_FALSE(std::filesystem::exists(path));
  folder.write("lectern.sock", "somebody's notes");
  EXPECT_FALSE(listen_on(address));
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
}

}  // namespace
}  // namespace lectern::service::http
