#include "reading/journaling_reader.h"

#include <mutex>

#include "base/async.h"
#include "reading/page_result.h"

namespace lectern::reading {
namespace {

// The first figure of a page that the disk did not take. Such a page must not be journalled as read: the figure would
// be missing for ever. (A picture that cannot be encoded is `corrupt`; the page is read without it.)
class FigureWatch {
 public:
  FigureSink around(FigureSink sink) {
    if (!sink) return {};
    return [this, sink = std::move(sink)](int page, int figure, const image::Image& pixels) {
      auto saved = sink(page, figure, pixels);
      if (!saved && saved.error().kind != ErrorKind::corrupt) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = saved.error();
      }
      return saved;
    };
  }
  Status status() const {
    const std::lock_guard lock(mutex_);
    if (failure_) return std::unexpected(*failure_);
    return {};
  }

 private:
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
};

}  // namespace

boost::asio::awaitable<PageResult> JournalingReader::read(std::shared_ptr<document::OpenDocument> document,
                                                          int page_number, FigureSink figures,
                                                          Cancellation cancellation) {
  const PageWindow::Place place = co_await parts_.window.enter(parts_.document_index);
  if (!place || (parts_.may_start && !parts_.may_start()))
    co_return PageResult{.page = page_number, .error = "stopped"};
  const WallTime started_at = parts_.clock.wall();
  FigureWatch watch;
  PageResult result =
      co_await parts_.reader.read(std::move(document), page_number, watch.around(std::move(figures)), cancellation);
  if (result.error.starts_with(parts_.file_name + ": ")) result.error.erase(0, parts_.file_name.size() + 2);
  PageResult outcome{.page = page_number, .error = result.error};
  // Cut short by the stop: not a result. The page stays pending and is read when the run is resumed.
  if (cancellation.requested() && !result.error.empty()) co_return outcome;
  if (was_cut_short(result) && parts_.may_start && !parts_.may_start()) co_return outcome;

  const auto before = parts_.attempts_before.find(page_number);
  const PageRecord record = record_of(result, started_at, before == parts_.attempts_before.end() ? 0 : before->second);
  Status journalled = watch.status();
  if (journalled) {
    auto append = [this, &record, result = std::move(result)] { return parts_.journal.append(record, result); };
    journalled = co_await parts_.cpu.run(std::move(append));
  }
  parts_.on_page(record, journalled);
  // What is not in the journal does not count as read, whatever the reader made of it.
  if (!journalled) outcome.error = journalled.error().for_log;
  co_return outcome;
}

}  // namespace lectern::reading
