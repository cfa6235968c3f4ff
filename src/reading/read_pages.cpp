#include "reading/read_pages.h"

#include <algorithm>

#include "base/run_all.h"

namespace lectern::reading {
namespace {

// What the page workers of one call share. They run on one executor, one at a time, so nothing here needs a lock.
struct Run {
  std::shared_ptr<document::OpenDocument> document;
  PageReader& reader;
  ReadPagesOptions options;
  std::size_t next = 0;    // index into options.pages
  std::size_t handed = 0;  // pages given to on_page
};

boost::asio::awaitable<void> work(std::shared_ptr<Run> run) {
  while (run->next < run->options.pages.size() && !run->options.cancellation.requested()) {
    const int page = run->options.pages[run->next++];
    PageResult result = co_await run->reader.read(run->document, page, run->options.figures, run->options.cancellation);
    // A page that was cut short is not a result: it is read again when the run is resumed.
    if (run->options.cancellation.requested() && !result.error.empty()) break;
    ++run->handed;
    run->options.on_page(std::move(result));
  }
}

}  // namespace

boost::asio::awaitable<Status> read_pages(std::shared_ptr<document::OpenDocument> document, PageReader& reader,
                                          ReadPagesOptions options) {
  const auto wanted = options.pages.size();
  const auto workers = std::min(wanted, static_cast<std::size_t>(std::max(1, options.in_flight_max)));
  auto run = std::make_shared<Run>(std::move(document), reader, std::move(options));
  std::vector<boost::asio::awaitable<void>> all;
  for (std::size_t i = 0; i < workers; ++i) all.push_back(work(run));
  auto stop = [run] { run->options.cancellation.request(); };
  co_await run_all(std::move(all), stop);
  if (run->handed < wanted) co_return fail(ErrorKind::cancelled, "stopped after {} of {} pages", run->handed, wanted);
  co_return Status{};
}

}  // namespace lectern::reading
