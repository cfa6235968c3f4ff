// The S3 store against servers that misbehave in ways that a good one cannot be made to: no conditions, lost answers,
// errors inside of a 200, wrong clocks.
#include <boost/asio/co_spawn.hpp>
#include <fmt/format.h>

#include <atomic>
#include <map>
#include <mutex>

#include "base/hash.h"
#include "job/blobs/s3.h"
#include "job/blobs_conformance.h"
#include "provider/test_server.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using provider::TestRequest;
using provider::TestServer;
using ExchangePtr = std::shared_ptr<TestServer::Exchange>;

// Nobody waits; how often somebody would have is counted.
class HastyTimers final : public Timers {
 public:
  const Clock& clock() const override { return system_clock(); }
  asio::awaitable<void> wait_until(TimePoint, Cancellation) override {
    ++waits;
    co_return;
  }
  int waits = 0;
};

// A bucket in memory, as simple as can be, with faults by request: the first that `fault` answers is the answer.
struct Bucket {
  struct Object {
    std::string bytes, mark;
  };
  struct Answer {
    int status = 200;
    std::string body;
    std::string headers;
    bool lost = false;  // the connection is closed instead
  };
  std::function<std::optional<Answer>(const TestRequest&, Bucket&)> fault = [](const TestRequest&, Bucket&) {
    return std::nullopt;
  };
  std::mutex mutex;  // guards all: the server has a thread of its own
  bool conditions = true;
  std::map<std::string, Object> objects;
  std::map<std::string, Object> uploads;

  static std::string header(const TestRequest& request, const std::string& name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? "" : found->second;
  }
  static std::string error(const std::string& code) { return "<Error><Code>" + code + "</Code></Error>"; }
  static std::string tag(const Object& object) { return "\"" + sha256_hex(object.bytes).substr(0, 32) + "\""; }
  static std::string about(const Object& object) {
    return fmt::format("ETag: {}\r\nLast-Modified: Sun, 15 Nov 2026 05:49:35 GMT\r\nx-amz-meta-lectern-write: {}\r\n",
                       tag(object), object.mark);
  }

  Answer put(const std::string& path, Object object, const TestRequest& request) {
    if (conditions && header(request, "if-none-match") == "*" && objects.contains(path)) {
      return {412, error("PreconditionFailed")};
    }
    objects[path] = object;
    return {200, "", about(object)};
  }

  Answer locked_answer(const TestRequest& request) {
    const std::lock_guard lock(mutex);
    return answer(request);
  }

  Answer answer(const TestRequest& request) {
    if (auto odd = fault(request, *this)) return *odd;
    const std::string path = request.target.substr(0, request.target.find('?'));
    const std::string query = request.target.substr(std::min(request.target.size(), path.size() + 1));
    const std::string mark = header(request, "x-amz-meta-lectern-write");
    if (request.method == "POST" && query == "uploads=") {
      uploads[path].mark = mark;
      return {200, "<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>"};
    }
    if (request.method == "PUT" && query.starts_with("partNumber=")) {
      uploads[path].bytes += request.body;
      return {200, "", "ETag: \"part\"\r\n"};
    }
    if (request.method == "POST") {
      if (!uploads.contains(path)) return {404, error("NoSuchUpload")};
      Answer done = put(path, uploads[path], request);
      if (done.status == 200) uploads.erase(path);
      return done;
    }
    if (request.method == "DELETE") {
      (query.empty() ? objects : uploads).erase(path);
      return {204, ""};
    }
    if (request.method == "PUT") return put(path, {request.body, mark}, request);
    if (!objects.contains(path)) return {404, request.method == "HEAD" ? "" : error("NoSuchKey")};
    return {200, objects[path].bytes, about(objects[path])};
  }
};

class S3OddServers : public testing::Test {
 protected:
  S3OddServers()
      : server_([this](ExchangePtr exchange) -> asio::awaitable<void> { return serve(std::move(exchange), bucket_); }) {
    open(std::chrono::seconds(30));
  }

  void open(std::chrono::seconds stall_timeout) {
    S3Place place{.endpoint = server_.address(),
                  .host = server_.address().substr(7),
                  .region = "us-east-1",
                  .bucket = "bucket",
                  .prefix = "deep/",
                  .credentials = {.access_key = "key", .secret_key = "hush", .session_token = "token"}};
    blobs_ = make_s3_blobs(std::move(place), {.stall_timeout = stall_timeout, .part_bytes = 1000},
                           {.http = std::make_shared<provider::HttpClient>(loop_.get_executor()),
                            .executor = loop_.get_executor(),
                            .timers = &timers_,
                            .over = over_});
  }

  static asio::awaitable<void> serve(ExchangePtr exchange, Bucket& bucket) {
    Bucket::Answer answer = bucket.locked_answer(exchange->request);
    if (answer.lost) {
      exchange->close();
      co_return;
    }
    if (answer.status == 0) co_return co_await exchange->hang();
    std::string head = fmt::format("HTTP/1.1 {} Odd\r\nContent-Length: {}\r\n{}\r\n", answer.status, answer.body.size(),
                                   answer.headers);
    co_await exchange->send(head + (exchange->request.method == "HEAD" ? "" : answer.body));
  }

  template <class T>
  T run(asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  Result<BlobInfo> create(std::string key, std::string bytes) {
    return run(blobs_->put(std::move(key), std::move(bytes), PutMode::create_only));
  }
  void misbehave(std::function<std::optional<Bucket::Answer>(const TestRequest&, Bucket&)> fault) {
    const std::lock_guard lock(bucket_.mutex);
    bucket_.fault = std::move(fault);
  }
  std::optional<std::string> stored(const std::string& key) {
    const std::lock_guard lock(bucket_.mutex);
    const auto found = bucket_.objects.find("/bucket/deep/" + key);
    return found == bucket_.objects.end() ? std::nullopt : std::optional(found->second.bytes);
  }
  std::size_t uploads() {
    const std::lock_guard lock(bucket_.mutex);
    return bucket_.uploads.size();
  }
  int asked(const std::string& method, const std::string& target) const {
    int count = 0;
    for (const TestRequest& request : server_.requests()) {
      count += request.method == method && request.target.starts_with("/bucket/deep/" + target) ? 1 : 0;
    }
    return count;
  }

  Bucket bucket_;
  HastyTimers timers_;
  Cancellation over_;
  asio::io_context loop_;
  TestServer server_;
  std::unique_ptr<Blobs> blobs_;
};

TEST_F(S3OddServers, RequestsAreSignedAndByPath) {
  ASSERT_TRUE(run(blobs_->put("some/key", "bytes", PutMode::replace)));
  const TestRequest request = server_.requests().back();
  EXPECT_EQ(request.target, "/bucket/deep/some/key");
  EXPECT_EQ(request.headers.at("x-amz-content-sha256"), sha256_hex("bytes"));
  EXPECT_EQ(request.headers.at("x-amz-security-token"), "token");
  EXPECT_EQ(request.headers.at("content-type"), "application/octet-stream");
  EXPECT_TRUE(request.headers.at("authorization").starts_with("AWS4-HMAC-SHA256 Credential=key/"));
  EXPECT_NE(request.headers.at("authorization")
                .find("SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;"
                      "x-amz-meta-lectern-write;x-amz-security-token,"),
            std::string::npos)
      << request.headers.at("authorization");
  EXPECT_FALSE(request.headers.contains("if-none-match"));
}

TEST_F(S3OddServers, OneThatIgnoresConditionsIsLookedAtFirst) {
  {
    const std::lock_guard lock(bucket_.mutex);
    bucket_.conditions = false;
  }
  ASSERT_TRUE(create("key", "first"));
  EXPECT_EQ(kind(create("key", "second")), ErrorKind::conflict);
  EXPECT_EQ(stored("key"), "first");
  EXPECT_EQ(asked("PUT", "check"), 2) << "found out once";
  EXPECT_EQ(asked("PUT", "key"), 1);
}

TEST_F(S3OddServers, OneThatRefusesConditionsIsLookedAtFirst) {
  misbehave([](const TestRequest& request, Bucket&) -> std::optional<Bucket::Answer> {
    if (Bucket::header(request, "if-none-match").empty()) return std::nullopt;
    return Bucket::Answer{501, Bucket::error("NotImplemented")};
  });
  ASSERT_TRUE(create("key", "first"));
  EXPECT_EQ(kind(create("key", "second")), ErrorKind::conflict);
  const auto large = create("large", std::string(5000, 'l'));
  EXPECT_TRUE(large) << why(large);
  EXPECT_EQ(kind(create("large", std::string(4000, 'l'))), ErrorKind::conflict);
  EXPECT_EQ(stored("large").value_or("").size(), 5000U);
}

TEST_F(S3OddServers, BusyOnesAreAskedAgain) {
  for (const auto& [status, code] : std::map<int, std::string>{
           {503, "SlowDown"}, {500, "InternalError"}, {409, "ConditionalRequestConflict"}, {429, ""}, {502, ""}}) {
    SCOPED_TRACE(status);
    std::atomic<int> left = 3;
    misbehave([&left, status, code](const TestRequest& request, Bucket&) -> std::optional<Bucket::Answer> {
      if (request.target.ends_with("check") || left-- <= 0) return std::nullopt;
      return Bucket::Answer{status, code.empty() ? "<html>busy</html>" : Bucket::error(code)};
    });
    timers_.waits = 0;
    const auto info = create("busy-" + std::to_string(status), "x");
    EXPECT_TRUE(info) << why(info);
    EXPECT_EQ(timers_.waits, 3) << "with a pause before each";
  }
}

TEST_F(S3OddServers, ThoseThatStayBusyAreGivenUp) {
  misbehave([](const TestRequest&, Bucket&) { return Bucket::Answer{503, Bucket::error("SlowDown")}; });
  EXPECT_EQ(kind(run(blobs_->get("key", 10))), ErrorKind::unavailable);
  EXPECT_EQ(asked("GET", "key"), 5);
  misbehave([](const TestRequest&, Bucket&) { return Bucket::Answer{.lost = true}; });
  EXPECT_EQ(kind(run(blobs_->head("key"))), ErrorKind::unavailable);
  EXPECT_GE(asked("HEAD", "key"), 5);
}

TEST_F(S3OddServers, ACheckTellsHowThingsAreNow) {
  EXPECT_TRUE(run(blobs_->check()));
  misbehave([](const TestRequest&, Bucket&) { return Bucket::Answer{503, Bucket::error("SlowDown")}; });
  EXPECT_EQ(kind(run(blobs_->check())), ErrorKind::unavailable);
  EXPECT_EQ(asked("PUT", "check"), 2) << "without trying again";
}

TEST_F(S3OddServers, WhatCannotGetBetterIsAskedOnce) {
  for (const auto& [status, code] :
       std::map<int, std::string>{{403, "SignatureDoesNotMatch"}, {404, "NoSuchBucket"}, {400, "X"}}) {
    misbehave([status, code](const TestRequest&, Bucket&) { return Bucket::Answer{status, Bucket::error(code)}; });
    const std::string key = "once-" + std::to_string(status);
    EXPECT_EQ(kind(run(blobs_->get(key, 10))), ErrorKind::unavailable);
    EXPECT_EQ(asked("GET", key), 1);
  }
}

// The blob is there, its answer is not: the next attempt finds our own.
TEST_F(S3OddServers, ALostAnswerIsNoConflict) {
  ASSERT_TRUE(create("first", "knows about conditions now"));
  std::atomic<bool> lose = true;
  misbehave([&lose](const TestRequest& request, Bucket& bucket) -> std::optional<Bucket::Answer> {
    if (request.method != "PUT" || !lose.exchange(false)) return std::nullopt;
    bucket.put(request.target, {request.body, Bucket::header(request, "x-amz-meta-lectern-write")}, request);
    return Bucket::Answer{.lost = true};
  });
  const auto info = create("key", "mine");
  ASSERT_TRUE(info) << why(info);
  EXPECT_EQ(info->bytes, 4);
  lose = true;
  EXPECT_EQ(kind(create("key", "other")), ErrorKind::conflict) << "but somebody else's is one";
  EXPECT_EQ(stored("key"), "mine");
}

TEST_F(S3OddServers, UploadsInPartsSurviveOddAnswers) {
  ASSERT_TRUE(create("first", "knows about conditions now"));
  for (const bool lost : {false, true}) {  // an error inside of a 200; an answer that never comes
    SCOPED_TRACE(lost);
    misbehave([times = std::make_shared<std::atomic<int>>(2), lost](const TestRequest& request,
                                                                    Bucket& bucket) -> std::optional<Bucket::Answer> {
      if (request.method != "POST" || !request.target.contains("uploadId=") || (*times)-- <= 0) return std::nullopt;
      if (!lost) return Bucket::Answer{200, "  \n <?xml version=\"1.0\"?>\n" + Bucket::error("InternalError")};
      const std::string path = request.target.substr(0, request.target.find('?'));
      if (bucket.uploads.contains(path)) bucket.objects[path] = bucket.uploads[path];
      bucket.uploads.erase(path);
      return Bucket::Answer{.lost = true};
    });
    const std::string key = lost ? "lost" : "inside";
    const auto info = create(key, std::string(3500, 'p'));
    ASSERT_TRUE(info) << why(info);
    EXPECT_EQ(info->bytes, 3500);
    EXPECT_EQ(stored(key), std::string(3500, 'p'));
  }
  EXPECT_EQ(kind(create("lost", std::string(2500, 'q'))), ErrorKind::conflict);
  loop_.restart();
  loop_.run();
  EXPECT_EQ(uploads(), 0U) << "what was not completed is aborted";
}

// Whatever the server says, an older blob is not what was uploaded.
TEST_F(S3OddServers, AnUploadThatDidNotComeToBeIsNoSuccess) {
  ASSERT_TRUE(run(blobs_->put("key", "the old one", PutMode::replace)));
  for (const std::string said : {"<Error>", "<Error><Code>Half", "<html>done</html>"}) {
    misbehave([said](const TestRequest& request, Bucket&) -> std::optional<Bucket::Answer> {
      if (request.method != "POST" || !request.target.contains("uploadId=")) return std::nullopt;
      return Bucket::Answer{200, said};
    });
    const auto info = run(blobs_->put("key", std::string(3500, 'p'), PutMode::replace));
    EXPECT_EQ(kind(info), ErrorKind::unavailable) << said << " " << why(info);
    EXPECT_EQ(stored("key"), "the old one");
  }
}

TEST_F(S3OddServers, A404IsNoWordAboutABlobUnlessItSaysSo) {
  TempFolder scratch;
  ASSERT_TRUE(run(blobs_->put("empty", "", PutMode::replace)));
  EXPECT_EQ(kind(run(blobs_->head("none"))), ErrorKind::not_found);
  EXPECT_EQ(kind(run(blobs_->open("none", scratch.path()))), ErrorKind::not_found);
  EXPECT_EQ(kind(run(blobs_->get_range("none", {0, 0}))), ErrorKind::not_found);
  for (const std::string& body : {std::string(), std::string("<html>no such service</html>"),
                                  Bucket::error("NoSuchBucket"), Bucket::error("NotFound")}) {
    SCOPED_TRACE(body);
    misbehave([body](const TestRequest&, Bucket&) { return Bucket::Answer{404, body}; });
    EXPECT_EQ(kind(run(blobs_->head("key"))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs_->get("key", 10))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs_->open("key", scratch.path()))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs_->remove("key"))), ErrorKind::unavailable);
    EXPECT_EQ(kind(run(blobs_->list("", "", 10))), ErrorKind::unavailable);
  }
  // Written between our question and the one that asks what is missing.
  for (const int status : {200, 416}) {
    std::atomic<bool> first = true;
    misbehave([&first, status](const TestRequest& request, Bucket&) -> std::optional<Bucket::Answer> {
      if (request.method == "HEAD" && first.exchange(false)) return Bucket::Answer{404, ""};
      if (request.method == "GET" && status == 416) return Bucket::Answer{416, Bucket::error("InvalidRange")};
      return std::nullopt;
    });
    const auto head = run(blobs_->head("empty"));
    ASSERT_TRUE(head) << why(head);
    EXPECT_EQ(head->bytes, 0);
  }
}

TEST_F(S3OddServers, WhoMustEndDoesNotWaitForOneThatHangs) {
  misbehave([](const TestRequest&, Bucket&) { return Bucket::Answer{.status = 0}; });
  std::optional<Result<std::string>> got;
  asio::co_spawn(loop_, blobs_->get("key", 10),
                 [&got](const std::exception_ptr&, Result<std::string> result) { got = std::move(result); });
  while (!got && asked("GET", "key") == 0) loop_.run_one_for(std::chrono::milliseconds(1));
  over_.request();
  while (!got) loop_.run_one();
  EXPECT_EQ(kind(*got), ErrorKind::cancelled);
  EXPECT_EQ(asked("GET", "key"), 1);
  EXPECT_EQ(kind(run(blobs_->put("key", "x", PutMode::create_only))), ErrorKind::cancelled);
}

TEST_F(S3OddServers, AFailedPartEndsTheUpload) {
  misbehave([](const TestRequest& request, Bucket&) -> std::optional<Bucket::Answer> {
    if (!request.target.contains("partNumber=3")) return std::nullopt;
    return Bucket::Answer{507, ""};
  });
  const auto info = create("key", std::string(10'000, 'x'));
  EXPECT_EQ(kind(info), ErrorKind::overloaded) << why(info);
  loop_.restart();
  loop_.run();
  EXPECT_EQ(uploads(), 0U);
  EXPECT_EQ(stored("key"), std::nullopt);
}

TEST_F(S3OddServers, AWrongClockIsExplained) {
  misbehave([](const TestRequest&, Bucket&) {
    return Bucket::Answer{403, Bucket::error("RequestTimeTooSkewed"), "Date: Sun, 15 Nov 2020 05:49:35 GMT\r\n"};
  });
  const auto status = run(blobs_->check());
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().for_log.find("s ahead of the server's; set it (NTP)"), std::string::npos)
      << status.error().for_log;
}

TEST_F(S3OddServers, OneThatHangsIsGivenUp) {
  open(std::chrono::seconds(1));
  misbehave([](const TestRequest&, Bucket&) { return Bucket::Answer{.status = 0}; });
  EXPECT_EQ(kind(run(blobs_->get("key", 10))), ErrorKind::unavailable);
  EXPECT_TRUE(server_.await_left(5));
}

TEST_F(S3OddServers, WrongBytesAreNotTaken) {
  ASSERT_TRUE(create("key", std::string(3000, 'k').replace(0, 1, "a")));
  // It does not do ranges: all of it, whatever was asked for.
  EXPECT_EQ(kind(run(blobs_->get_range("key", {10, 5000}))), ErrorKind::corrupt);
  EXPECT_EQ(run(blobs_->get_range("key", {0, 5000})).value_or("").size(), 3000U);
}

TEST_F(S3OddServers, ABlobThatChangesWhileItIsCopiedIsCopiedAnew) {
  ASSERT_TRUE(run(blobs_->put("key", "old bytes", PutMode::replace)));
  std::atomic<int> reads = 0;
  misbehave([&reads](const TestRequest& request, Bucket& bucket) -> std::optional<Bucket::Answer> {
    const std::string wanted = Bucket::header(request, "if-match");
    if (wanted.empty()) return std::nullopt;
    if (reads++ == 0) bucket.objects["/bucket/deep/key"].bytes = "brand new";
    if (wanted != Bucket::tag(bucket.objects["/bucket/deep/key"]))
      return Bucket::Answer{412, Bucket::error("PreconditionFailed")};
    return std::nullopt;
  });
  TempFolder scratch;
  const auto fd = run(blobs_->open("key", scratch.path()));
  ASSERT_TRUE(fd) << why(fd);
  char bytes[10] = {};
  ASSERT_EQ(::pread(fd->get(), bytes, 9, 0), 9);
  EXPECT_STREQ(bytes, "brand new");
}

}  // namespace
}  // namespace lectern::job
