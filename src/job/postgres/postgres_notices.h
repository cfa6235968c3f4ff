// The connection that listens: hears of commits in other processes, and tells them of ours. Commits do not notify
// within their transaction: PostgreSQL would make them wait for each other. What is to be told is gathered here and
// sent as one statement; so a process that dies right after a commit may leave others untold, and everybody looks
// around every few seconds anyhow.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "base/unique_fd.h"
#include "job/listener_slot.h"
#include "job/postgres/postgres_connection.h"

namespace lectern::job {

class PostgresNotices {
 public:
  // The slot is borrowed.
  PostgresNotices(PostgresAddress address, PostgresOptions options, const ListenerSlot& listeners);
  ~PostgresNotices();
  PostgresNotices(const PostgresNotices&) = delete;
  PostgresNotices& operator=(const PostgresNotices&) = delete;

  // From any thread, without waiting. Those who listen here are told by whoever calls this.
  void tell_others(const Hints& hints);

 private:
  using Connection = std::unique_ptr<PostgresConnection>;
  void loop();
  Connection connect();
  Status serve(PostgresConnection& connection);
  Status send(PostgresConnection& connection, const Hints& hints);
  void hear(PostgresConnection& connection);
  Hints take_pending();
  bool over();
  bool wait_closed(std::chrono::milliseconds time);

  const PostgresAddress address_;
  const PostgresOptions options_;
  const ListenerSlot& listeners_;
  const UniqueFd wake_;  // an eventfd: something is pending, or it is time to end
  std::mutex mutex_;     // guards the two below
  Hints pending_;
  bool closed_ = false;
  std::condition_variable changed_;
  std::jthread thread_;  // last: it uses all the others
};

}  // namespace lectern::job
