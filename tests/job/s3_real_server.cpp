// The S3 store against a real server: the conformance suite, and what happens when the server dies, stops or stutters.
#include <boost/asio/co_spawn.hpp>

#include "job/blobs/s3.h"
#include "job/blobs_conformance.h"
#include "job/open_blobs.h"
#include "servers/fault_proxy.h"
#include "servers/s3_server.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;
using test::FaultProxy;
using test::S3Server;
using test::shared_s3;
using namespace std::chrono_literals;

SystemTimers& timers() {
  static SystemTimers real;
  return real;
}

BlobsSeams seams(asio::io_context& loop) {
  return {.http = std::make_shared<provider::HttpClient>(loop.get_executor()),
          .executor = loop.get_executor(),
          .timers = &timers(),
          .environment = [](const std::string& name) { return shared_s3().environment(name); }};
}

std::unique_ptr<Blobs> open_at(const std::string& url, asio::io_context& loop) {
  auto blobs = open_blobs(url, "", seams(loop));
  if (!blobs) throw std::runtime_error(blobs.error().for_log);
  return std::move(*blobs);
}

INSTANTIATE_TEST_SUITE_P(S3, BlobsConformance,
                         testing::Values(BlobsCase{"seaweedfs",
                                                   [](asio::io_context& loop, const TempFolder&) {
                                                     S3Server& server = shared_s3();
                                                     return open_at(server.url(server.new_prefix()), loop);
                                                   }}),
                         [](const auto& info) { return info.param.name; });

class S3RealServer : public testing::Test {
 protected:
  template <class T>
  T run(asio::awaitable<T> coroutine) {
    return run_coroutine(loop_, std::move(coroutine));
  }
  // Gives up soon: for what is to fail.
  std::unique_ptr<Blobs> impatient(const std::string& url) {
    auto place = s3_place_from(url, seams(loop_).environment);
    if (!place) throw std::runtime_error(place.error().for_log);
    return make_s3_blobs(std::move(*place), {.attempts_max = 1, .stall_timeout = 1s},
                         {.http = seams(loop_).http, .executor = loop_.get_executor(), .timers = &timers()});
  }

  asio::io_context loop_;
};

TEST_F(S3RealServer, WhatWasPutSurvivesAKill) {
  S3Server& server = shared_s3();
  const auto blobs = open_at(server.url(server.new_prefix()), loop_);
  for (int round = 0; round < 2; ++round) {
    std::map<std::string, Result<BlobInfo>> acknowledged;
    std::string last;
    for (int i = 0; i < 40; ++i) {
      const std::string key = "kill/" + std::to_string(round) + "/" + std::to_string(i);
      asio::co_spawn(loop_,
                     blobs->put(key, std::string(static_cast<std::size_t>(i) * 2000 + 1, 'x'), PutMode::create_only),
                     [&, key](std::exception_ptr, Result<BlobInfo> result) {
                       if (acknowledged.size() == 15) server.kill();  // in the middle of the others
                       acknowledged.emplace(key, std::move(result));
                     });
    }
    loop_.restart();
    while (acknowledged.size() < 16 && loop_.run_one() > 0) {
    }
    server.start();
    loop_.run();
    ASSERT_EQ(acknowledged.size(), 40U);
    int there = 0;
    for (const auto& [key, result] : acknowledged) {
      // Those in flight were tried again and found the server back, or say clearly that it was away.
      if (!result) {
        EXPECT_EQ(kind(result), ErrorKind::unavailable) << why(result);
        continue;
      }
      const auto head = run(blobs->head(key));
      ASSERT_TRUE(head) << key << " " << why(head);
      EXPECT_EQ(head->bytes, result->bytes);
      ++there;
    }
    EXPECT_GE(there, 16);
  }
}

TEST_F(S3RealServer, CutConnectionsAreTriedAgain) {
  FaultProxy proxy(shared_s3().port());
  const auto blobs = open_at(shared_s3().url(shared_s3().new_prefix(), proxy.port()), loop_);
  const std::string bytes(3'000'000, 'c');
  for (const std::int64_t after : {1, 40, 200}) {  // in the middle of the answer's head, or just after it
    const std::string key = "cut/" + std::to_string(after);
    ASSERT_TRUE(run(blobs->check()));
    proxy.cut_after_reply_bytes(after);
    const auto info = run(blobs->put(key, bytes, PutMode::create_only));
    ASSERT_TRUE(info) << why(info) << ": the blob of an attempt whose answer was lost is ours";
    proxy.cut_after_reply_bytes(after * 1000);
    const auto read = run(blobs->get(key, 10'000'000));
    ASSERT_TRUE(read) << why(read);
    EXPECT_TRUE(*read == bytes);
    EXPECT_EQ(kind(run(blobs->put(key, bytes, PutMode::create_only))), ErrorKind::conflict);
  }
}

TEST_F(S3RealServer, AStalledServerIsGivenUp) {
  FaultProxy proxy(shared_s3().port());
  const std::string url = shared_s3().url(shared_s3().new_prefix(), proxy.port());
  const auto blobs = impatient(url);
  ASSERT_TRUE(run(open_at(url, loop_)->put("here", "x", PutMode::create_only)));
  proxy.set(FaultProxy::Mode::half_open);
  EXPECT_EQ(kind(run(blobs->get("here", 10))), ErrorKind::unavailable);
  EXPECT_EQ(kind(run(blobs->put("there", std::string(5'000'000, 'x'), PutMode::create_only))), ErrorKind::unavailable);
  EXPECT_EQ(kind(run(blobs->check())), ErrorKind::unavailable);
  proxy.set(FaultProxy::Mode::refuse);
  EXPECT_EQ(kind(run(blobs->head("here"))), ErrorKind::unavailable);
  proxy.set(FaultProxy::Mode::pass);
  EXPECT_EQ(run(open_at(url, loop_)->get("here", 10)).value_or("?"), "x");
}

TEST_F(S3RealServer, APausedServerIsGivenUp) {
  const std::string url = shared_s3().url(shared_s3().new_prefix());
  const auto patient = open_at(url, loop_);
  ASSERT_TRUE(run(patient->put("here", "x", PutMode::create_only)));
  shared_s3().pause();
  const auto away = run(impatient(url)->get("here", 10));
  shared_s3().resume();
  EXPECT_EQ(kind(away), ErrorKind::unavailable) << why(away);
  const auto back = run(patient->put("back", "x", PutMode::create_only));
  EXPECT_TRUE(back) << why(back);
}

TEST_F(S3RealServer, WrongCredentialsAreNamed) {
  BlobsSeams mine = seams(loop_);
  mine.environment = [](const std::string& name) -> std::optional<std::string> {
    if (name == "AWS_SECRET_ACCESS_KEY") return "wrong";
    return shared_s3().environment(name);
  };
  const auto blobs = open_blobs(shared_s3().url("x"), "", mine);
  ASSERT_TRUE(blobs);
  const auto status = run((*blobs)->check());
  ASSERT_EQ(kind(status), ErrorKind::unavailable);
  EXPECT_NE(status.error().for_log.find("AWS_SECRET_ACCESS_KEY"), std::string::npos) << status.error().for_log;
  EXPECT_EQ((*blobs)->description().find("wrong"), std::string::npos);
}

TEST_F(S3RealServer, WithoutItsBucketNothingIsSaidAboutBlobs) {
  auto place = s3_place_from(shared_s3().url(shared_s3().new_prefix()), seams(loop_).environment);
  ASSERT_TRUE(place);
  place->bucket = "lectern-to-be-removed";
  const S3Seams parts{.http = seams(loop_).http, .executor = loop_.get_executor(), .timers = &timers()};
  S3Client client(*place, {}, parts);
  const S3Request make{.method = "PUT"};
  ASSERT_TRUE(run(client.send(make)));
  const auto blobs = make_s3_blobs(*place, {}, parts);
  ASSERT_TRUE(run(blobs->put("here", "x", PutMode::create_only)));
  ASSERT_TRUE(run(blobs->put("empty", "", PutMode::create_only)));
  EXPECT_EQ(kind(run(blobs->head("none"))), ErrorKind::not_found);
  EXPECT_EQ(run(blobs->head("empty"))->bytes, 0);
  for (const std::string key : {"here", "empty", "check"}) ASSERT_TRUE(run(blobs->remove(key)));
  const S3Request unmake{.method = "DELETE"};
  ASSERT_TRUE(run(client.send(unmake)));
  const TempFolder scratch;
  const auto opened = run(blobs->open("here", scratch.path()));
  ASSERT_EQ(kind(opened), ErrorKind::unavailable);
  EXPECT_NE(opened.error().for_log.find("there is no bucket 'lectern-to-be-removed'; create it"), std::string::npos)
      << opened.error().for_log;
  EXPECT_EQ(kind(run(blobs->head("here"))), ErrorKind::unavailable);
  EXPECT_EQ(kind(run(blobs->get("here", 10))), ErrorKind::unavailable);
  EXPECT_EQ(kind(run(blobs->remove("here"))), ErrorKind::unavailable);
}

TEST_F(S3RealServer, ADroppedUploadIsAborted) {
  S3Server& server = shared_s3();
  const std::string prefix = server.new_prefix();
  const auto blobs = open_at(server.url(prefix), loop_);
  {
    auto writer = run(blobs->writer("dropped", PutMode::create_only));
    ASSERT_TRUE(writer);
    ASSERT_TRUE(run((*writer)->write(std::string(20 << 20, 'x'))));
  }
  loop_.restart();
  loop_.run();
  S3Client client(*s3_place_from(server.url(prefix), seams(loop_).environment), {},
                  {.http = seams(loop_).http, .executor = loop_.get_executor(), .timers = &timers()});
  S3Request request{.query = {{"uploads", ""}, {"prefix", prefix + "/"}}};
  const auto uploads = run(client.send(std::move(request)));
  ASSERT_TRUE(uploads) << uploads.error().error.for_log;
  EXPECT_NE(uploads->body.find("ListMultipartUploadsResult"), std::string::npos) << uploads->body;
  EXPECT_EQ(uploads->body.find("<UploadId>"), std::string::npos) << uploads->body;
}

}  // namespace
}  // namespace lectern::job
