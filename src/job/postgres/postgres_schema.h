// The tables in PostgreSQL, all in a schema named lectern.
#pragma once

#include <span>
#include <string_view>

#include "job/migrations.h"
#include "job/postgres/postgres_connection.h"

namespace lectern::job {

// Brings the schema up to date in one transaction; others who want to do the same wait for it. Errors: conflict (it is
// newer), invalid_input (no right to change it).
Status migrate(PostgresConnection& connection, std::span<const Migration> known, std::string_view where);
// 0 = there is none yet.
Result<int> schema_version(PostgresConnection& connection);

}  // namespace lectern::job
