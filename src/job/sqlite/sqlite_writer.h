// The thread that writes: group commit. Everything that waits when it looks is run in one transaction, each piece in a
// savepoint of its own; `done` is called when all of it is on the disk.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "job/listener_slot.h"
#include "job/sqlite/sqlite_connection.h"

namespace lectern::job {

struct SqliteRequest {
  Database::Work work;
  std::function<void(Status)> done;
};

class SqliteWriter {
 public:
  // The clock and the slot are borrowed.
  SqliteWriter(std::unique_ptr<SqliteConnection> connection, const Clock& clock, const ListenerSlot& listeners);
  ~SqliteWriter();  // runs what was added
  SqliteWriter(const SqliteWriter&) = delete;
  SqliteWriter& operator=(const SqliteWriter&) = delete;

  void add(SqliteRequest request);

 private:
  struct Ended {
    SqliteRequest request;
    Status status;
  };
  void loop();
  // Empty: it is time to end, or only to look around.
  std::deque<SqliteRequest> wait_for_some(bool& closed);
  void run_group(std::deque<SqliteRequest>& waiting);
  Status run_all(std::deque<SqliteRequest>& waiting, std::vector<Ended>& ended, Hints& hints);
  Status run_one(const SqliteRequest& request, Hints& hints);
  void keep_log_short();
  void look_for_others();
  void let_others_in();

  const std::unique_ptr<SqliteConnection> connection_;  // used on thread_ alone, like the next six
  const Clock& clock_;
  const ListenerSlot& listeners_;
  std::int64_t data_version_ = 0;
  int groups_in_a_row_ = 0;
  int frames_moved_ = 0;  // of the log into the file, the last time
  bool others_write_ = false;

  std::mutex mutex_;  // guards the two below
  std::deque<SqliteRequest> queue_;
  bool closed_ = false;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace lectern::job
