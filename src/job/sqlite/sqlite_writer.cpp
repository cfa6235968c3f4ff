#include "job/sqlite/sqlite_writer.h"

#include <utility>

#include "job/sqlite/sqlite_ledger.h"

namespace lectern::job {
namespace {

constexpr std::chrono::milliseconds look_around{100};     // how late a commit of another process may be noticed
constexpr std::chrono::milliseconds group_most{50};       // what comes later waits for the next transaction
constexpr std::chrono::milliseconds pause_for_others{2};  // twice the pause of those who wait for the file
constexpr int groups_before_pause = 16;
constexpr int log_frames_most = 4'000;       // about 16 MB: then it is moved into the file
constexpr int log_frames_too_many = 40'000;  // readers stand in the way: they are waited for

Millis millis(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

SqliteWriter::SqliteWriter(std::unique_ptr<SqliteConnection> connection, const Clock& clock,
                           const ListenerSlot& listeners)
    : connection_(std::move(connection)),
      clock_(clock),
      listeners_(listeners),
      data_version_(connection_->data_version()),
      thread_([this] { loop(); }) {}

SqliteWriter::~SqliteWriter() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void SqliteWriter::add(SqliteRequest request) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(request));
  changed_.notify_all();
}

void SqliteWriter::loop() {
  for (;;) {
    bool closed = false;
    std::deque<SqliteRequest> waiting = wait_for_some(closed);
    while (!waiting.empty()) {
      let_others_in();
      run_group(waiting);
    }
    if (closed) return;
    look_for_others();
    keep_log_short();
  }
}

std::deque<SqliteRequest> SqliteWriter::wait_for_some(bool& closed) {
  std::unique_lock lock(mutex_);
  const bool at_once = !queue_.empty();
  groups_in_a_row_ = at_once ? groups_in_a_row_ + 1 : 0;
  changed_.wait_for(lock, look_around, [this] { return closed_ || !queue_.empty(); });
  closed = closed_;  // nobody adds any more: what is taken now is all
  return std::exchange(queue_, {});
}

// Runs as much as goes into one transaction and takes it from `waiting`.
void SqliteWriter::run_group(std::deque<SqliteRequest>& waiting) {
  std::vector<Ended> ended;
  Hints hints;
  Status together = run_all(waiting, ended, hints);
  for (Ended& one : ended) one.request.done(together ? std::move(one.status) : together);
  if (together) listeners_.tell(hints);
}

Status SqliteWriter::run_all(std::deque<SqliteRequest>& waiting, std::vector<Ended>& ended, Hints& hints) {
  const auto take = [&](Status status) {
    ended.push_back({std::move(waiting.front()), std::move(status)});
    waiting.pop_front();
  };
  if (auto begun = connection_->run("BEGIN IMMEDIATE"); !begun) {
    while (!waiting.empty()) take({});
    return begun;
  }
  const TimePoint enough = clock_.now() + group_most;
  do {
    take(run_one(waiting.front(), hints));
    // SQLite gives up the whole transaction when the disk fails: then nobody's part of it is there.
    if (!connection_->in_transaction()) return ended.back().status;
  } while (!waiting.empty() && clock_.now() < enough);
  return connection_->commit();
}

Status SqliteWriter::run_one(const SqliteRequest& request, Hints& hints) {
  if (auto begun = connection_->run("SAVEPOINT one"); !begun) return begun;
  SqliteLedger ledger(*connection_, millis(clock_.wall()));
  auto status = request.work(ledger);
  if (!connection_->in_transaction()) {
    return status ? fail(ErrorKind::internal, "SQLite gave up a transaction without saying why") : status;
  }
  if (!status) {
    if (auto back = connection_->run("ROLLBACK TO one"); !back) {
      connection_->rollback();
      return back;
    }
  }
  if (auto released = connection_->run("RELEASE one"); !released) {
    connection_->rollback();
    return released;
  }
  if (status) hints.add(ledger.hints());
  return status;
}

void SqliteWriter::keep_log_short() {
  const int frames = connection_->wal_frames();
  if (frames < frames_moved_) frames_moved_ = 0;  // the log began anew
  if (frames - frames_moved_ < log_frames_most) return;
  connection_->checkpoint(frames >= log_frames_too_many);
  frames_moved_ = frames;
}

void SqliteWriter::look_for_others() {
  const std::int64_t version = connection_->data_version();
  others_write_ = version != std::exchange(data_version_, version);
  if (others_write_) listeners_.tell_all();
}

// Those who wait for the file look every millisecond; whoever writes one transaction after another would hardly ever
// let them find it free.
void SqliteWriter::let_others_in() {
  if (groups_in_a_row_ == 0 || (!others_write_ && groups_in_a_row_ % groups_before_pause != 0)) return;
  std::this_thread::sleep_for(pause_for_others);
}

}  // namespace lectern::job
