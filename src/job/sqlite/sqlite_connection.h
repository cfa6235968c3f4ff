// One connection to an SQLite file: statements that are prepared once, errors as ours. Used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "job/sqlite/sqlite_database.h"

struct sqlite3;
struct sqlite3_stmt;

namespace lectern::job {

class SqliteConnection;

// One use of a prepared statement; ready for the next one when this goes. Columns and parameters in order.
class SqliteStatement {
 public:
  SqliteStatement(SqliteConnection& connection, sqlite3_stmt* statement, int prepared);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  // Binds the next parameters. Text is copied.
  template <class... Values>
  SqliteStatement& bind(const Values&... values) {
    (bind_one(values), ...);
    return *this;
  }
  void again();           // to bind and run anew
  Result<bool> step();    // true: there is a row
  Status run();           // to its end
  std::int64_t number();  // the next column of the row
  std::optional<std::int64_t> maybe_number();
  std::string text();

 private:
  void bind_one(std::int64_t value);
  void bind_one(int value) { bind_one(static_cast<std::int64_t>(value)); }
  void bind_one(bool value) { bind_one(static_cast<std::int64_t>(value)); }
  void bind_one(const std::optional<std::int64_t>& value);
  void bind_one(std::string_view value);
  void bind_one(const std::string& value) { bind_one(std::string_view(value)); }

  SqliteConnection& connection_;
  sqlite3_stmt* const statement_;  // the connection's
  int failed_;                     // SQLite's code of what went wrong before step()
  int bound_ = 0;
  int column_ = 0;
};

class SqliteConnection {
 public:
  // Opens the file as its owner would: write-ahead log, synchronous=FULL. A reader cannot change anything.
  static Result<std::unique_ptr<SqliteConnection>> open(const SqliteOptions& options, bool reader);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  // `sql` is a literal: the prepared statement is kept under its address.
  SqliteStatement statement(const char* sql);
  Status run(const char* sql) { return statement(sql).run(); }
  // Any statements without parameters.
  Status execute(const char* sql);
  // Ends the transaction. Errors: overloaded = nothing of it is there; unavailable = nobody knows.
  Status commit();
  void rollback();              // where there is a transaction
  bool in_transaction() const;  // SQLite ends one by itself after some errors
  int changes() const;          // rows that the last statement changed
  std::int64_t data_version();  // another one after every commit of another connection; 0 = cannot tell
  int wal_frames() const { return wal_frames_; }  // in the log, as of the last commit here
  // Moves what is in the log to its place in the file, as far as readers allow. No error is worth stopping for: the log
  // stays as it is.
  void checkpoint(bool wait_for_readers);
  Error error(int code) const;

 private:
  SqliteConnection(sqlite3* handle, std::string file) : handle_(handle), file_(std::move(file)) {}
  Status set_up(const SqliteOptions& options, bool reader);

  sqlite3* const handle_;
  const std::string file_;
  std::chrono::milliseconds busy_timeout_{0};
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
  int wal_frames_ = 0;
};

// Brings the schema up to date in one transaction. Errors: conflict (it is newer), invalid_input (another program's).
Status migrate(SqliteConnection& connection, std::span<const Migration> known, std::string_view where);

}  // namespace lectern::job
