// The connections that run transactions, each with its thread, opened when all the others are busy. What goes wrong in
// passing is tried again here.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/random.h"
#include "job/listener_slot.h"
#include "job/postgres/postgres_connection.h"

namespace lectern::job {

class PostgresPool {
 public:
  // `committed` is called after every commit that has something to tell, on the pool's threads.
  PostgresPool(PostgresAddress address, PostgresOptions options, std::function<void(const Hints&)> committed);
  ~PostgresPool();  // runs what was added
  PostgresPool(const PostgresPool&) = delete;
  PostgresPool& operator=(const PostgresPool&) = delete;

  void add(Database::Access access, Database::Work work, std::function<void(Status)> done);

 private:
  struct Request {
    Database::Access access = Database::Access::read;
    Database::Work work;
    std::function<void(Status)> done;
    TimePoint added;
  };
  // How one try ended.
  enum class After : std::uint8_t { over, again, reconnect };
  struct Try {
    Status status;
    After after = After::over;
  };
  using Connection = std::unique_ptr<PostgresConnection>;

  void loop();
  Status run(Connection& connection, const Request& request);
  Try try_once(PostgresConnection& connection, const Request& request);
  Status connect(Connection& connection, const Request& request);
  void pause(int tries);

  const PostgresAddress address_;
  const PostgresOptions options_;
  const std::function<void(const Hints&)> committed_;
  SystemRandom random_;
  std::mutex mutex_;  // guards all below but the threads
  std::deque<Request> queue_;
  int idle_ = 0;
  bool closed_ = false;
  std::condition_variable changed_;
  std::vector<std::jthread> threads_;  // grows in add(), under the mutex; last: they use all the others
};

}  // namespace lectern::job
