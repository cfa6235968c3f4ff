#include "job/faulty_vfs.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <stdexcept>

namespace lectern::job {
namespace {

// SQLite allocates szOsFile bytes for each file: ours, and behind it the system's.
struct FaultyFile {
  sqlite3_file base;
  FaultyVfs* vfs;
  std::string* path;  // null for what has no name
};

FaultyFile* faulty(sqlite3_file* file) {
  return reinterpret_cast<FaultyFile*>(file);
}

sqlite3_file* system_file(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(faulty(file) + 1);
}

const sqlite3_io_methods& methods(sqlite3_file* file) {
  return *system_file(file)->pMethods;
}

int close_file(sqlite3_file* file) {
  delete faulty(file)->path;
  return methods(file).xClose(system_file(file));
}

int write_file(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  FaultyFile& self = *faulty(file);
  const bool failed = self.vfs->fails(FaultyVfs::Act::write);
  const int done = failed ? count / 2 : count;
  const int code = methods(file).xWrite(system_file(file), bytes, done, at);
  if (code == SQLITE_OK && self.path != nullptr) {
    self.vfs->written(*self.path, at, {static_cast<const char*>(bytes), static_cast<std::size_t>(done)});
  }
  return failed ? SQLITE_FULL : code;
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  FaultyFile& self = *faulty(file);
  if (self.vfs->fails(FaultyVfs::Act::truncate)) return SQLITE_IOERR_TRUNCATE;
  const int code = methods(file).xTruncate(system_file(file), size);
  if (code == SQLITE_OK && self.path != nullptr) self.vfs->truncated(*self.path, size);
  return code;
}

// The system's disk is not waited for: what a power cut leaves behind is worked out here.
int sync_file(sqlite3_file* file, int) {
  FaultyFile& self = *faulty(file);
  if (self.vfs->fails(FaultyVfs::Act::sync)) return SQLITE_IOERR_FSYNC;
  if (self.path != nullptr) self.vfs->synced(*self.path);
  return SQLITE_OK;
}

const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,  // without memory-mapped reading, which would go past us
    .xClose = close_file,
    .xRead = [](sqlite3_file* f, void* into, int n,
                sqlite3_int64 at) { return methods(f).xRead(system_file(f), into, n, at); },
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return methods(f).xFileSize(system_file(f), size); },
    .xLock = [](sqlite3_file* f, int lock) { return methods(f).xLock(system_file(f), lock); },
    .xUnlock = [](sqlite3_file* f, int lock) { return methods(f).xUnlock(system_file(f), lock); },
    .xCheckReservedLock = [](sqlite3_file* f, int* out) { return methods(f).xCheckReservedLock(system_file(f), out); },
    .xFileControl = [](sqlite3_file* f, int op,
                       void* argument) { return methods(f).xFileControl(system_file(f), op, argument); },
    .xSectorSize = [](sqlite3_file* f) { return methods(f).xSectorSize(system_file(f)); },
    .xDeviceCharacteristics = [](sqlite3_file* f) { return methods(f).xDeviceCharacteristics(system_file(f)); },
    .xShmMap = [](sqlite3_file* f, int page, int size, int extend,
                  void volatile** out) { return methods(f).xShmMap(system_file(f), page, size, extend, out); },
    .xShmLock = [](sqlite3_file* f, int offset, int n,
                   int flags) { return methods(f).xShmLock(system_file(f), offset, n, flags); },
    .xShmBarrier = [](sqlite3_file* f) { methods(f).xShmBarrier(system_file(f)); },
    .xShmUnmap = [](sqlite3_file* f, int remove) { return methods(f).xShmUnmap(system_file(f), remove); },
};

int open_file(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  auto* owner = static_cast<FaultyVfs*>(vfs->pAppData);
  FaultyFile& self = *new (file) FaultyFile{};
  const int code = owner->system().xOpen(&owner->system(), path, system_file(file), flags, out_flags);
  if (code != SQLITE_OK) return code;
  self.vfs = owner;
  self.path = path == nullptr ? nullptr : new std::string(path);
  self.base.pMethods = &faulty_methods;
  return SQLITE_OK;
}

std::string read_whole(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

FaultyVfs::FaultyVfs() : system_(sqlite3_vfs_find(nullptr)), vfs_(std::make_unique<sqlite3_vfs>(*system_)) {
  name_ = fmt::format("faulty-{}", fmt::ptr(this));
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->szOsFile = static_cast<int>(sizeof(FaultyFile)) + system_->szOsFile;
  vfs_->xOpen = open_file;
  vfs_->xDelete = [](sqlite3_vfs* vfs, const char* path, int sync) {
    sqlite3_vfs& real = static_cast<FaultyVfs*>(vfs->pAppData)->system();
    return real.xDelete(&real, path, sync);
  };
  if (sqlite3_vfs_register(vfs_.get(), 0) != SQLITE_OK) throw std::runtime_error("sqlite3_vfs_register failed");
}

FaultyVfs::~FaultyVfs() {
  sqlite3_vfs_unregister(vfs_.get());
}

void FaultyVfs::fail_nth(int n, bool for_good) {
  const std::lock_guard lock(mutex_);
  left_ = n;
  for_good_ = for_good;
  fired_ = false;
}

void FaultyVfs::heal() {
  const std::lock_guard lock(mutex_);
  left_ = 0;
}

bool FaultyVfs::fired() const {
  const std::lock_guard lock(mutex_);
  return fired_;
}

int FaultyVfs::syncs() const {
  const std::lock_guard lock(mutex_);
  return syncs_;
}

bool FaultyVfs::fails(Act act) {
  const std::lock_guard lock(mutex_);
  if (act == Act::sync) ++syncs_;
  if (left_ == 0) return false;
  if (left_ > 1) {
    --left_;
    return false;
  }
  fired_ = true;
  if (!for_good_) left_ = 0;
  return true;
}

void FaultyVfs::written(const std::string& file, std::int64_t at, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  files_[file].since.push_back({.at = at, .bytes = std::string(bytes)});
}

void FaultyVfs::truncated(const std::string& file, std::int64_t size) {
  const std::lock_guard lock(mutex_);
  files_[file].since.push_back({.at = size, .truncation = true});
}

void FaultyVfs::synced(const std::string& file) {
  const std::lock_guard lock(mutex_);
  Contents& contents = files_[file];
  for (const Change& change : contents.since) apply(contents.synced, change);
  contents.since.clear();
}

void FaultyVfs::apply(std::string& contents, const Change& change) {
  const auto at = static_cast<std::size_t>(change.at);
  if (change.truncation) return contents.resize(at);
  contents.resize(std::max(contents.size(), at + change.bytes.size()));
  std::ranges::copy(change.bytes, contents.begin() + change.at);
}

void FaultyVfs::cut_power(const std::filesystem::path& folder, const std::filesystem::path& into,
                          Random& random) const {
  const std::lock_guard lock(mutex_);
  std::filesystem::create_directories(into);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const auto known = files_.find(entry.path().string());
    if (known == files_.end()) continue;  // the shared memory: it is made anew
    std::string contents = known->second.synced;
    std::string all = contents;
    for (const Change& change : known->second.since) {
      apply(all, change);
      if (random.below(2) == 0) continue;
      Change torn = change;
      if (!torn.truncation && random.below(4) == 0) torn.bytes.resize(random.below(torn.bytes.size() + 1));
      apply(contents, torn);
    }
    if (all != read_whole(entry.path())) throw std::runtime_error("the disk is not as it was written");
    std::ofstream(into / entry.path().filename(), std::ios::binary) << contents;
  }
}

}  // namespace lectern::job
