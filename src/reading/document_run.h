// One document of a run, from its bytes to its output. Private to reading/.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "reading/journal.h"
#include "reading/plan.h"
#include "reading/read_run.h"
#include "reading/run_context.h"
#include "reading/waiter.h"

namespace lectern::reading {

// The steps are called in this order, on the event loop's thread. An error of a step ends the document; one that would
// hit every document has been given to RunContext::give_up as well.
class DocumentRun {
 public:
  DocumentRun(RunContext& run, int index);

  // Finds out what the document is and what earlier runs left.
  boost::asio::awaitable<Status> prepare();
  // Reads what is missing into the journal. Afterwards report().outcome says whether there is anything to put out.
  boost::asio::awaitable<Status> read();
  // Writes the output file. REQUIRES: the run has an output folder.
  boost::asio::awaitable<Status> write_output();
  // Sends the document to the run's output. Blocks; for the output thread.
  Status send_output(bool named) const;

  // Streaming, after prepare() and beside read(). wait_for(): until the page is in the journal; false when it never
  // will be. One waits at a time.
  boost::asio::awaitable<bool> wait_for(int page);
  void no_more_pages();
  // For the output thread.
  Status stream_head(bool named) const;
  Status stream_page(int page);
  Status stream_tail(bool named) const;

  const std::vector<int>& pages() const { return pages_; }  // wanted ones that the document has
  const RunDocument& document() const { return document_; }
  const DocumentReport& report() const { return report_; }
  void ended_with(const Error& error);

 private:
  bool refused() const;  // something is in the way of its outputs
  boost::asio::awaitable<Status> recall();
  std::set<int> pages_without_figures(const std::vector<PageRecord>& records) const;
  boost::asio::awaitable<Status> open_and_plan();
  boost::asio::awaitable<Status> read_planned();
  Result<std::unique_ptr<Journal>> new_journal(const document::DocumentInfo& info) const;
  void note_plan();
  void page_done(const PageRecord& record, const Status& journalled);
  void tally();
  Journal::Seams seams() const { return {run_.services.disk, run_.services.clock}; }

  RunContext& run_;
  const RunDocument& document_;
  const int index_;
  DocumentReport report_;
  Wanted wanted_;
  Known known_;  // empty when there is nothing usable from earlier runs
  std::unique_ptr<Journal> journal_;
  std::shared_ptr<document::OpenDocument> opened_;  // shared with the pages being read; only while there are any
  std::vector<int> pages_;
  std::vector<int> output_pages_;  // these, and what was read before
  Plan plan_;
  std::map<int, PageRecord> records_;
  std::shared_ptr<Waiter> page_waiter_;  // shared with wait_for(), which sleeps on it
  bool no_more_pages_ = false;
  bool streamed_any_ = false;  // used on the output thread alone
};

}  // namespace lectern::reading
