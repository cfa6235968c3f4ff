#include "job/postgres/postgres_pool.h"

#include <algorithm>
#include <utility>

#include "job/postgres/postgres_ledger.h"

namespace lectern::job {
namespace {

constexpr int deadlocks_most = 20;  // of one transaction
constexpr std::chrono::milliseconds pause_first{5};
constexpr std::chrono::milliseconds pause_most{500};
constexpr std::chrono::seconds idle_most{60};  // then a connection goes back to the server

}  // namespace

PostgresPool::PostgresPool(PostgresAddress address, PostgresOptions options,
                           std::function<void(const Hints&)> committed)
    : address_(std::move(address)), options_(std::move(options)), committed_(std::move(committed)) {}

PostgresPool::~PostgresPool() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void PostgresPool::add(Database::Access access, Database::Work work, std::function<void(Status)> done) {
  const std::lock_guard lock(mutex_);
  queue_.push_back({access, std::move(work), std::move(done), system_clock().now()});
  const bool all_busy = static_cast<int>(queue_.size()) > idle_;
  if (all_busy && static_cast<int>(threads_.size()) < options_.connections) {
    threads_.emplace_back([this] { loop(); });
  }
  changed_.notify_one();
}

void PostgresPool::loop() {
  Connection connection;
  for (;;) {
    std::unique_lock lock(mutex_);
    ++idle_;
    const bool woken = changed_.wait_for(lock, idle_most, [this] { return closed_ || !queue_.empty(); });
    --idle_;
    if (!woken) {
      connection.reset();
      continue;
    }
    if (queue_.empty()) return;
    const Request request = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    request.done(run(connection, request));
  }
}

Status PostgresPool::run(Connection& connection, const Request& request) {
  int deadlocks = 0;
  int losses = 0;
  const auto waited = [&] { return system_clock().now() - request.added; };
  for (;;) {
    if (auto connected = connect(connection, request); !connected) return connected;
    Try tried = try_once(*connection, request);
    switch (tried.after) {
      case After::over:
        return std::move(tried.status);
      case After::again:
        if (++deadlocks > deadlocks_most || waited() > 3 * options_.answer_timeout) return std::move(tried.status);
        pause(deadlocks);
        break;
      case After::reconnect:
        connection.reset();
        // An old connection may have been dead for long: that alone is no reason to give up.
        if (++losses > 1 && waited() >= options_.patience) return std::move(tried.status);
        break;
    }
  }
}

PostgresPool::Try PostgresPool::try_once(PostgresConnection& connection, const Request& request) {
  PostgresLedger ledger(connection, request.access);
  auto status = request.work(ledger);
  if (!status) {
    const bool again = connection.worth_again();
    if (!connection.broken()) ledger.rollback();
    if (connection.broken()) return {std::move(status), After::reconnect};
    return {std::move(status), again ? After::again : After::over};
  }
  auto committed = ledger.commit();
  if (committed) {
    if (ledger.hints().any()) committed_(ledger.hints());
    return {std::move(committed)};
  }
  if (!connection.broken()) {
    const bool again = connection.worth_again();
    ledger.rollback();
    return {std::move(committed), again ? After::again : After::over};
  }
  if (request.access == Database::Access::read) return {std::move(committed), After::reconnect};
  return {fail(ErrorKind::unavailable,
               "the connection was lost during a commit, and nobody knows whether it counts; {}",
               committed.error().for_log)};
}

// A connection that is there is taken for good: the first statement will tell.
Status PostgresPool::connect(Connection& connection, const Request& request) {
  for (int tries = 1; !connection || connection->broken(); ++tries) {
    auto opened = PostgresConnection::open(address_, options_);
    if (opened) {
      connection = std::move(*opened);
      return {};
    }
    if (system_clock().now() - request.added >= options_.patience) return std::unexpected(opened.error());
    pause(tries);
  }
  return {};
}

// Longer each time, and never as long as somebody else who began at the same moment.
void PostgresPool::pause(int tries) {
  const auto most = std::min(pause_most, pause_first * (1 << std::min(tries, 10)));
  std::this_thread::sleep_for(most * (0.5 + 0.5 * random_.uniform()));
}

}  // namespace lectern::job
