// The manifest of an output folder (docs/output-folder.md): one row a page, for people and scripts. It is derived: the
// journals are what a later run trusts. It is always rewritten whole and put in place by a rename.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/error.h"
#include "reading/page_record.h"

namespace lectern::reading {

// Calls are safe from any thread.
class Manifest {
 public:
  // Reads what earlier runs left; no file is an empty manifest. Errors name file and line.
  static Result<std::unique_ptr<Manifest>> load(Disk& disk, const Clock& clock, std::filesystem::path file);

  // What is known of a document from now on: earlier rows of it are forgotten.
  void set(const std::string& document, std::span<const PageRecord> records);
  void update(const std::string& document, const PageRecord& record);
  // The document as a whole could not be read: one row without a page.
  void set_failed(const std::string& document, const std::string& reason);

  // Writes the file when something changed and the last writing was long enough ago that rewriting costs little:
  // at least two seconds, and twenty times as long as it took. So a manifest of a million rows slows nothing down.
  Status save_if_due();
  Status save();

  std::vector<PageRecord> records(const std::string& document) const;
  // Documents of which pages are known, sorted.
  std::vector<std::string> documents_with_pages() const;

 private:
  Manifest(Disk& disk, const Clock& clock, std::filesystem::path file);
  Status save_locked();

  Disk& disk_;
  const Clock& clock_;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;  // guards all below
  std::map<std::string, std::map<int, PageRecord>> documents_;
  bool changed_ = false;
  TimePoint due_at_;
};

}  // namespace lectern::reading
