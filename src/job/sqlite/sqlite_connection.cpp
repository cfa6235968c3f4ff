#include "job/sqlite/sqlite_connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <thread>
#include <tuple>

#include "base/unique_fd.h"

namespace lectern::job {
namespace {

constexpr std::int64_t application_id = 0x4c43544e;  // "LCTN", so that `file` and we know whose it is
constexpr std::chrono::milliseconds busy_pause{1};   // SQLite's own handler sleeps up to 100 ms: a busy writer starves
                                                     // the others then

// Documents' passwords wait in this file; nobody else is to read it. SQLite gives the log the same rights. A file that
// is there is not touched: closing it would drop the locks that this process may have on it.
Status create_private(const std::filesystem::path& file) {
  const UniqueFd created(::open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (created.get() < 0 && errno != EEXIST) {
    return fail_errno(fmt::format("cannot make the job store {}", file.string()), errno);
  }
  return {};
}

}  // namespace

SqliteStatement::SqliteStatement(SqliteConnection& connection, sqlite3_stmt* statement, int prepared)
    : connection_(connection), statement_(statement), failed_(prepared) {}

SqliteStatement::~SqliteStatement() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

void SqliteStatement::again() {
  sqlite3_reset(statement_);
  bound_ = 0;
}

void SqliteStatement::bind_one(std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, ++bound_, value);
  if (failed_ == SQLITE_OK) failed_ = code;
}

void SqliteStatement::bind_one(const std::optional<std::int64_t>& value) {
  if (value) return bind_one(*value);
  const int code = sqlite3_bind_null(statement_, ++bound_);
  if (failed_ == SQLITE_OK) failed_ = code;
}

void SqliteStatement::bind_one(std::string_view value) {
  const char* text = value.empty() ? "" : value.data();
  const int code = sqlite3_bind_text64(statement_, ++bound_, text, value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (failed_ == SQLITE_OK) failed_ = code;
}

Result<bool> SqliteStatement::step() {
  if (failed_ != SQLITE_OK) return std::unexpected(connection_.error(failed_));
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  failed_ = code;
  return std::unexpected(connection_.error(code));
}

Status SqliteStatement::run() {
  for (;;) {
    const auto row = step();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
  }
}

std::int64_t SqliteStatement::number() {
  return sqlite3_column_int64(statement_, column_++);
}

std::optional<std::int64_t> SqliteStatement::maybe_number() {
  if (sqlite3_column_type(statement_, column_) != SQLITE_NULL) return number();
  ++column_;
  return std::nullopt;
}

std::string SqliteStatement::text() {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column_));  // NOLINT
  const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column_));
  ++column_;
  return text == nullptr ? std::string() : std::string(text, bytes);
}

Result<std::unique_ptr<SqliteConnection>> SqliteConnection::open(const SqliteOptions& options, bool reader) {
  if (auto created = create_private(options.file); !created) return std::unexpected(created.error());
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(options.file.c_str(), &handle,
                                   SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                                   options.vfs.empty() ? nullptr : options.vfs.c_str());
  std::unique_ptr<SqliteConnection> made(new SqliteConnection(handle, options.file.string()));
  if (code != SQLITE_OK) return std::unexpected(made->error(code));
  if (auto ready = made->set_up(options, reader); !ready) return std::unexpected(ready.error());
  return made;
}

Status SqliteConnection::set_up(const SqliteOptions& options, bool reader) {
  busy_timeout_ = options.busy_timeout;
  sqlite3_busy_handler(
      handle_,
      [](void* self, int calls) -> int {
        if (calls * busy_pause >= static_cast<SqliteConnection*>(self)->busy_timeout_) return 0;
        std::this_thread::sleep_for(busy_pause);
        return 1;
      },
      this);
  sqlite3_wal_hook(
      handle_,
      [](void* self, sqlite3*, const char*, int frames) -> int {
        static_cast<SqliteConnection*>(self)->wal_frames_ = frames;
        return SQLITE_OK;
      },
      this);  // takes the place of the automatic checkpoint, which would keep acknowledgements waiting
  std::string mode;
  // When several open a new file at once, SQLite answers "busy" to this without asking the handler above.
  for (auto waited = busy_pause;; waited += busy_pause) {
    auto wal = statement("PRAGMA journal_mode = WAL");
    const auto row = wal.step();
    if (row) {
      mode = wal.text();
      break;
    }
    const bool busy = (sqlite3_errcode(handle_) & 0xff) == SQLITE_BUSY;
    if (!busy || waited >= busy_timeout_) return std::unexpected(row.error());
    std::this_thread::sleep_for(busy_pause);
  }
  if (mode != "wal") {
    return fail(ErrorKind::invalid_input,
                "the job store {} cannot have a write-ahead log (its journal mode is {}): it must be on a local disk",
                file_, mode);
  }
  // FULL: a commit is on the disk when it returns. secure_delete: a wiped secret is overwritten. The size limit gives
  // space back after a flood.
  if (auto set = execute("PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST; PRAGMA temp_store = MEMORY;"
                         "PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF");
      !set) {
    return set;
  }
  return execute(reader ? "PRAGMA query_only = ON" : "PRAGMA cache_size = -8000");
}

SqliteConnection::~SqliteConnection() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close_v2(handle_);
}

SqliteStatement SqliteConnection::statement(const char* sql) {
  const auto found = statements_.find(sql);
  if (found != statements_.end()) return {*this, found->second, SQLITE_OK};
  sqlite3_stmt* prepared = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  if (code == SQLITE_OK) statements_.emplace(sql, prepared);
  return {*this, prepared, code};
}

Status SqliteConnection::execute(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code));
  return {};
}

Status SqliteConnection::commit() {
  const int code = sqlite3_exec(handle_, "COMMIT", nullptr, nullptr, nullptr);
  if (code == SQLITE_OK) return {};
  Error why = error(code);
  rollback();
  // The write that makes it count is the last one: if a write failed, that one was not made.
  if ((code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE) return std::unexpected(std::move(why));
  // Otherwise the log may hold the whole transaction, and whoever recovers it after a crash would find it.
  return fail(ErrorKind::unavailable, "nobody knows whether a change was written: {}", why.for_log);
}

void SqliteConnection::rollback() {
  if (in_transaction()) std::ignore = execute("ROLLBACK");
}

bool SqliteConnection::in_transaction() const {
  return sqlite3_get_autocommit(handle_) == 0;
}

int SqliteConnection::changes() const {
  return sqlite3_changes(handle_);
}

std::int64_t SqliteConnection::data_version() {
  auto version = statement("PRAGMA data_version");
  const auto row = version.step();
  return row && *row ? version.number() : 0;
}

void SqliteConnection::checkpoint(bool wait_for_readers) {
  const int mode = wait_for_readers ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
  const int code = sqlite3_wal_checkpoint_v2(handle_, nullptr, mode, nullptr, nullptr);
  if (code == SQLITE_OK && wait_for_readers) wal_frames_ = 0;
}

Error SqliteConnection::error(int code) const {
  const std::string why = sqlite3_errmsg(handle_);
  const int disk = sqlite3_system_errno(handle_);
  const auto made = [&](ErrorKind kind, std::string text) { return fail(kind, std::move(text)).error(); };
  const bool no_space = (code & 0xff) == SQLITE_IOERR && (disk == ENOSPC || disk == EDQUOT);
  if (no_space && code != SQLITE_IOERR_FSYNC && code != SQLITE_IOERR_DIR_FSYNC) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return made(ErrorKind::overloaded, fmt::format("no space is left on the disk of the job store {}", file_));
    case SQLITE_NOMEM:
      return made(ErrorKind::overloaded, fmt::format("no memory is left for the job store {}", file_));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return made(ErrorKind::unavailable,
                  fmt::format("the job store {} was held by another process for too long ({})", file_, why));
    case SQLITE_CONSTRAINT:
      return made(ErrorKind::conflict, fmt::format("it is in the job store {} already: {}", file_, why));
    case SQLITE_CORRUPT:
      return made(ErrorKind::corrupt, fmt::format("the job store {} is damaged: {}", file_, why));
    case SQLITE_NOTADB:
      return made(ErrorKind::invalid_input, fmt::format("{} is not an SQLite database; name another file", file_));
    case SQLITE_IOERR:
    case SQLITE_PROTOCOL:
      return made(ErrorKind::unavailable,
                  fmt::format("the disk of the job store {} failed: {} ({}, {})", file_, why, code, disk));
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return made(ErrorKind::unavailable, fmt::format("cannot write the job store {}: {} ({})", file_, why, disk));
    default:
      return made(ErrorKind::internal, fmt::format("job store {}: {} ({})", file_, why, code));
  }
}

namespace {

Result<std::int64_t> pragma(SqliteConnection& connection, const char* sql) {
  auto statement = connection.statement(sql);
  const auto row = statement.step();
  if (!row) return std::unexpected(row.error());
  return statement.number();
}

Status migrate_in_transaction(SqliteConnection& connection, std::span<const Migration> known, std::string_view where) {
  const auto found = pragma(connection, "PRAGMA user_version");
  const auto owner = pragma(connection, "PRAGMA application_id");
  const auto tables = pragma(connection, "SELECT count(*) FROM sqlite_schema");
  for (const auto* one : {&found, &owner, &tables}) {
    if (!*one) return std::unexpected(one->error());
  }
  if (*owner != application_id && (*owner != 0 || *found != 0 || *tables != 0)) {
    return fail(ErrorKind::invalid_input, "{} is another program's database; name another file", where);
  }
  const auto missing = migrations_after(static_cast<int>(*found), known, where);
  if (!missing) return std::unexpected(missing.error());
  for (const Migration& one : *missing) {
    if (auto done = connection.execute(std::string(one.sql).c_str()); !done) return done;
  }
  if (missing->empty()) return {};
  return connection.execute(
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id, missing->back().version)
          .c_str());
}

}  // namespace

Status migrate(SqliteConnection& connection, std::span<const Migration> known, std::string_view where) {
  if (auto begun = connection.execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = migrate_in_transaction(connection, known, where);
  if (!done) {
    connection.rollback();
    return done;
  }
  return connection.commit();
}

}  // namespace lectern::job
