// PostgreSQL against the one suite that all databases must pass.
#include "job/ledger_conformance.h"
#include "job/postgres/postgres_database.h"
#include "servers/postgres_server.h"

namespace lectern::job {
namespace {

class PostgresStorage final : public TestStorage {
 public:
  std::unique_ptr<Database> open() override {
    return open_postgres({.url = test::shared_postgres().url(database_)}).value();
  }

 private:
  const std::string database_ = test::shared_postgres().new_database();
};

const StorageKind postgres{"Postgres", [] { return std::make_unique<PostgresStorage>(); }};
INSTANTIATE_TEST_SUITE_P(Postgres, LedgerConformance, testing::Values(postgres), storage_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LastingConformance, testing::Values(postgres), storage_name);

}  // namespace
}  // namespace lectern::job
