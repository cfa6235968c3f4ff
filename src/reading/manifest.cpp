#include "reading/manifest.h"

#include <fstream>

namespace lectern::reading {
namespace {

constexpr std::chrono::seconds interval_min{2};
constexpr int interval_per_cost = 20;

}  // namespace

Manifest::Manifest(Disk& disk, const Clock& clock, std::filesystem::path file)
    : disk_(disk), clock_(clock), file_(std::move(file)), due_at_(clock.now() + interval_min) {}

Result<std::unique_ptr<Manifest>> Manifest::load(Disk& disk, const Clock& clock, std::filesystem::path file) {
  std::unique_ptr<Manifest> manifest(new Manifest(disk, clock, std::move(file)));
  std::ifstream in(manifest->file_);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    auto row = record_from_json(line);
    if (!row || row->document.empty()) {
      return fail(ErrorKind::corrupt,
                  "{}:{}: {}; move the file away and run again (what was read is kept, the manifest is made anew)",
                  manifest->file_.string(), number, row ? "the row names no document" : row.error().for_log);
    }
    const int page = row->record.page;
    manifest->documents_[row->document][page] = std::move(row->record);
  }
  return manifest;
}

void Manifest::set(const std::string& document, std::span<const PageRecord> records) {
  const std::lock_guard lock(mutex_);
  auto& pages = documents_[document];
  pages.clear();
  for (const PageRecord& record : records) pages[record.page] = record;
  changed_ = true;
}

void Manifest::update(const std::string& document, const PageRecord& record) {
  const std::lock_guard lock(mutex_);
  documents_[document][record.page] = record;
  changed_ = true;
}

void Manifest::set_failed(const std::string& document, const std::string& reason) {
  PageRecord row;
  row.state = PageState::failed;
  row.attempts = 1;
  row.reason = reason;
  row.started_at = std::chrono::floor<std::chrono::milliseconds>(clock_.wall());
  set(document, std::span(&row, 1));
}

Status Manifest::save_if_due() {
  const std::lock_guard lock(mutex_);
  if (!changed_ || clock_.now() < due_at_) return {};
  return save_locked();
}

Status Manifest::save() {
  const std::lock_guard lock(mutex_);
  return changed_ ? save_locked() : Status{};
}

Status Manifest::save_locked() {
  const TimePoint start = clock_.now();
  auto file = AtomicFile::create(disk_, file_);
  if (!file) return std::unexpected(file.error());
  for (const auto& [document, pages] : documents_) {
    for (const auto& [page, record] : pages) {
      if (auto written = file->write(to_json(record, document) + "\n"); !written) return written;
    }
  }
  if (auto committed = file->commit(); !committed) return committed;
  changed_ = false;
  const TimePoint end = clock_.now();
  due_at_ = end + std::max<TimePoint::duration>(interval_min, (end - start) * interval_per_cost);
  return {};
}

std::vector<PageRecord> Manifest::records(const std::string& document) const {
  const std::lock_guard lock(mutex_);
  std::vector<PageRecord> records;
  if (const auto found = documents_.find(document); found != documents_.end()) {
    for (const auto& [page, record] : found->second) records.push_back(record);
  }
  return records;
}

std::vector<std::string> Manifest::documents_with_pages() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [document, pages] : documents_) {
    if (!pages.empty() && pages.rbegin()->first > 0) names.push_back(document);
  }
  return names;
}

}  // namespace lectern::reading
