// The databases that need no server, against the one suite that all must pass.
#include "job/ledger_conformance.h"

#include "job/memory/memory_database.h"
#include "job/sqlite/sqlite_database.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

class MemoryStorage final : public TestStorage {
 public:
  std::unique_ptr<Database> open() override { return make_memory_database(system_clock()); }
};

INSTANTIATE_TEST_SUITE_P(Memory, LedgerConformance,
                         testing::Values(StorageKind{"Memory", [] { return std::make_unique<MemoryStorage>(); }}),
                         storage_name);

class SqliteStorage final : public TestStorage {
 public:
  std::unique_ptr<Database> open() override { return open_sqlite({.file = folder_.path() / "jobs.sqlite"}).value(); }

 private:
  TempFolder folder_;
};

const StorageKind sqlite{"Sqlite", [] { return std::make_unique<SqliteStorage>(); }};
INSTANTIATE_TEST_SUITE_P(Sqlite, LedgerConformance, testing::Values(sqlite), storage_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, LastingConformance, testing::Values(sqlite), storage_name);

}  // namespace
}  // namespace lectern::job
