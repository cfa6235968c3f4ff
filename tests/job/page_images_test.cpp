#include "job/handlers/page_images.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "base/async.h"
#include "job/memory_blobs.h"
#include "job/request.h"

namespace lectern::job {
namespace {

namespace asio = boost::asio;

// One page; rendering it waits until the test says so.
class SlowDocument final : public document::OpenDocument {
 public:
  SlowDocument(Timers& timers, Cancellation go_on, const bool& throws)
      : timers_(timers), go_on_(std::move(go_on)), throws_(throws) {
    info_.pages = 1;
  }
  const document::DocumentInfo& info() const override { return info_; }
  asio::awaitable<Result<document::PageContent>> inspect(int) override {
    co_return fail(ErrorKind::internal, "not part of this fake");
  }
  asio::awaitable<Result<document::Rendered>> render(document::RenderRequest) override {
    co_await timers_.wait_until(TimePoint::max(), go_on_);
    if (throws_) throw std::runtime_error("no memory");
    document::Rendered rendered;
    rendered.jpeg = {'j', 'p', 'g'};
    co_return rendered;
  }

 private:
  Timers& timers_;
  const Cancellation go_on_;
  const bool& throws_;
  document::DocumentInfo info_;
};

class PageImagesTest : public testing::Test {
 protected:
  struct Asked {
    bool ended = false;
    std::optional<Result<std::string>> image;  // nothing after an exception
  };
  std::shared_ptr<Asked> ask(const std::string& id, Cancellation cancellation = {}) {
    auto asked = std::make_shared<Asked>();
    blobs_.blobs[id] = "bytes";
    Job job{.request = {.id = id, .document = id + ".pdf", .source = id}};
    asio::co_spawn(loop_, images_.image(std::move(job), 1, std::move(cancellation)),
                   [asked](const std::exception_ptr& failure, Result<std::string> image) {
                     asked->ended = true;
                     if (!failure) asked->image = std::move(image);
                   });
    settle();
    return asked;
  }
  void settle() {
    loop_.restart();
    loop_.poll();
  }
  asio::awaitable<Result<std::shared_ptr<document::OpenDocument>>> open() {
    co_return std::make_shared<SlowDocument>(timers_, go_on_, throws_);
  }

  asio::io_context loop_;
  ManualTimers timers_;
  MemoryBlobs blobs_;
  CpuPool cpu_{1};
  Cancellation go_on_;
  bool throws_ = false;
  JobDocuments documents_{blobs_, timers_, [this](UniqueFd, std::string, std::string) { return open(); }, {}};
  PageImages images_{blobs_, documents_, cpu_};
};

TEST_F(PageImagesTest, APictureIsMadeOnceAndKept) {
  go_on_.request();
  const auto made = ask("a");
  ASSERT_TRUE(made->image);
  EXPECT_EQ(made->image->value_or("?"), "jpg");
  EXPECT_EQ(blobs_.blobs.at(page_image_key("a", 1)), "jpg");
}

TEST_F(PageImagesTest, WhoGivesUpDoesNotWaitForAPlace) {
  const auto first = ask("a");
  const auto second = ask("b");
  Cancellation leaves;
  const auto third = ask("c", leaves);
  EXPECT_FALSE(third->ended);
  leaves.request();
  settle();
  ASSERT_TRUE(third->image) << "it waits though nobody waits for it";
  ASSERT_FALSE(*third->image);
  EXPECT_EQ(third->image->error().kind, ErrorKind::cancelled);
  EXPECT_FALSE(first->ended || second->ended);
  go_on_.request();
  settle();
  EXPECT_TRUE(first->image && *first->image);
  EXPECT_TRUE(second->image && *second->image);
}

TEST_F(PageImagesTest, RenderingThatThrowsKeepsNoPlace) {
  go_on_.request();
  throws_ = true;
  for (const std::string id : {"a", "b", "c"}) {
    const auto failed = ask(id);
    EXPECT_TRUE(failed->ended);
    EXPECT_FALSE(failed->image);
  }
  throws_ = false;
  const auto made = ask("a");
  ASSERT_TRUE(made->image);
  EXPECT_EQ(made->image->value_or("?"), "jpg");
}

}  // namespace
}  // namespace lectern::job
