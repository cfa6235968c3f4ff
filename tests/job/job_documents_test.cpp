#include "job/handlers/job_documents.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "job/memory_blobs.h"

namespace lectern::job {
namespace {

using namespace std::chrono_literals;
using document::OpenDocument;

class CountedDocument final : public OpenDocument {
 public:
  explicit CountedDocument(int& open) : open_(open) { ++open_; }
  ~CountedDocument() override { --open_; }
  const document::DocumentInfo& info() const override { return info_; }
  boost::asio::awaitable<Result<document::PageContent>> inspect(int) override {
    co_return fail(ErrorKind::internal, "not part of this fake");
  }
  boost::asio::awaitable<Result<document::Rendered>> render(document::RenderRequest) override {
    co_return fail(ErrorKind::internal, "not part of this fake");
  }

 private:
  int& open_;
  document::DocumentInfo info_;
};

class JobDocumentsTest : public testing::Test {
 protected:
  JobDocumentsTest()
      : documents(blobs, timers,
                  [this](UniqueFd, std::string name, std::string password) { return open_one(name, password); },
                  {.idle_max = 2, .idle_time = 20s}) {}

  boost::asio::awaitable<Result<std::shared_ptr<OpenDocument>>> open_one(std::string name, std::string password) {
    ++opened;
    last = name + " " + password;
    co_await timers.wait_until(TimePoint::max(), let_open);
    if (throws) throw std::runtime_error("no memory");
    if (refuses) co_return fail(ErrorKind::invalid_input, "is no document");
    co_return std::make_shared<CountedDocument>(open);
  }
  Job job(const std::string& id) {
    Job job{.request = {.id = id, .document = id + ".pdf", .source = id, .secret = R"({"password":"secret"})"}};
    blobs.blobs[id] = "bytes";
    return job;
  }
  struct Asked {
    std::optional<JobDocuments::Opened> opened;
  };
  std::shared_ptr<Asked> ask(Job job) {
    auto asked = std::make_shared<Asked>();
    boost::asio::co_spawn(
        loop, documents.open(std::move(job)),
        [asked](std::exception_ptr, JobDocuments::Opened opened) { asked->opened = std::move(opened); });
    settle();
    return asked;
  }
  void settle() {
    loop.restart();
    loop.poll();
  }

  boost::asio::io_context loop;
  ManualTimers timers;
  MemoryBlobs blobs;
  Cancellation let_open;
  bool refuses = false;
  bool throws = false;
  int opened = 0;
  int open = 0;
  std::string last;
  JobDocuments documents;
};

TEST_F(JobDocumentsTest, OneThatCouldNotBeOpenedIsTriedAgain) {
  throws = true;
  ask(job("a"));
  const auto waits = ask(job("a"));
  let_open.request();
  settle();
  ASSERT_TRUE(waits->opened);
  EXPECT_FALSE(*waits->opened);
  throws = false;
  const auto again = ask(job("a"));
  ASSERT_TRUE(again->opened);
  EXPECT_TRUE(*again->opened);
}

TEST_F(JobDocumentsTest, ADocumentIsOpenedOnceForAllWhoAsk) {
  const auto first = ask(job("a"));
  const auto second = ask(job("a"));
  EXPECT_FALSE(second->opened);
  let_open.request();
  settle();
  ASSERT_TRUE(first->opened && second->opened);
  EXPECT_EQ(first->opened->value(), second->opened->value());
  EXPECT_EQ(opened, 1);
  EXPECT_EQ(blobs.opens, 1);
  EXPECT_EQ(last, "a.pdf secret");
  EXPECT_TRUE(ask(job("a"))->opened);
  EXPECT_EQ(opened, 1);
}

TEST_F(JobDocumentsTest, WhatNobodyReadsIsClosedAfterAWhile) {
  let_open.request();
  auto asked = ask(job("a"));
  timers.advance(1min);
  documents.close_idle();
  EXPECT_EQ(open, 1) << "somebody reads it";
  asked->opened.reset();
  timers.advance(19s);
  documents.close_idle();
  EXPECT_EQ(open, 1);
  timers.advance(1s);
  documents.close_idle();
  EXPECT_EQ(open, 0);
  EXPECT_TRUE(documents.empty());
}

TEST_F(JobDocumentsTest, NoMoreThanSoManyWaitToBeReadAgain) {
  let_open.request();
  const auto held = ask(job("a"));
  for (const char* id : {"b", "c", "d"}) {
    timers.advance(1s);
    ask(job(id));
  }
  EXPECT_EQ(open, 3) << "the one in use, and two";
  ask(job("d"));
  EXPECT_EQ(opened, 4) << "the last used ones stay";
  ask(job("b"));
  EXPECT_EQ(opened, 5);
}

TEST_F(JobDocumentsTest, FailuresSayWhoseTheyAreAndAreNotKept) {
  let_open.request();
  refuses = true;
  const auto refused = ask(job("a"));
  ASSERT_TRUE(refused->opened && !*refused->opened);
  EXPECT_EQ(refused->opened->error().of, OpenFailure::Of::document);
  refuses = false;
  EXPECT_TRUE(ask(job("a"))->opened->has_value());
  blobs.failure = Error{ErrorKind::unavailable, "away", "away"};
  const auto away = ask(job("b"));
  ASSERT_TRUE(away->opened && !*away->opened);
  EXPECT_EQ(away->opened->error().of, OpenFailure::Of::blobs);
}

}  // namespace
}  // namespace lectern::job
