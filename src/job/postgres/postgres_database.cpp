#include "job/postgres/postgres_database.h"

#include <utility>

#include "job/postgres/postgres_connection.h"
#include "job/postgres/postgres_notices.h"
#include "job/postgres/postgres_pool.h"
#include "job/postgres/postgres_schema.h"

namespace lectern::job {
namespace {

constexpr std::chrono::minutes migration_most{10};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(const PostgresAddress& address, const PostgresOptions& options)
      : description_(address.description),
        notices_(address, options, listeners_),
        pool_(address, options, [this](const Hints& hints) {
          listeners_.tell(hints);
          notices_.tell_others(hints);
        }) {}

  void run(Access access, Work work, std::function<void(Status)> done) override {
    pool_.add(access, std::move(work), std::move(done));
  }
  void listen(Listener listener) override { listeners_.set(std::move(listener)); }
  std::string description() const override { return description_; }

 private:
  const std::string description_;
  ListenerSlot listeners_;
  PostgresNotices notices_;
  PostgresPool pool_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options) {
  auto address = parse_postgres_url(options.url);
  if (!address) return std::unexpected(address.error());
  PostgresOptions patient = options;
  patient.answer_timeout = migration_most;
  auto connection = PostgresConnection::open(*address, patient);
  if (!connection) return std::unexpected(connection.error());
  if (options.must_exist) {
    const auto version = schema_version(**connection);
    if (!version) return std::unexpected(version.error());
    if (*version == 0) return fail(ErrorKind::not_found, "there is no job store at {}", address->description);
  }
  if (auto migrated = migrate(**connection, postgres_migrations(), address->description); !migrated) {
    return std::unexpected(migrated.error());
  }
  connection->reset();
  return std::make_unique<PostgresDatabase>(*address, options);
}

}  // namespace lectern::job
