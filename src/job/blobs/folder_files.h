// Blobs as files of a folder: each key is a path under it. All of this blocks; FolderBlobs runs it on threads of its
// own. Safe from any thread and from several processes at once.
//
// A blob is written under a random name in FOLDER/+writing (no key can name that folder), made durable, and renamed
// into its place: it is there whole or not at all. Whoever writes holds a lock on the file, so that what a killed
// process left behind can be told from what is being written. Files and folders are for their owner alone: whoever may
// read a document is told by its key, not by an account on the machine.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/disk.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "job/blobs.h"

namespace lectern::job {

class FolderFiles {
 public:
  // The disk is borrowed.
  FolderFiles(Disk& disk, std::filesystem::path root);

  // Makes the folder and removes what killed writers left behind.
  Status prepare();

  // A blob on its way. Not committed, it leaves nothing behind.
  class Writing {
   public:
    ~Writing();
    Writing(Writing&&) noexcept;
    Writing& operator=(Writing&&) = delete;
    Status write(std::string_view bytes);

   private:
    friend class FolderFiles;
    Writing(Disk& disk, std::filesystem::path file, UniqueFd fd);
    Disk* disk_;  // null once its file has its place, or moved from
    std::filesystem::path file_;
    UniqueFd fd_;
  };
  Result<Writing> begin();
  Result<BlobInfo> commit(Writing& writing, const std::string& key, PutMode mode);

  Result<BlobInfo> head(const std::string& key) const;
  Result<UniqueFd> open(const std::string& key) const;
  Result<std::string> read(const std::string& key, std::int64_t bytes_max) const;
  Result<std::string> read_range(const std::string& key, ByteRange range) const;
  Status remove(const std::string& key);
  Status check();
  // Whether the folder itself is there: without it (a file system that was unmounted) nothing can be said about blobs.
  // Errors: unavailable.
  Status here() const;

  const std::filesystem::path& root() const { return root_; }

 private:
  std::unexpected<Error> cannot_read(const std::string& key, int error_number) const;
  Status make_folders_of(const std::filesystem::path& file);
  bool known_durable(const std::filesystem::path& folder) const;
  Status place(const Writing& writing, const std::filesystem::path& file, PutMode mode);
  void remove_empty_folders(std::filesystem::path folder);

  Disk& disk_;
  const std::filesystem::path root_;
  mutable std::mutex mutex_;                 // guards all below
  std::unordered_set<std::string> durable_;  // folders that this process has made durable in their parents
};

// In the order of keys, at most `limit` of them.
Result<Blobs::Page> list_folder(const std::filesystem::path& root, const std::string& prefix, const std::string& from,
                                int limit);

// What the file system says about a blob. The tag is strong: FolderFiles stamps each file with a moment to the
// nanosecond, and an inode that is used again was freed before that.
struct FileFacts {
  std::int64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
};
BlobInfo blob_info(std::string key, const FileFacts& facts);

}  // namespace lectern::job
