#include "job/sqlite/sqlite_database.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "job/sqlite/sqlite_ledger.h"
#include "job/sqlite/sqlite_writer.h"

namespace lectern::job {
namespace {

constexpr std::size_t reader_count = 2;  // a slow look must not keep the quick ones waiting

class SqliteReaders {
 public:
  SqliteReaders(std::vector<std::unique_ptr<SqliteConnection>> connections, const Clock& clock)
      : clock_(clock), connections_(std::move(connections)) {
    for (const auto& connection : connections_) threads_.emplace_back([this, &connection] { loop(*connection); });
  }
  ~SqliteReaders() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  SqliteReaders(const SqliteReaders&) = delete;
  SqliteReaders& operator=(const SqliteReaders&) = delete;

  void add(SqliteRequest request) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(request));
    changed_.notify_one();
  }

 private:
  void loop(SqliteConnection& connection) {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return closed_ || !queue_.empty(); });
      if (queue_.empty()) return;
      const SqliteRequest request = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      request.done(run(connection, request.work));
    }
  }

  Status run(SqliteConnection& connection, const Database::Work& work) {
    if (auto begun = connection.run("BEGIN"); !begun) return begun;
    const auto since = clock_.wall().time_since_epoch();
    SqliteLedger ledger(connection, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    auto status = work(ledger);
    connection.rollback();
    return status;
  }

  const Clock& clock_;
  const std::vector<std::unique_ptr<SqliteConnection>> connections_;
  std::mutex mutex_;  // guards the two below
  std::deque<SqliteRequest> queue_;
  bool closed_ = false;
  std::condition_variable changed_;
  std::vector<std::jthread> threads_;  // last: they use all the others
};

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(const SqliteOptions& options, std::unique_ptr<SqliteConnection> writer,
                 std::vector<std::unique_ptr<SqliteConnection>> readers)
      : file_(options.file.string()),
        writer_(std::move(writer), *options.clock, listeners_),
        readers_(std::move(readers), *options.clock) {}

  void run(Access access, Work work, std::function<void(Status)> done) override {
    SqliteRequest request{std::move(work), std::move(done)};
    if (access == Access::read) return readers_.add(std::move(request));
    writer_.add(std::move(request));
  }
  void listen(Listener listener) override { listeners_.set(std::move(listener)); }
  std::string description() const override { return "SQLite, " + file_; }

 private:
  const std::string file_;
  ListenerSlot listeners_;
  SqliteWriter writer_;
  SqliteReaders readers_;
};

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const SqliteOptions& options) {
  auto writer = SqliteConnection::open(options, false);
  if (!writer) return std::unexpected(writer.error());
  if (auto migrated = migrate(**writer, sqlite_migrations(), options.file.string()); !migrated) {
    return std::unexpected(migrated.error());
  }
  std::vector<std::unique_ptr<SqliteConnection>> readers;
  for (std::size_t i = 0; i < reader_count; ++i) {
    auto reader = SqliteConnection::open(options, true);
    if (!reader) return std::unexpected(reader.error());
    readers.push_back(std::move(*reader));
  }
  return std::make_unique<SqliteDatabase>(options, std::move(*writer), std::move(readers));
}

}  // namespace lectern::job
