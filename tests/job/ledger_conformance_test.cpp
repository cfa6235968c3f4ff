// The databases that need no server, against the one suite that all must pass.
#include "job/ledger_conformance.h"

#include "job/memory/memory_database.h"

namespace lectern::job {
namespace {

class MemoryStorage final : public TestStorage {
 public:
  std::unique_ptr<Database> open() override { return make_memory_database(system_clock()); }
};

INSTANTIATE_TEST_SUITE_P(Memory, LedgerConformance,
                         testing::Values(StorageKind{"Memory", [] { return std::make_unique<MemoryStorage>(); }}),
                         storage_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LastingConformance);

}  // namespace
}  // namespace lectern::job
