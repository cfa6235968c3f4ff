// What a run has to do for one document, decided from what earlier runs left. Pure: no files, clocks or logs.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "reading/output/render.h"
#include "reading/page_ranges.h"
#include "reading/page_record.h"

namespace lectern::reading {

// What page results depend on: when any of it changes, they are read again.
struct ReadingIdentity {
  std::string sha256;       // of the document's bytes
  std::string fingerprint;  // of the reader and its options
  bool operator==(const ReadingIdentity&) const = default;
};

// An output file that an earlier run finished.
struct Assembled {
  OutputFormat format = OutputFormat::markdown;
  std::string output;  // file name relative to the output folder
  std::string pages;   // those that are in it, as PageSelection::to_string() writes them
  bool operator==(const Assembled&) const = default;
};

struct Known {
  ReadingIdentity identity;
  int page_count = 0;
  std::vector<PageRecord> records;     // at most one a page, none pending
  std::optional<Assembled> assembled;  // the latest
  bool output_exists = false;          // the file that `assembled` names is there
  std::set<int> figures_lost;          // pages that link to figures which are not there any more
};

struct Wanted {
  ReadingIdentity identity;
  PageSelection pages;
  OutputFormat format = OutputFormat::markdown;
  std::string output;         // file name relative to the output folder
  bool retry_failed = false;  // also those that fell back
  bool from_scratch = false;  // --no-cache: what is known does not count
};

// Whether earlier results are of any use: same bytes, same reader.
bool is_usable(const Known& known, const Wanted& wanted);

struct Plan {
  std::vector<int> read;  // pages to read, ascending
  bool assemble = false;  // the output has to be written (always, when pages are read)
  bool up_to_date() const { return read.empty() && !assemble; }
  bool operator==(const Plan&) const = default;
};

// In both `known` is null when there is nothing usable; `page_count` is the document's.
// The pages of the output: those that are wanted, and those that were read before. Ascending.
std::vector<int> output_pages(const Known* known, const Wanted& wanted, int page_count);
Plan plan_document(const Known* known, const Wanted& wanted, int page_count);

}  // namespace lectern::reading
