// A PageReader around another one: waits for a place in the run's window, reads, journals the result, and tells the
// run. One for each document being read.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "reading/journal.h"
#include "reading/page_reader.h"
#include "reading/page_window.h"

namespace lectern::reading {

class JournalingReader final : public PageReader {
 public:
  struct Parts {
    PageReader& reader;
    PageWindow& window;
    Journal& journal;
    CpuPool& cpu;
    const Clock& clock;
    std::function<bool()> may_start;  // asked before each page; null = always
    int document_index = 0;
    std::string file_name;               // errors that begin with it lose it: whoever shows them says it already
    std::map<int, int> attempts_before;  // page → attempts in earlier runs
    // On the event loop's thread, once the result is in the journal, or with the error that kept it out.
    std::function<void(const PageRecord& record, Status journalled)> on_page;
  };
  explicit JournalingReader(Parts parts) : parts_(std::move(parts)) {}

  // The result comes back without its blocks: they are in the journal, and memory is bounded.
  boost::asio::awaitable<PageResult> read(std::shared_ptr<document::OpenDocument> document, int page_number,
                                          FigureSink figures, Cancellation cancellation) override;
  std::string fingerprint() const override { return parts_.reader.fingerprint(); }

 private:
  Parts parts_;
};

}  // namespace lectern::reading
