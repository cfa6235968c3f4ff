// The page journal of one document: results as they come, so that a killed run loses next to nothing, and so that a
// document is assembled page by page however long it is (docs/output-folder.md describes the file).
//
// The file is append-only, one checksummed row a line. Invariants:
// 1. The first row says which document, which bytes and which reader the rest belongs to.
// 2. A row counts only when it is whole and its checksum fits; from the first one that does not, the file is cut off
//    when it is opened. So a torn tail costs the pages in it and nothing else.
// 3. Of several rows for one page the last counts.
// 4. After a failed write or fsync nothing more is appended: the file might end in half a row.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "document/page_content.h"
#include "reading/page_record.h"
#include "reading/plan.h"

namespace lectern::reading {

struct JournalHeader {
  std::string document;  // its name in the output folder
  ReadingIdentity identity;
  document::DocumentInfo info;
  bool operator==(const JournalHeader&) const = default;
};

// What a journal file holds, without the page results themselves.
struct JournalContents {
  JournalHeader header;
  std::vector<PageRecord> records;     // the last one of each page, ascending
  std::optional<Assembled> assembled;  // unset when a page was read after it was written
  std::vector<Assembled> outputs;      // every output that was ever written from it, oldest first
  bool cut = false;                    // a torn tail was dropped
};

// Calls are safe from any thread. The disk and clock are borrowed and must outlive the journal.
class Journal {
 public:
  struct Seams {
    Disk& disk;
    const Clock& clock;
  };
  struct Opened;

  // Starts a new journal in place of what is there.
  static Result<std::unique_ptr<Journal>> create(Seams seams, const std::filesystem::path& file,
                                                 const JournalHeader& header);
  // A journal without a name in `folder`, gone when the process ends: for results that are not kept.
  static Result<std::unique_ptr<Journal>> create_private(Seams seams, const std::filesystem::path& folder,
                                                         const JournalHeader& header);
  // Opens what an earlier run left. nullopt: there is none, or not even its first row is whole.
  static Result<std::optional<Opened>> open(Seams seams, const std::filesystem::path& file);

  // The first row alone; nullopt where there is none, or it cannot be read.
  static std::optional<JournalHeader> read_header(const std::filesystem::path& file);

  // Appends and, about once a second, makes durable what was appended (by whichever call comes then).
  Status append(const PageRecord& record, const PageResult& result);
  Status append(const Assembled& assembled);
  // Everything appended so far is on the disk when this returns.
  Status sync();

  const JournalHeader& header() const { return header_; }
  bool has(int page) const;
  // REQUIRES: has(page). Errors (corrupt): the file was damaged since it was opened.
  Result<PageResult> read(int page) const;

 private:
  struct Place {
    std::int64_t offset = 0;
    std::size_t bytes = 0;
  };
  struct Scan;
  enum class Durability { kept, disposable };

  Journal(Seams seams, std::filesystem::path file, UniqueFd write_fd, UniqueFd read_fd, Durability durability);
  static Result<Scan> scan(int fd);
  Status append_row(std::string_view payload, int page);
  Status sync_locked();

  // Constant after construction.
  const Seams seams_;
  const std::filesystem::path file_;
  const UniqueFd write_fd_;
  const UniqueFd read_fd_;
  const Durability durability_;
  JournalHeader header_;

  mutable std::mutex mutex_;  // guards all below
  std::map<int, Place> places_;
  std::int64_t size_ = 0;
  bool folder_synced_ = false;
  bool unsynced_ = false;
  TimePoint synced_at_;
  std::optional<Error> broken_;  // invariant 4
};

struct Journal::Opened {
  std::unique_ptr<Journal> journal;
  JournalContents contents;
};

}  // namespace lectern::reading
