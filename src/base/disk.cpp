#include "base/disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <system_error>

namespace lectern {
namespace {

constexpr mode_t public_file = 0644;  // less what the umask takes away
constexpr mode_t private_file = 0600;
constexpr mode_t private_folder = 0700;
constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

std::unexpected<Error> disk_error(std::string_view doing, const std::filesystem::path& path, int error_number) {
  auto failure = fail_errno(fmt::format("cannot {} {}", doing, path.string()), error_number);
  if (error_number == ENOSPC || error_number == EDQUOT) {
    failure.error().for_caller += "; free some space and run again, finished work is kept";
  } else if (error_number == EACCES || error_number == EROFS) {
    failure.error().for_caller += "; choose a folder that you may write to (-o)";
  }
  return failure;
}

class RealDisk final : public Disk {
 public:
  Status make_folders(const std::filesystem::path& folder) override {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return disk_error("create the folder", folder, error.value());
    return {};
  }

  Status make_private_folders(const std::filesystem::path& folder) override {
    std::filesystem::path made;
    for (const std::filesystem::path& part : folder) {
      made /= part;
      if (::mkdir(made.c_str(), private_folder) == 0 || errno == EEXIST) continue;
      // Of a folder that is there one may not be allowed to make it.
      const int why = errno;
      std::error_code error;
      if (!std::filesystem::is_directory(made, error)) return disk_error("create the folder", folder, why);
    }
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error)) return disk_error("create the folder", folder, ENOTDIR);
    return {};
  }

  Result<UniqueFd> create(const std::filesystem::path& file) override { return create_as(file, public_file); }
  Result<UniqueFd> create_private(const std::filesystem::path& file) override { return create_as(file, private_file); }

  Result<UniqueFd> open_append(const std::filesystem::path& file) override {
    return open(file, O_CREAT | O_APPEND | O_WRONLY, public_file, "open");
  }

  Status write_all(int fd, std::string_view bytes, const std::filesystem::path& name) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(fd, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return disk_error("write", name, errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
  }

  Status sync(int fd, const std::filesystem::path& name) override {
    if (::fsync(fd) != 0) return disk_error("make durable", name, errno);
    return {};
  }

  Status truncate(int fd, std::int64_t size, const std::filesystem::path& name) override {
    if (::ftruncate(fd, size) != 0) return disk_error("shorten", name, errno);
    return {};
  }

  Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return disk_error("rename into place", to, errno);
    return {};
  }

  Status rename_new(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
    int error = errno;
    // Some file systems (NFS, older overlays) cannot: a second name, then the first one goes.
    if (error == EINVAL || error == ENOSYS || error == ENOTSUP) {
      if (::link(from.c_str(), to.c_str()) == 0) return remove(from);
      error = errno;
    }
    if (error == EEXIST) return fail(ErrorKind::conflict, "{} is there already", to.string());
    return disk_error("rename into place", to, error);
  }

  Status sync_folder(const std::filesystem::path& folder) override {
    const std::filesystem::path path = folder.empty() ? "." : folder;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return disk_error("open the folder", path, errno);
    if (::fsync(fd.get()) != 0) return disk_error("make durable", path, errno);
    return {};
  }

  Status remove(const std::filesystem::path& file) override {
    if (::unlink(file.c_str()) != 0 && errno != ENOENT) return disk_error("remove", file, errno);
    return {};
  }

 private:
  // What stands in the way was left by a killed process, or put there for us to write through.
  Result<UniqueFd> create_as(const std::filesystem::path& file, mode_t mode) {
    constexpr int flags = O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY;
    UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC, mode));
    if (fd) return fd;
    if (errno != EEXIST) return disk_error("create", file, errno);
    if (auto removed = remove(file); !removed) return std::unexpected(removed.error());
    return open(file, flags, mode, "create");
  }

  static Result<UniqueFd> open(const std::filesystem::path& file, int flags, mode_t mode, std::string_view doing) {
    UniqueFd fd(::open(file.c_str(), flags | O_CLOEXEC, mode));
    if (!fd) return disk_error(doing, file, errno);
    return fd;
  }
};

}  // namespace

Disk& real_disk() {
  static RealDisk disk;
  return disk;
}

AtomicFile::AtomicFile(Disk& disk, std::filesystem::path file, std::filesystem::path temporary, UniqueFd fd)
    : disk_(&disk), file_(std::move(file)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : disk_(std::exchange(other.disk_, nullptr)),
      file_(std::move(other.file_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::move(other.fd_)),
      buffer_(std::move(other.buffer_)) {}

AtomicFile::~AtomicFile() {
  // Not committed: the file must not appear. A removal that fails leaves a stray temporary file, never a wrong result.
  if (disk_ != nullptr) std::ignore = disk_->remove(temporary_);
}

Result<AtomicFile> AtomicFile::create(Disk& disk, std::filesystem::path file) {
  static std::atomic<unsigned> serial{0};
  const std::string ending = fmt::format(".{}-{}.tmp", getpid(), serial.fetch_add(1));
  std::string name = file.filename().string();
  if (name.size() + ending.size() > NAME_MAX) name.resize(NAME_MAX - ending.size());
  auto temporary = file.parent_path() / (name + ending);
  auto fd = disk.create(temporary);
  if (!fd) return std::unexpected(fd.error());
  return AtomicFile(disk, std::move(file), std::move(temporary), std::move(*fd));
}

Status AtomicFile::write(std::string_view bytes) {
  buffer_ += bytes;
  return buffer_.size() >= buffer_bytes ? flush() : Status{};
}

Status AtomicFile::flush() {
  auto status = disk_->write_all(fd_.get(), buffer_, temporary_);
  buffer_.clear();
  return status;
}

Status AtomicFile::commit() {
  if (auto status = flush(); !status) return status;
  if (auto status = disk_->sync(fd_.get(), temporary_); !status) return status;
  fd_.reset();
  if (auto status = disk_->rename(temporary_, file_); !status) return status;
  Disk* disk = std::exchange(disk_, nullptr);
  return disk->sync_folder(file_.parent_path());
}

Status write_file_atomically(Disk& disk, const std::filesystem::path& file, std::string_view bytes) {
  auto atomic = AtomicFile::create(disk, file);
  if (!atomic) return std::unexpected(atomic.error());
  if (auto status = atomic->write(bytes); !status) return status;
  return atomic->commit();
}

Result<UniqueFd> nameless_file(const std::filesystem::path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  // Not every file system can: a name for a moment, then.
  std::string name = (folder / "lectern-XXXXXX").string();
  fd = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd) {
    return fail_errno(
        fmt::format("cannot create a temporary file in {} (set TMPDIR to another folder)", folder.string()), errno);
  }
  ::unlink(name.c_str());
  return fd;
}

Result<std::string> read_file(const std::filesystem::path& file, std::size_t bytes_max) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(fmt::format("cannot open {}", file.string()), errno);
  std::string out;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(fmt::format("cannot read {}", file.string()), errno);
    if (got == 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
    if (out.size() > bytes_max)
      return fail(ErrorKind::invalid_input, "{} is larger than {} bytes", file.string(), bytes_max);
  }
}

}  // namespace lectern
