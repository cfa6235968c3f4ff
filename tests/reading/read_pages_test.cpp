#include "reading/read_pages.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "run_coroutine.h"

namespace lectern::reading {
namespace {

namespace asio = boost::asio;

// Counts how many pages it is reading at once; page n needs n % 5 turns of the loop, so pages finish out of order.
class CountingReader final : public PageReader {
 public:
  asio::awaitable<PageResult> read(std::shared_ptr<document::OpenDocument> /*document*/, int page_number,
                                   FigureSink /*figures*/, Cancellation /*cancellation*/) override {
    in_flight_most = std::max(in_flight_most, ++in_flight);
    for (int turn = 0; turn < page_number % 5; ++turn) {
      co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    }
    --in_flight;
    if (page_number == throw_at) throw std::runtime_error("a bug in the reader");
    PageResult result;
    result.page = page_number;
    co_return result;
  }
  std::string fingerprint() const override { return "counting"; }

  int in_flight = 0;
  int in_flight_most = 0;
  int throw_at = 0;
};

std::vector<int> pages_to(int last) {
  std::vector<int> pages(static_cast<std::size_t>(last));
  std::iota(pages.begin(), pages.end(), 1);
  return pages;
}

TEST(ReadPages, EveryPageOnceAndNeverMoreInFlightThanAllowed) {
  for (const int in_flight : {1, 3, 64}) {
    SCOPED_TRACE(in_flight);
    asio::io_context loop;
    CountingReader reader;
    std::vector<int> seen;
    ReadPagesOptions options;
    options.pages = pages_to(200);
    options.in_flight_max = in_flight;
    options.on_page = [&](PageResult page) { seen.push_back(page.page); };
    EXPECT_TRUE(run_coroutine(loop, read_pages(nullptr, reader, std::move(options))));
    if (in_flight == 1) {
      EXPECT_EQ(seen, pages_to(200)) << "one at a time is strictly in order";
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, pages_to(200));
    EXPECT_EQ(reader.in_flight_most, in_flight);
  }
}

TEST(ReadPages, CancellationStopsBeforeTheNextPage) {
  asio::io_context loop;
  CountingReader reader;
  int handed = 0;
  ReadPagesOptions options;
  options.pages = pages_to(1000);
  options.in_flight_max = 4;
  Cancellation cancellation = options.cancellation;
  options.on_page = [&](PageResult /*page*/) {
    if (++handed == 10) cancellation.request();
  };
  const Status status = run_coroutine(loop, read_pages(nullptr, reader, std::move(options)));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::cancelled);
  EXPECT_GE(handed, 10);
  EXPECT_LE(handed, 13) << "the pages that were in flight may still finish";
  EXPECT_EQ(reader.in_flight, 0);
}

TEST(ReadPages, ABugInTheReaderReachesTheCallerAfterEveryWorkerStopped) {
  asio::io_context loop;
  CountingReader reader;
  reader.throw_at = 7;
  ReadPagesOptions options;
  options.pages = pages_to(100);
  options.on_page = [](PageResult /*page*/) {};
  EXPECT_THROW(run_coroutine(loop, read_pages(nullptr, reader, std::move(options))), std::runtime_error);
  EXPECT_EQ(reader.in_flight, 0);
}

TEST(ReadPages, NoPagesIsNoWork) {
  asio::io_context loop;
  CountingReader reader;
  EXPECT_TRUE(run_coroutine(loop, read_pages(nullptr, reader, ReadPagesOptions{})));
}

}  // namespace
}  // namespace lectern::reading
