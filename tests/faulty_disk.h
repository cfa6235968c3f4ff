// A disk whose n-th call fails as if it were full. Run with n = 1, 2, 3… until it no longer fires: every call has
// failed once.
#pragma once

#include <atomic>

#include "base/disk.h"

namespace lectern {

class FaultyDisk final : public Disk {
 public:
  FaultyDisk(Disk& inner, int fail_nth) : inner_(inner), left_(fail_nth) {}

  bool fired() const { return left_.load() <= 0; }
  int syncs() const { return syncs_.load(); }  // of files, the failed one included

  Status make_folders(const std::filesystem::path& folder) override {
    return fails() ? full(folder) : inner_.make_folders(folder);
  }
  Status make_private_folders(const std::filesystem::path& folder) override {
    return fails() ? full(folder) : inner_.make_private_folders(folder);
  }
  Result<UniqueFd> create_private(const std::filesystem::path& file) override {
    if (fails()) return std::unexpected(full(file).error());
    return inner_.create_private(file);
  }
  Result<UniqueFd> create(const std::filesystem::path& file) override {
    if (fails()) return std::unexpected(full(file).error());
    return inner_.create(file);
  }
  Result<UniqueFd> open_append(const std::filesystem::path& file) override {
    if (fails()) return std::unexpected(full(file).error());
    return inner_.open_append(file);
  }
  Status write_all(int fd, std::string_view bytes, const std::filesystem::path& name) override {
    if (!fails()) return inner_.write_all(fd, bytes, name);
    // A full disk takes a part first: what is half-written must be recognised later.
    std::ignore = inner_.write_all(fd, bytes.substr(0, bytes.size() / 2), name);
    return full(name);
  }
  Status sync(int fd, const std::filesystem::path& name) override {
    syncs_.fetch_add(1);
    return fails() ? full(name) : inner_.sync(fd, name);
  }
  Status truncate(int fd, std::int64_t size, const std::filesystem::path& name) override {
    return fails() ? full(name) : inner_.truncate(fd, size, name);
  }
  Status rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return fails() ? full(to) : inner_.rename(from, to);
  }
  Status rename_new(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return fails() ? full(to) : inner_.rename_new(from, to);
  }
  Status sync_folder(const std::filesystem::path& folder) override {
    return fails() ? full(folder) : inner_.sync_folder(folder);
  }
  Status remove(const std::filesystem::path& file) override { return inner_.remove(file); }

 private:
  bool fails() { return left_.fetch_sub(1) == 1; }
  static Status full(const std::filesystem::path& path) {
    return fail(ErrorKind::overloaded, "cannot write {}: No space left on device (injected)", path.string());
  }

  Disk& inner_;
  std::atomic<int> left_;
  std::atomic<int> syncs_{0};
};

}  // namespace lectern
