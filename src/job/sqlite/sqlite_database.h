// Jobs in an SQLite file: the default. One thread writes; everything that waits goes into one transaction, each piece
// in a savepoint of its own, so that one fsync acknowledges many. Readers have connections of their own and never wait
// for the writer. Any number of processes of one machine may use the file.
//
// Errors of Database::run here: overloaded (the disk is full; nothing of it was written), unavailable (the file is held
// by others for too long, or the disk failed: after a failed fsync nobody knows), corrupt (the file is damaged).
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "job/database.h"
#include "job/migrations.h"

namespace lectern::job {

struct SqliteOptions {
  std::filesystem::path file;                      // made where it is missing; its folder must be there
  std::chrono::milliseconds busy_timeout{10'000};  // for others to let go of the file
  const Clock* clock = &system_clock();            // borrowed; its wall time is the database's
  std::string vfs;                                 // SQLite's name of a file layer; empty = the system's
};

// Runs the migrations. Errors: those above; invalid_input (not ours, not a database, no right to it), conflict (the
// schema is newer than this program).
Result<std::unique_ptr<Database>> open_sqlite(const SqliteOptions& options);

// What there is to run, oldest first.
std::span<const Migration> sqlite_migrations();

}  // namespace lectern::job
