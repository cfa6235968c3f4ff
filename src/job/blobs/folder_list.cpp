#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "job/blobs/folder_files.h"

namespace lectern::job {
namespace {

struct Entry {
  std::string name;  // of a folder: with a '/' at its end, as its keys have it: so names sort as keys do
  bool is_folder() const { return name.ends_with('/'); }
};

struct CloseDir {
  void operator()(DIR* dir) const { ::closedir(dir); }
};

// The walk goes through folders in the order of keys and leaves out what cannot be in the page.
class Walk {
 public:
  Walk(const std::string& prefix, const std::string& from, int limit) : prefix_(prefix), from_(from), limit_(limit) {}

  // `folder_key` is empty for the root, else ends with '/'.
  Status folder(int at, const char* name, const std::string& folder_key) {
    const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const int error = errno;
    if (fd < 0 && (error == ENOENT || error == ENOTDIR)) return {};  // removed meanwhile
    if (fd < 0) return fail_errno(fmt::format("cannot list the blobs of {}", folder_key), error);
    const std::unique_ptr<DIR, CloseDir> dir(::fdopendir(fd));
    if (!dir) return fail_errno("cannot list blobs", errno);
    for (const Entry& entry : entries(dir.get())) {
      const std::string key = folder_key + entry.name;
      if (entry.is_folder() ? !may_hold(key) : !wanted(key)) continue;
      if (entry.is_folder()) {
        const std::string plain = entry.name.substr(0, entry.name.size() - 1);
        if (auto status = folder(::dirfd(dir.get()), plain.c_str(), key); !status) return status;
      } else {
        take(::dirfd(dir.get()), entry.name, key);
      }
      if (!page.next.empty()) return {};
    }
    return {};
  }

  Blobs::Page page;

 private:
  static std::vector<Entry> entries(DIR* dir) {
    std::vector<Entry> all;
    while (const dirent* entry = ::readdir(dir)) {
      std::string name = entry->d_name;
      if (!is_blob_key(name)) continue;  // ".", "..", and the folder of what is being written
      struct stat stat{};
      const bool known = entry->d_type == DT_DIR || entry->d_type == DT_REG;
      if (!known && ::fstatat(::dirfd(dir), name.c_str(), &stat, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (known ? entry->d_type == DT_DIR : S_ISDIR(stat.st_mode)) {
        name += '/';
      } else if (!known && !S_ISREG(stat.st_mode)) {
        continue;
      }
      all.push_back({std::move(name)});
    }
    std::ranges::sort(all, {}, &Entry::name);
    return all;
  }

  bool wanted(const std::string& key) const { return key.starts_with(prefix_) && key > from_; }
  bool may_hold(const std::string& key) const {
    if (!key.starts_with(prefix_) && !prefix_.starts_with(key)) return false;
    return key > from_ || from_.starts_with(key);
  }

  void take(int folder, const std::string& name, const std::string& key) {
    if (page.blobs.size() == static_cast<std::size_t>(limit_)) {
      page.next = page.blobs.back().key;
      return;
    }
    struct stat stat{};
    if (::fstatat(folder, name.c_str(), &stat, AT_SYMLINK_NOFOLLOW) != 0) return;  // removed meanwhile
    page.blobs.push_back(blob_info(key, {.bytes = stat.st_size,
                                         .modified_ns = stat.st_mtim.tv_sec * 1'000'000'000LL + stat.st_mtim.tv_nsec,
                                         .inode = stat.st_ino}));
  }

  const std::string& prefix_;
  const std::string& from_;
  const int limit_;
};

}  // namespace

Result<Blobs::Page> list_folder(const std::filesystem::path& root, const std::string& prefix, const std::string& from,
                                int limit) {
  Walk walk(prefix, from, limit);
  if (auto status = walk.folder(AT_FDCWD, root.c_str(), ""); !status) return std::unexpected(status.error());
  return std::move(walk.page);
}

}  // namespace lectern::job
