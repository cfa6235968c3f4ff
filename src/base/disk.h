// The disk as a parameter: everything that must survive a crash goes through Disk, so that tests can fail the n-th
// write, fsync or rename. Errors name the path and say what to do when the disk is full or the folder forbidden.
// Safe from any thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern {

class Disk {
 public:
  virtual ~Disk() = default;

  virtual Status make_folders(const std::filesystem::path& folder) = 0;
  // New ones are for their owner alone (0700); those that are there stay as they are.
  virtual Status make_private_folders(const std::filesystem::path& folder) = 0;
  // Creates or empties.
  virtual Result<UniqueFd> create(const std::filesystem::path& file) = 0;
  // The same for what only the owner may read (0600), whatever the umask is.
  virtual Result<UniqueFd> create_private(const std::filesystem::path& file) = 0;
  // Creates if absent; position at the end.
  virtual Result<UniqueFd> open_append(const std::filesystem::path& file) = 0;
  virtual Status write_all(int fd, std::string_view bytes, const std::filesystem::path& name) = 0;
  virtual Status sync(int fd, const std::filesystem::path& name) = 0;
  virtual Status truncate(int fd, std::int64_t size, const std::filesystem::path& name) = 0;
  // Replaces `to`; both in the same file system.
  virtual Status rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  // The same, but `to` must not be there yet. Errors: conflict (it is).
  virtual Status rename_new(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  // Makes creations and renames in a folder durable.
  virtual Status sync_folder(const std::filesystem::path& folder) = 0;
  virtual Status remove(const std::filesystem::path& file) = 0;  // absent is fine
};

Disk& real_disk();

// A file that appears whole or not at all: written beside its place under a temporary name, made durable, renamed.
// Without commit() nothing is left behind.
class AtomicFile {
 public:
  static Result<AtomicFile> create(Disk& disk, std::filesystem::path file);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;

  Status write(std::string_view bytes);  // buffered
  Status commit();                       // write, fsync, rename, fsync of the folder

 private:
  AtomicFile(Disk& disk, std::filesystem::path file, std::filesystem::path temporary, UniqueFd fd);
  Status flush();

  Disk* disk_;  // borrowed; null once committed or moved from
  std::filesystem::path file_;
  std::filesystem::path temporary_;
  UniqueFd fd_;
  std::string buffer_;
};

Status write_file_atomically(Disk& disk, const std::filesystem::path& file, std::string_view bytes);

// A file without a name in the folder, to read and write: gone when it is closed, also by a crash.
Result<UniqueFd> nameless_file(const std::filesystem::path& folder);

// Reads a whole file that we wrote ourselves (a journal, a configuration); refuses more than `bytes_max`.
Result<std::string> read_file(const std::filesystem::path& file, std::size_t bytes_max);

}  // namespace lectern
