#include "cli/job_readers.h"

#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/async.h"
#include "cli/settings.h"
#include "run_coroutine.h"
#include "sim_engine.h"

namespace lectern::cli {
namespace {

using namespace std::chrono_literals;

class JobReadersTest : public testing::Test {
 protected:
  Result<job::JobReader> reader(const std::string& operation, job::JobOptions options = {}) {
    return run_coroutine(loop_, readers_.reader(operation, std::move(options)));
  }

  boost::asio::io_context loop_;
  Config config_{settings_table(), settings_entries()};
  CpuPool cpu_{1};
  ManualTimers timers_;
  JobReaders readers_{
      {.executor = loop_.get_executor(), .config = config_, .cpu = cpu_, .timers = timers_, .models = std::nullopt}};
};

TEST_F(JobReadersTest, EqualWishesShareAReader) {
  const auto first = reader("read", {.pages = "1"});
  const auto second = reader("read", {.pages = "2-5"});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->reader, second->reader) << "which pages are wanted is not the reader's business";
  EXPECT_NE(first->reader, reader("ocr")->reader);
  EXPECT_NE(first->reader, reader("read", {.auto_rotate = false})->reader);
  EXPECT_EQ(first->prompt, "") << "no model is asked";
}

TEST_F(JobReadersTest, WishesReachTheReader) {
  EXPECT_THAT(reader("ocr", {.auto_rotate = false})->reader->fingerprint(),
              testing::HasSubstr("ocr=true rotate=false"));
}

TEST_F(JobReadersTest, WhatCannotBeFulfilledIsTheSendersFault) {
  EXPECT_EQ(reader("read", {.languages = "xyz"}).error().kind, ErrorKind::not_found);
}

TEST_F(JobReadersTest, AModelMayBeForAnotherWorker) {
  const auto model = reader("read", {.model = "m"});
  EXPECT_EQ(model.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(model.error().for_caller, testing::HasSubstr("this worker has no engine"));
}

TEST_F(JobReadersTest, WhatTheWorkerWasGivenIsNot) {
  ASSERT_TRUE(config_.set_flag("read.lang", "xyz", "--lang"));
  EXPECT_EQ(reader("read").error().kind, ErrorKind::unavailable);
}

TEST_F(JobReadersTest, UnusedReadersAreLetGo) {
  auto held = reader("read");
  reader("ocr");
  timers_.advance(1min);
  readers_.close_idle();
  EXPECT_FALSE(readers_.empty()) << "a page is being read with one";
  held = fail(ErrorKind::internal, "dropped");
  timers_.advance(29s);
  readers_.close_idle();
  EXPECT_FALSE(readers_.empty());
  timers_.advance(1s);
  readers_.close_idle();
  EXPECT_TRUE(readers_.empty());
}

TEST_F(JobReadersTest, AnEngineThatCameLateIsAskedAsItWants) {
  const testing_sim::SimEngine engine({"--model", "qwen2.5-vl-7b"});
  engine.control(R"({"dead": true})");
  ModelSettings settings{.first = {.engines = {{.address = engine.url()}}}};
  settings.patience = 0s;
  JobReaders readers{{.executor = loop_.get_executor(),
                      .config = config_,
                      .cpu = cpu_,
                      .timers = timers_,
                      .models = std::move(settings)}};
  const auto read = [&] { return run_coroutine(loop_, readers.reader("read", {})).value().reader; };
  const auto early = read();
  EXPECT_THAT(early->fingerprint(), testing::HasSubstr("[" + engine.url()));
  timers_.advance(5s);
  EXPECT_EQ(read(), early) << "it is still away";
  engine.control(R"({"dead": false})");
  EXPECT_EQ(read(), early) << "it is not asked for every page";
  timers_.advance(5s);
  EXPECT_THAT(read()->fingerprint(), testing::HasSubstr("[qwen2.5-vl-7b qwen"));
}

TEST_F(JobReadersTest, ThereIsRoomForAFewPagesMoreThanCores) {
  ASSERT_TRUE(config_.set_flag("read.parallel", "3", "--parallel"));
  EXPECT_EQ(readers_.room(), 5);
}

}  // namespace
}  // namespace lectern::cli
