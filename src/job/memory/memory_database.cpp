#include "job/memory/memory_database.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <mutex>
#include <utility>

#include "job/memory/memory_ledger.h"

namespace lectern::job {
namespace {

class MemoryDatabase final : public Database {
 public:
  explicit MemoryDatabase(const Clock& clock) : clock_(clock) {}
  ~MemoryDatabase() override { thread_.join(); }

  void run(Access, Work work, std::function<void(Status)> done) override {
    boost::asio::post(thread_, [this, work = std::move(work), done = std::move(done)] {
      const MemoryTables before = tables_;
      const auto since = clock_.wall().time_since_epoch();
      MemoryLedger ledger(tables_, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
      auto status = work(ledger);
      if (!status) tables_ = before;
      done(status);
      if (status) tell(ledger);
    });
  }

  void listen(Listener listener) override {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
  }

  std::string description() const override { return "memory (not durable)"; }

 private:
  void tell(const MemoryLedger& ledger) {
    const std::lock_guard lock(mutex_);
    if (ledger.workers_told() && listener_.work) listener_.work();
    for (const std::string& job : ledger.watched_jobs()) {
      if (listener_.job) listener_.job(job);
    }
  }

  const Clock& clock_;
  MemoryTables tables_;  // used on thread_ alone
  std::mutex mutex_;     // guards listener_
  Listener listener_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace

std::unique_ptr<Database> make_memory_database(const Clock& clock) {
  return std::make_unique<MemoryDatabase>(clock);
}

}  // namespace lectern::job
