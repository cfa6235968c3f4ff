#include "job/blobs/folder_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"

namespace lectern::job {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view writing_folder = "+writing";
constexpr std::chrono::seconds leftover_age{60};  // longer than it takes to lock a file after creating it
constexpr int placing_attempts = 5;
constexpr std::size_t folders_known_max = 10'000;

FileFacts facts_of(const struct stat& stat) {
  return {.bytes = stat.st_size,
          .modified_ns = stat.st_mtim.tv_sec * 1'000'000'000LL + stat.st_mtim.tv_nsec,
          .inode = stat.st_ino};
}

std::unexpected<Error> absent(const std::string& key) {
  return fail(ErrorKind::not_found, "there is no blob {}", key);
}

// The kernel's own stamps move with its ticks, several milliseconds apart: too coarse to tell two blobs apart.
Status stamp_to_the_nanosecond(int fd) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[2] = {now, now};
  if (::futimens(fd, times) != 0) return fail_errno("cannot set the time of a blob", errno);
  return {};
}

Result<std::string> read_at(int fd, std::int64_t first, std::int64_t bytes, const std::string& key) {
  std::string out(static_cast<std::size_t>(bytes), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t got = ::pread(fd, out.data() + have, out.size() - have, first + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(fmt::format("cannot read the blob {}", key), errno);
    if (got == 0) return fail(ErrorKind::corrupt, "the blob {} is shorter than it was", key);
    have += static_cast<std::size_t>(got);
  }
  return out;
}

}  // namespace

BlobInfo blob_info(std::string key, const FileFacts& facts) {
  return {.key = std::move(key),
          .bytes = facts.bytes,
          .modified = facts.modified_ns / 1'000'000,
          .etag = fmt::format("\"{:x}-{:x}-{:x}\"", facts.inode, facts.bytes, facts.modified_ns)};
}

FolderFiles::FolderFiles(Disk& disk, fs::path root) : disk_(disk), root_(std::move(root)) {}

Status FolderFiles::here() const {
  struct stat stat{};
  if (::lstat((root_ / writing_folder).c_str(), &stat) == 0 && S_ISDIR(stat.st_mode)) return {};
  return std::unexpected(
      Error{ErrorKind::unavailable,
            fmt::format("{} is not there any more, or empty: is its file system mounted?", root_.string()),
            "the folder that holds the documents and results is not there"});
}

std::unexpected<Error> FolderFiles::cannot_read(const std::string& key, int error_number) const {
  if (error_number != ENOENT && error_number != ENOTDIR) {
    return fail_errno(fmt::format("cannot read the blob {}", key), error_number);
  }
  if (auto status = here(); !status) return std::unexpected(status.error());
  return absent(key);
}

Status FolderFiles::prepare() {
  const fs::path folder = root_ / writing_folder;
  if (auto status = disk_.make_private_folders(folder); !status) return status;
  std::error_code error;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const UniqueFd fd(::open(it->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat stat{};
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(fd.get(), &stat) != 0) continue;
    if (now - std::chrono::seconds(stat.st_mtim.tv_sec) < leftover_age) continue;
    if (auto status = disk_.remove(it->path()); !status) return status;
  }
  if (error) return fail_errno(fmt::format("cannot look into {}", folder.string()), error.value());
  return {};
}

FolderFiles::Writing::Writing(Disk& disk, fs::path file, UniqueFd fd)
    : disk_(&disk), file_(std::move(file)), fd_(std::move(fd)) {}

FolderFiles::Writing::Writing(Writing&& other) noexcept
    : disk_(std::exchange(other.disk_, nullptr)), file_(std::move(other.file_)), fd_(std::move(other.fd_)) {}

FolderFiles::Writing::~Writing() {
  // A removal that fails leaves a stray file that the next start removes.
  if (disk_ != nullptr) std::ignore = disk_->remove(file_);
}

Status FolderFiles::Writing::write(std::string_view bytes) {
  return disk_->write_all(fd_.get(), bytes, file_);
}

Result<FolderFiles::Writing> FolderFiles::begin() {
  SystemRandom random;  // not the process id: containers that share the folder may have the same
  fs::path file = root_ / writing_folder / random_hex(random, 12);
  auto fd = disk_.create_private(file);
  if (!fd && fd.error().kind == ErrorKind::not_found) {
    if (auto status = here(); !status) return std::unexpected(status.error());
  }
  if (!fd) return std::unexpected(fd.error());
  Writing writing(disk_, std::move(file), std::move(*fd));
  if (::flock(writing.fd_.get(), LOCK_EX | LOCK_NB) != 0) return fail_errno("cannot lock a new blob", errno);
  return writing;
}

bool FolderFiles::known_durable(const fs::path& folder) const {
  const std::lock_guard lock(mutex_);
  return durable_.contains(folder.native());
}

// A new folder must be as durable as what is put into it. One that is there already may be as new as that: somebody
// else has made it and is about to make it durable. So each is made durable once by each process.
Status FolderFiles::make_folders_of(const fs::path& file) {
  std::vector<fs::path> unsure;
  for (fs::path folder = file.parent_path(); folder != root_ && !known_durable(folder); folder = folder.parent_path()) {
    unsure.push_back(folder);
  }
  std::error_code error;
  if (unsure.empty() && fs::is_directory(file.parent_path(), error)) return {};
  if (auto status = disk_.make_private_folders(file.parent_path()); !status) {
    if (status.error().kind == ErrorKind::overloaded) return status;
    return fail(ErrorKind::invalid_input, "{}: a part of this path is a blob, or the folder cannot be made ({})",
                file.lexically_relative(root_).string(), status.error().for_log);
  }
  for (const fs::path& folder : unsure) {
    if (auto status = disk_.sync_folder(folder.parent_path()); !status) return status;
  }
  const std::lock_guard lock(mutex_);
  if (durable_.size() > folders_known_max) durable_.clear();
  for (const fs::path& folder : unsure) durable_.insert(folder.native());
  return {};
}

Status FolderFiles::place(const Writing& writing, const fs::path& file, PutMode mode) {
  for (int attempt = 1;; ++attempt) {
    if (auto status = make_folders_of(file); !status) return status;
    auto status =
        mode == PutMode::create_only ? disk_.rename_new(writing.file_, file) : disk_.rename(writing.file_, file);
    // Somebody removed the last blob of the folder, and the folder with it, since it was looked at.
    const bool folder_went = !status && status.error().kind == ErrorKind::not_found;
    if (!folder_went || attempt == placing_attempts) return status;
    const std::lock_guard lock(mutex_);
    durable_.clear();
  }
}

Result<BlobInfo> FolderFiles::commit(Writing& writing, const std::string& key, PutMode mode) {
  const fs::path file = root_ / key;
  if (auto status = stamp_to_the_nanosecond(writing.fd_.get()); !status) return std::unexpected(status.error());
  if (auto status = disk_.sync(writing.fd_.get(), writing.file_); !status) return std::unexpected(status.error());
  struct stat stat{};
  if (::fstat(writing.fd_.get(), &stat) != 0) return fail_errno("cannot look at a new blob", errno);
  if (auto status = place(writing, file, mode); !status) {
    remove_empty_folders(file.parent_path());
    return std::unexpected(status.error());
  }
  writing.disk_ = nullptr;
  if (auto status = disk_.sync_folder(file.parent_path()); !status) {
    // It may be gone after a crash, so it does not count. What it replaced is lost already and cannot be brought back.
    if (mode == PutMode::create_only) {
      std::ignore = disk_.remove(file);
      remove_empty_folders(file.parent_path());
    }
    return std::unexpected(status.error());
  }
  return blob_info(key, facts_of(stat));
}

Result<BlobInfo> FolderFiles::head(const std::string& key) const {
  struct stat stat{};
  if (::lstat((root_ / key).c_str(), &stat) != 0) return cannot_read(key, errno);
  if (!S_ISREG(stat.st_mode)) return absent(key);
  return blob_info(key, facts_of(stat));
}

Result<UniqueFd> FolderFiles::open(const std::string& key) const {
  UniqueFd fd(::open((root_ / key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return cannot_read(key, errno);
  struct stat stat{};
  if (::fstat(fd.get(), &stat) != 0) return cannot_read(key, errno);
  if (!S_ISREG(stat.st_mode)) return absent(key);
  return fd;
}

Result<std::string> FolderFiles::read(const std::string& key, std::int64_t bytes_max) const {
  const auto fd = open(key);
  if (!fd) return std::unexpected(fd.error());
  struct stat stat{};
  if (::fstat(fd->get(), &stat) != 0) return cannot_read(key, errno);
  if (stat.st_size > bytes_max) {
    return fail(ErrorKind::invalid_input, "the blob {} has {} bytes, more than {}", key, stat.st_size, bytes_max);
  }
  return read_at(fd->get(), 0, stat.st_size, key);
}

Result<std::string> FolderFiles::read_range(const std::string& key, ByteRange range) const {
  const auto fd = open(key);
  if (!fd) return std::unexpected(fd.error());
  struct stat stat{};
  if (::fstat(fd->get(), &stat) != 0) return cannot_read(key, errno);
  const std::int64_t first = std::min<std::int64_t>(range.first, stat.st_size);
  return read_at(fd->get(), first, std::min<std::int64_t>(range.bytes, stat.st_size - first), key);
}

Status FolderFiles::remove(const std::string& key) {
  const fs::path file = root_ / key;
  struct stat stat{};
  if (::lstat(file.c_str(), &stat) != 0) return here();
  if (!S_ISREG(stat.st_mode)) return {};
  if (auto status = disk_.remove(file); !status) return status;
  remove_empty_folders(file.parent_path());
  return {};
}

void FolderFiles::remove_empty_folders(fs::path folder) {
  for (; folder != root_ && ::rmdir(folder.c_str()) == 0; folder = folder.parent_path()) {
    const std::lock_guard lock(mutex_);
    durable_.erase(folder.native());
  }
}

Status FolderFiles::check() {
  auto writing = begin();
  if (!writing) return std::unexpected(writing.error());
  if (auto status = writing->write("lectern"); !status) return status;
  return disk_.sync(writing->fd_.get(), writing->file_);
}

}  // namespace lectern::job
