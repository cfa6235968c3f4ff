#include "reading/read_pages.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <exception>

#include "base/channel.h"

namespace lectern::reading {
namespace {

// What the page workers of one call share. They run on one executor, one at a time, so nothing here needs a lock.
struct Run {
  Run(std::shared_ptr<document::OpenDocument> d, PageReader& r, ReadPagesOptions o, std::size_t workers)
      : document(std::move(d)), reader(r), options(std::move(o)), ended(workers) {}

  std::shared_ptr<document::OpenDocument> document;
  PageReader& reader;
  ReadPagesOptions options;
  std::size_t next = 0;               // index into options.pages
  std::size_t handed = 0;             // pages given to on_page
  Channel<std::exception_ptr> ended;  // one entry for each worker that has stopped
};

boost::asio::awaitable<void> work(std::shared_ptr<Run> run) {
  std::exception_ptr failure;
  try {
    while (run->next < run->options.pages.size() && !run->options.cancellation.requested()) {
      const int page = run->options.pages[run->next++];
      PageResult result = co_await run->reader.read(run->document, page, run->options.figures);
      // A page that was cut short is not a result: it is read again when the run is resumed.
      if (run->options.cancellation.requested() && !result.error.empty()) break;
      ++run->handed;
      run->options.on_page(std::move(result));
    }
  } catch (...) {  // not swallowed: rethrown by read_pages once every worker has stopped
    failure = std::current_exception();
    run->options.cancellation.request();
  }
  co_await run->ended.send(failure);
}

}  // namespace

boost::asio::awaitable<Status> read_pages(std::shared_ptr<document::OpenDocument> document, PageReader& reader,
                                          ReadPagesOptions options) {
  const auto wanted = options.pages.size();
  const auto workers = std::min(wanted, static_cast<std::size_t>(std::max(1, options.in_flight_max)));
  auto run = std::make_shared<Run>(std::move(document), reader, std::move(options), std::max<std::size_t>(workers, 1));
  auto executor = co_await boost::asio::this_coro::executor;
  for (std::size_t i = 0; i < workers; ++i) boost::asio::co_spawn(executor, work(run), boost::asio::detached);
  std::exception_ptr failure;
  for (std::size_t i = 0; i < workers; ++i) {
    auto ended = co_await run->ended.receive();
    if (ended && *ended && !failure) failure = *ended;
  }
  if (failure) std::rethrow_exception(failure);
  if (run->handed < wanted) co_return fail(ErrorKind::cancelled, "stopped after {} of {} pages", run->handed, wanted);
  co_return Status{};
}

}  // namespace lectern::reading
