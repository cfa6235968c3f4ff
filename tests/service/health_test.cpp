#include "service/api/health.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <vector>

#include "job/memory/memory_database.h"
#include "job/memory_blobs.h"
#include "run_coroutine.h"

namespace lectern::service {
namespace {

namespace asio = boost::asio;
using std::chrono::seconds;

// Looks take as long as the test wants, and are counted.
class SlowBlobs final : public job::Blobs {
 public:
  explicit SlowBlobs(Timers& timers) : timers_(timers) {}
  asio::awaitable<Status> check() override {
    ++checks;
    co_await timers_.wait_until(TimePoint::max(), go_on);
    if (throws) throw std::runtime_error("a bug");
    co_return co_await inner.check();
  }
  asio::awaitable<Result<job::BlobInfo>> put(std::string key, std::string bytes, job::PutMode mode) override {
    return inner.put(std::move(key), std::move(bytes), mode);
  }
  asio::awaitable<Result<std::unique_ptr<job::BlobWriter>>> writer(std::string key, job::PutMode mode) override {
    return inner.writer(std::move(key), mode);
  }
  asio::awaitable<Result<std::string>> get(std::string key, std::int64_t bytes_max) override {
    return inner.get(std::move(key), bytes_max);
  }
  asio::awaitable<Result<std::string>> get_range(std::string key, job::ByteRange range) override {
    return inner.get_range(std::move(key), range);
  }
  asio::awaitable<Result<job::BlobInfo>> head(std::string key) override { return inner.head(std::move(key)); }
  asio::awaitable<Status> remove(std::string key) override { return inner.remove(std::move(key)); }
  asio::awaitable<Result<Page>> list(std::string prefix, std::string from, int limit) override {
    return inner.list(std::move(prefix), std::move(from), limit);
  }
  asio::awaitable<Result<UniqueFd>> open(std::string key, std::filesystem::path scratch) override {
    return inner.open(std::move(key), std::move(scratch));
  }
  std::string description() const override { return inner.description(); }

  job::MemoryBlobs inner;
  int checks = 0;
  bool throws = false;
  Cancellation go_on;

 private:
  Timers& timers_;
};

class ReadinessTest : public testing::Test {
 protected:
  bool look() {
    const auto found = run_coroutine(loop_, readiness_.look());
    return found.store && found.blobs;
  }

  asio::io_context loop_;
  ManualTimers timers_;
  job::Store store_{job::make_memory_database(timers_.clock()), {}, timers_};
  SlowBlobs blobs_{timers_};
  Readiness readiness_{store_, blobs_, timers_, seconds(2)};
};

TEST_F(ReadinessTest, TheAnswerIsKeptForAWhile) {
  blobs_.go_on.request();
  EXPECT_TRUE(look());
  blobs_.inner.failure = fail(ErrorKind::unavailable, "away").error();
  timers_.advance(std::chrono::milliseconds(1'900));
  EXPECT_TRUE(look());
  EXPECT_EQ(blobs_.checks, 1);
  timers_.advance(std::chrono::milliseconds(200));
  EXPECT_FALSE(look());
  blobs_.inner.failure.reset();
  EXPECT_FALSE(look());
  EXPECT_EQ(blobs_.checks, 2);
  timers_.advance(seconds(2));
  EXPECT_TRUE(look());
}

TEST_F(ReadinessTest, OneLookIsForAllWhoWaitForIt) {
  std::vector<bool> answers;
  for (int i = 0; i < 5; ++i) {
    asio::co_spawn(loop_, readiness_.look(), [&](const std::exception_ptr&, Readiness::Found found) {
      answers.push_back(found.store && found.blobs);
    });
  }
  while (timers_.waiting() < 5) loop_.run_one();
  EXPECT_TRUE(answers.empty());
  blobs_.go_on.request();
  while (answers.size() < 5) loop_.run_one();
  EXPECT_EQ(answers, std::vector<bool>(5, true));
  EXPECT_EQ(blobs_.checks, 1);
}

TEST_F(ReadinessTest, ALookThatThrowsDoesNotEndAllLooks) {
  blobs_.go_on.request();
  blobs_.throws = true;
  EXPECT_THROW(look(), std::runtime_error);
  blobs_.throws = false;
  EXPECT_TRUE(look());
}

}  // namespace
}  // namespace lectern::service
