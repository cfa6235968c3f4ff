// Jobs in PostgreSQL, for many machines. A few connections, each with its thread, opened as they are needed; one more
// that listens and notifies. Statements take whole batches, and those whose answers nobody waits for travel together
// with the next one.
//
// Errors of Database::run here: unavailable (the server does not answer; once the commit was on its way, nobody knows),
// overloaded (its disk or memory is full), timeout (a statement took too long). Deadlocks and lost connections before
// the commit are tried again without anybody noticing.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "job/database.h"
#include "job/migrations.h"

namespace lectern::job {

struct PostgresOptions {
  std::string url;          // "postgresql://user:password@host:port/database?…", as libpq takes it
  bool must_exist = false;  // a database without our tables is not_found, and stays without them
  int connections = 4;      // at most, besides the one that listens
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds answer_timeout{10'000};  // without a byte from the server: the connection is given up
  std::chrono::milliseconds patience{5'000};         // for a server that is away, before an error is given
  std::chrono::milliseconds ping{5'000};             // how often the listening connection is tried
};

// Runs the migrations. Errors: invalid_input (the URL, the rights, the encoding), unavailable, conflict (the schema is
// newer than this program), not_found (must_exist). None of them holds the password.
Result<std::unique_ptr<Database>> open_postgres(PostgresOptions options);

// What there is to run, oldest first.
std::span<const Migration> postgres_migrations();

}  // namespace lectern::job
