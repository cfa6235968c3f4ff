#include "reading/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/hash.h"
#include "reading/journal_rows.h"
#include "reading/output/json.h"
#include "reading/page_result.h"

namespace lectern::reading {
namespace {

constexpr std::chrono::seconds sync_interval{1};
constexpr std::size_t checksum_chars = 8;
constexpr std::size_t row_bytes_max = std::size_t{1} << 28;  // no page is this big: such a "row" is damage

// "1a2b3c4d {…}\n"
std::string framed(std::string_view payload) {
  return fmt::format("{:08x} {}\n", crc32c(payload), payload);
}

// The payload of a row without its line end; nullopt when the checksum does not fit.
std::optional<std::string_view> unframed(std::string_view row) {
  if (row.size() <= checksum_chars || row[checksum_chars] != ' ') return std::nullopt;
  const std::string_view payload = row.substr(checksum_chars + 1);
  if (fmt::format("{:08x}", crc32c(payload)) != row.substr(0, checksum_chars)) return std::nullopt;
  return payload;
}

// Reads a file line by line without holding more than one line and one block of it.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  // A whole line without its end; nullopt at the end of the file, also when the last line has no end.
  std::optional<std::string_view> next() {
    buffer_.erase(0, consumed_);
    consumed_ = 0;
    std::size_t searched = 0;
    for (;;) {
      if (const auto end = buffer_.find('\n', searched); end != std::string::npos) {
        consumed_ = end + 1;
        return std::string_view(buffer_).substr(0, end);
      }
      searched = buffer_.size();
      if (searched > row_bytes_max || !fill()) return std::nullopt;
    }
  }

  // Why there was no next line; 0 = there is none.
  int failure() const { return failure_; }

 private:
  bool fill() {
    constexpr std::size_t block = std::size_t{1} << 18;
    const std::size_t old = buffer_.size();
    buffer_.resize(old + block);
    ssize_t got = 0;
    do {
      got = ::pread(fd_, buffer_.data() + old, block, offset_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) failure_ = errno;
    buffer_.resize(old + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    offset_ += std::max<ssize_t>(got, 0);
    return got > 0;
  }

  int fd_;
  int failure_ = 0;
  off_t offset_ = 0;
  std::string buffer_;
  std::size_t consumed_ = 0;
};

}  // namespace

struct Journal::Scan {
  std::optional<JournalHeader> header;
  std::map<int, PageRecord> records;
  std::map<int, Place> places;
  std::optional<Assembled> assembled;
  std::vector<Assembled> outputs;
  std::int64_t sound_bytes = 0;
};

Journal::Journal(Seams seams, std::filesystem::path file, UniqueFd write_fd, UniqueFd read_fd, Durability durability)
    : seams_(seams),
      file_(std::move(file)),
      write_fd_(std::move(write_fd)),
      read_fd_(std::move(read_fd)),
      durability_(durability),
      synced_at_(seams.clock.now()) {}

Result<std::unique_ptr<Journal>> Journal::create(Seams seams, const std::filesystem::path& file,
                                                 const JournalHeader& header) {
  if (auto made = seams.disk.make_folders(file.parent_path()); !made) return std::unexpected(made.error());
  // Removed, not emptied: after a crash no block of the old journal can turn up behind the new first row.
  if (auto removed = seams.disk.remove(file); !removed) return std::unexpected(removed.error());
  auto write_fd = seams.disk.open_append(file);
  if (!write_fd) return std::unexpected(write_fd.error());
  UniqueFd read_fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_fd) return fail_errno(fmt::format("cannot open {}", file.string()), errno);
  std::unique_ptr<Journal> journal(
      new Journal(seams, file, std::move(*write_fd), std::move(read_fd), Durability::kept));
  journal->header_ = header;
  if (auto written = journal->append_row(header_row(header), 0); !written) return std::unexpected(written.error());
  return journal;
}

Result<std::unique_ptr<Journal>> Journal::create_private(Seams seams, const std::filesystem::path& folder,
                                                         const JournalHeader& header) {
  auto write_fd = nameless_file(folder);
  if (!write_fd) return std::unexpected(write_fd.error());
  UniqueFd read_fd(::fcntl(write_fd->get(), F_DUPFD_CLOEXEC, 0));  // read by place, so that the two do not meet
  if (!read_fd) return fail_errno(fmt::format("cannot open a temporary file in {}", folder.string()), errno);
  std::unique_ptr<Journal> journal(
      new Journal(seams, folder, std::move(*write_fd), std::move(read_fd), Durability::disposable));
  journal->header_ = header;
  if (auto written = journal->append_row(header_row(header), 0); !written) return std::unexpected(written.error());
  return journal;
}

Result<Journal::Scan> Journal::scan(int fd) {
  Scan scan;
  LineReader lines(fd);
  while (const auto line = lines.next()) {
    const auto payload = unframed(*line);
    if (!payload) break;
    auto row = parse_row(*payload);
    if (!row) break;
    if (!scan.header) {
      auto* header = std::get_if<JournalHeader>(&*row);
      if (header == nullptr) break;
      scan.header = std::move(*header);
    } else if (auto* record = std::get_if<PageRecord>(&*row)) {
      scan.places[record->page] = {scan.sound_bytes, line->size()};
      scan.records[record->page] = std::move(*record);
      scan.assembled.reset();  // the output is older than this page
    } else if (auto* assembled = std::get_if<Assembled>(&*row)) {
      scan.outputs.push_back(*assembled);
      scan.assembled = std::move(*assembled);
    } else {
      break;  // a second header
    }
    scan.sound_bytes += static_cast<std::int64_t>(line->size()) + 1;
  }
  // What could not be read is not damaged: nothing may be cut off for it.
  if (lines.failure() != 0) return fail_errno("cannot read the page journal", lines.failure());
  return scan;
}

std::optional<JournalHeader> Journal::read_header(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return std::nullopt;
  LineReader lines(fd.get());
  const auto line = lines.next();
  const auto payload = line ? unframed(*line) : std::nullopt;
  auto row = payload ? parse_row(*payload) : Result<Row>(fail(ErrorKind::corrupt, "no whole row"));
  auto* header = row ? std::get_if<JournalHeader>(&*row) : nullptr;
  if (header == nullptr) return std::nullopt;
  return std::move(*header);
}

Result<std::optional<Journal::Opened>> Journal::open(Seams seams, const std::filesystem::path& file) {
  UniqueFd read_fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_fd) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    return fail_errno(fmt::format("cannot open {}", file.string()), errno);
  }
  struct stat status{};
  if (::fstat(read_fd.get(), &status) != 0) return fail_errno(fmt::format("cannot read {}", file.string()), errno);
  auto scanned = scan(read_fd.get());
  if (!scanned) return std::unexpected(scanned.error());
  Scan& found = *scanned;
  if (!found.header) return std::nullopt;

  auto write_fd = seams.disk.open_append(file);
  if (!write_fd) return std::unexpected(write_fd.error());
  const bool cut = status.st_size != found.sound_bytes;
  if (cut) {
    if (auto shortened = seams.disk.truncate(write_fd->get(), found.sound_bytes, file); !shortened) {
      return std::unexpected(shortened.error());
    }
  }
  Opened opened;
  opened.journal.reset(new Journal(seams, file, std::move(*write_fd), std::move(read_fd), Durability::kept));
  opened.journal->header_ = *found.header;
  opened.journal->places_ = std::move(found.places);
  opened.journal->size_ = found.sound_bytes;
  opened.contents = {.header = std::move(*found.header),
                     .assembled = std::move(found.assembled),
                     .outputs = std::move(found.outputs),
                     .cut = cut};
  for (auto& [page, record] : found.records) opened.contents.records.push_back(std::move(record));
  return opened;
}

Status Journal::append(const PageRecord& record, const PageResult& result) {
  return append_row(page_row(record, to_journal_json(result)), record.page);
}

Status Journal::append(const Assembled& assembled) {
  return append_row(assembled_row(assembled), 0);
}

Status Journal::append_row(std::string_view payload, int page) {
  const std::string row = framed(payload);
  const std::lock_guard lock(mutex_);
  if (broken_) return std::unexpected(*broken_);
  if (auto written = seams_.disk.write_all(write_fd_.get(), row, file_); !written) {
    broken_ = written.error();
    return written;
  }
  if (page > 0) places_[page] = {size_, row.size() - 1};
  size_ += static_cast<std::int64_t>(row.size());
  unsynced_ = true;
  if (durability_ == Durability::disposable || seams_.clock.now() - synced_at_ < sync_interval) return {};
  return sync_locked();
}

Status Journal::sync() {
  const std::lock_guard lock(mutex_);
  if (broken_) return std::unexpected(*broken_);
  if (durability_ == Durability::disposable || !unsynced_) return {};
  return sync_locked();
}

Status Journal::sync_locked() {
  auto synced = seams_.disk.sync(write_fd_.get(), file_);
  if (synced && !folder_synced_) synced = seams_.disk.sync_folder(file_.parent_path());
  if (!synced) {
    broken_ = synced.error();
    return synced;
  }
  folder_synced_ = true;
  unsynced_ = false;
  synced_at_ = seams_.clock.now();
  return {};
}

bool Journal::has(int page) const {
  const std::lock_guard lock(mutex_);
  return places_.contains(page);
}

Result<PageResult> Journal::read(int page) const {
  Place place;
  {
    const std::lock_guard lock(mutex_);
    place = places_.at(page);
  }
  std::string row(place.bytes, '\0');
  std::size_t done = 0;
  while (done < row.size()) {
    const ssize_t got = ::pread(read_fd_.get(), row.data() + done, row.size() - done,
                                static_cast<off_t>(place.offset) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  const auto payload = unframed(row);
  if (done != row.size() || !payload) {
    return fail(ErrorKind::corrupt, "page {} in {} is damaged; run again with --no-cache to read it anew", page,
                file_.string());
  }
  return from_journal_json(result_in_row(*payload));
}

}  // namespace lectern::reading
