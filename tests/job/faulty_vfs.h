// SQLite's file layer with a disk behind it that fails, or loses what was not synced. Reads always work; the shared
// memory between connections is the system's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

struct sqlite3_vfs;

namespace lectern::job {

class FaultyVfs {
 public:
  FaultyVfs();  // known to SQLite from now on, under name()
  ~FaultyVfs();
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;

  const std::string& name() const { return name_; }

  // The n-th write, truncation or sync from now on fails (n = 1 is the next one), and with `for_good` all after it.
  // A write leaves half of its bytes behind and says that the disk is full; a sync says that the disk failed.
  void fail_nth(int n, bool for_good);
  void heal();
  bool fired() const;  // since fail_nth()
  int syncs() const;   // of any file, ever

  // What is on the disk if the power goes now: every file of `folder` with what was synced, and of what was written
  // since a random part, the last piece perhaps torn.
  void cut_power(const std::filesystem::path& folder, const std::filesystem::path& into, Random& random) const;

  // --- for the file methods
  enum class Act : std::uint8_t { write, truncate, sync };
  bool fails(Act act);
  void written(const std::string& file, std::int64_t at, std::string_view bytes);
  void truncated(const std::string& file, std::int64_t size);
  void synced(const std::string& file);
  sqlite3_vfs& system() const { return *system_; }

 private:
  struct Change {
    std::int64_t at = 0;
    std::string bytes;
    bool truncation = false;
  };
  struct Contents {
    std::string synced;
    std::vector<Change> since;
  };
  static void apply(std::string& contents, const Change& change);

  sqlite3_vfs* const system_;
  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  mutable std::mutex mutex_;  // guards all below
  int left_ = 0;              // until the fault; 0 = none
  bool for_good_ = false;
  bool fired_ = false;
  int syncs_ = 0;
  std::map<std::string, Contents> files_;
};

}  // namespace lectern::job
