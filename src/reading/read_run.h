// Reads many documents: plans what is left to do, reads pages of several documents at once inside one window, journals
// every result, and assembles each document when its last page is in. The same call resumes what an earlier one left.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "base/clock.h"
#include "base/disk.h"
#include "reading/assembly.h"
#include "reading/output/render.h"
#include "reading/page_ranges.h"
#include "reading/page_reader.h"
#include "reading/page_record.h"

namespace lectern::reading {

// Names are what the run would like: in an output folder a document keeps the name that it has there, and does not take
// another's.
struct RunDocument {
  std::filesystem::path file;  // what is opened
  std::string name;            // unique in the run: what events, the manifest and the JSON call it
  std::string stem;            // name of its output without extension
  std::string source = {};     // where it comes from, when its file does not tell: "-" = standard input
  bool operator==(const RunDocument&) const = default;
};

enum class DocumentOutcome { read, up_to_date, failed, stopped };
std::string_view to_string(DocumentOutcome outcome);

struct DocumentReport {
  std::string name;
  DocumentOutcome outcome = DocumentOutcome::failed;
  int pages_ok = 0;        // of those wanted, earlier runs included
  int pages_fallback = 0;  // likewise: read, but not by the first model
  int pages_failed = 0;    // likewise
  int pages_read = 0;      // in this run
  std::string output;      // path of the file written; empty on standard output
  std::string error;       // why the document as a whole failed
  bool operator==(const DocumentReport&) const = default;
};

// Hears of a run as it goes. Called on the event loop's thread, one call at a time; must not block for long.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  // Not called for documents that are up to date or cannot be opened.
  virtual void document_started(const RunDocument& document, int pages_wanted, int pages_to_read) = 0;
  virtual void page_done(const RunDocument& document, const PageRecord& record) = 0;
  virtual void document_done(const DocumentReport& report) = 0;
};

// What a run has used of its models so far.
struct Spent {
  Tokens tokens;
  std::optional<double> cost;  // where prices are known
  bool operator==(const Spent&) const = default;
};
struct Budget {
  std::optional<std::int64_t> tokens_max;
  std::optional<double> cost_max;
};
bool reached(const Budget& budget, const Spent& spent);

struct RunOptions {
  std::vector<RunDocument> documents;
  std::filesystem::path output_folder;  // empty = results go to RunServices::output and are not kept
  std::filesystem::path temporary_folder = "/tmp";
  OutputFormat format = OutputFormat::markdown;
  PageSelection pages;
  std::string password;
  bool retry_failed = false;
  bool from_scratch = false;
  // Why it is not sure that the reader is the one that was meant. Unless empty, results of another reader are not
  // thrown away: meeting some ends the run.
  std::string unsure;
  bool stream = false;  // pages also go to RunServices::output, each as soon as those before it have gone there
  int pages_in_flight_max = 4;
  std::function<int()> pages_in_flight;  // at this moment, at most pages_in_flight_max; null = always the most
  Budget budget;                         // once it is reached no page starts, and the run ends as stopped
  int pages_max = 100'000;    // a document of which more are wanted is refused: a file of a megabyte can claim millions
  Cancellation cancellation;  // when it fires, what is done is kept and the run ends early
};

using DocumentOpener = std::function<boost::asio::awaitable<Result<std::shared_ptr<document::OpenDocument>>>(
    std::filesystem::path file, std::string password)>;

struct RunServices {
  DocumentOpener open;
  PageReader& reader;
  CpuPool& cpu;
  Disk& disk;
  const Clock& clock;
  RunObserver& observer;
  ByteSink output;               // called on a thread of its own, so it may block; documents come in their order
  std::function<Spent()> spent;  // null = no model is asked
};

struct RunReport {
  int documents = 0;
  int documents_failed = 0;
  int documents_up_to_date = 0;
  int pages_ok = 0;
  int pages_fallback = 0;
  int pages_failed = 0;
  int pages_read = 0;
  Spent spent;                // in this run
  bool stopped = false;       // by cancellation or by the budget: run again to go on
  bool budget_spent = false;  // by the budget
  bool operator==(const RunReport&) const = default;
};

// A document or page that fails costs only itself. Errors are those that end the run: the output folder is in use or
// cannot be written, the output was closed. What was journalled by then is kept.
boost::asio::awaitable<Result<RunReport>> read_documents(RunServices services, RunOptions options);

}  // namespace lectern::reading
