// Servers that die, connections that are cut, stand still or belong to a stopped process, transactions that wait for
// each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <semaphore>
#include <set>
#include <thread>

#include "job/ledger_conformance.h"
#include "job/postgres/postgres_database.h"
#include "servers/fault_proxy.h"
#include "servers/postgres_server.h"

namespace lectern::job {
namespace {

using namespace std::chrono_literals;
using test::FaultProxy;
using test::PostgresServer;
using test::shared_postgres;
using testing::HasSubstr;
using testing::Not;

const Policy policy;

auto submit_job(Database& database, const std::string& id) {
  return transact(database, Database::Access::write,
                  [&](Ledger& ledger) { return submit(ledger, policy, {.id = id}); });
}

bool is_stored(Database& database, const std::string& id) {
  const auto job = transact(database, Database::Access::read, [&](Ledger& ledger) { return ledger.job(id); });
  if (!job) throw std::runtime_error(job.error().for_log);
  return job->has_value();
}

// Through a proxy, and in a hurry.
class PostgresLine : public testing::Test {
 protected:
  std::unique_ptr<Database> open(std::chrono::milliseconds patience = 20'000ms) {
    return open_postgres({.url = shared_postgres().url(name_, proxy_.port()),
                          .answer_timeout = 2'000ms,
                          .patience = patience,
                          .ping = 100ms})
        .value();
  }
  const std::string name_ = shared_postgres().new_database();
  FaultProxy proxy_{shared_postgres().port()};
  std::unique_ptr<Database> database_ = open();
};

TEST_F(PostgresLine, WhatWasNotCommittedWhenTheLineWasCutIsDoneAnew) {
  int tries = 0;
  const auto done = transact(*database_, Database::Access::write, [&](Ledger& ledger) {
    auto made = submit(ledger, policy, {.id = "job_1"});
    if (++tries <= 2) proxy_.cut();
    return made ? ledger.job("job_1") : std::unexpected(made.error());
  });
  ASSERT_TRUE(done) << done.error().for_log;
  EXPECT_EQ(tries, 3);
  EXPECT_TRUE(is_stored(*database_, "job_1"));
}

TEST_F(PostgresLine, ALineThatWasCutWhileNobodyUsedItIsNotNoticed) {
  ASSERT_TRUE(submit_job(*database_, "job_1"));
  EXPECT_GE(proxy_.cut(), 1);
  EXPECT_TRUE(submit_job(*database_, "job_2"));
  EXPECT_TRUE(is_stored(*database_, "job_1"));
}

TEST_F(PostgresLine, ACommitWithoutAnAnswerIsUnknown) {
  int tries = 0;
  const auto done = transact(*database_, Database::Access::write, [&](Ledger& ledger) {
    ++tries;
    auto made = submit(ledger, policy, {.id = "job_1"});
    proxy_.set(FaultProxy::Mode::half_open);
    return made;
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(done.error().for_log, HasSubstr("nobody knows"));
  EXPECT_THAT(done.error().for_log, Not(HasSubstr(shared_postgres().password())));
  EXPECT_EQ(tries, 1) << "it must not be repeated behind the caller's back";
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_TRUE(submit_job(*database_, "job_2"));
}

TEST_F(PostgresLine, ReadersAreServedThroughANewLine) {
  ASSERT_TRUE(submit_job(*database_, "job_1"));
  int tries = 0;
  const auto job = transact(*database_, Database::Access::read, [&](Ledger& ledger) {
    auto found = ledger.job("job_1");
    if (++tries == 1) proxy_.cut();  // before the end of the transaction: no harm for who only looks
    return found;
  });
  ASSERT_TRUE(job) << job.error().for_log;
  EXPECT_TRUE(*job);
  EXPECT_EQ(tries, 2);
}

TEST_F(PostgresLine, AServerThatIsAwayIsAnErrorInTheEnd) {
  const auto hasty = open(1'000ms);
  proxy_.set(FaultProxy::Mode::refuse);
  proxy_.cut();
  const auto done = submit_job(*hasty, "job_1");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(done.error().for_log, Not(HasSubstr(shared_postgres().password())));
  proxy_.set(FaultProxy::Mode::pass);
  EXPECT_FALSE(is_stored(*database_, "job_1"));
  EXPECT_TRUE(submit_job(*database_, "job_1"));
}

TEST_F(PostgresLine, ASlowLineIsGoodEnough) {
  proxy_.set(FaultProxy::Mode::slow);
  const auto done = submit_job(*database_, "job_1");
  EXPECT_TRUE(done) << done.error().for_log;
}

TEST_F(PostgresLine, ListenersHearAgainAfterTheLineStoodStill) {
  std::atomic<bool> asked = true;
  std::binary_semaphore heard{0};
  database_->listen({.work =
                         [&] {
                           if (asked.exchange(false)) heard.release();
                         },
                     .job = {}});
  heard.acquire();  // a ping at the latest
  const auto lines = proxy_.accepted();
  proxy_.set(FaultProxy::Mode::half_open);
  proxy_.set(FaultProxy::Mode::refuse);
  proxy_.cut();
  proxy_.wait_accepted_beyond(lines);  // the next try, which fails: nothing more is heard of the old line
  asked = true;
  proxy_.set(FaultProxy::Mode::pass);
  heard.acquire();
  database_->listen({});
}

TEST_F(PostgresLine, WhoStopsInsideATransactionIsThrownOut) {
  // Another process, which holds a lock and does nothing: here one whose work waits until the server has had enough.
  ASSERT_TRUE(submit_job(*database_, "job_1"));
  int tries = 0;
  const auto stopped = transact(*database_, Database::Access::write, [&](Ledger& ledger) -> Result<bool> {
    auto locked = ledger.lock_job("job_1");
    if (!locked) return std::unexpected(locked.error());
    if (++tries == 1) {
      const auto other = open();
      const auto taken =
          transact(*other, Database::Access::write, [](Ledger& inner) { return inner.lock_job("job_1"); });
      EXPECT_TRUE(taken) << "others must be able to go on";
    }
    if (auto again = ledger.lock_job("job_1"); !again) return std::unexpected(again.error());
    return true;
  });
  EXPECT_TRUE(stopped) << stopped.error().for_log;
  EXPECT_EQ(tries, 2);
}

TEST(PostgresFaults, TransactionsThatWaitForEachOtherAreDoneAnew) {
  const std::string name = shared_postgres().new_database();
  shared_postgres().run("ALTER DATABASE " + name + " SET deadlock_timeout = '20ms'");
  auto database = open_postgres({.url = shared_postgres().url(name)}).value();
  ASSERT_TRUE(submit_job(*database, "job_a"));
  ASSERT_TRUE(submit_job(*database, "job_b"));
  std::barrier both_hold_one(2);
  std::atomic<int> tries = 0;
  const auto lock_both = [&](const std::string& first, const std::string& second) {
    bool met = false;
    const auto done = transact(*database, Database::Access::write, [&](Ledger& ledger) -> Status {
      ++tries;
      if (auto one = ledger.lock_job(first); !one) return std::unexpected(one.error());
      if (!std::exchange(met, true)) both_hold_one.arrive_and_wait();
      auto two = ledger.lock_job(second);
      return two ? Status() : std::unexpected(two.error());
    });
    EXPECT_TRUE(done) << done.error().for_log;
  };
  {
    std::jthread one([&] { lock_both("job_a", "job_b"); });
    std::jthread two([&] { lock_both("job_b", "job_a"); });
  }
  EXPECT_GE(tries, 3);
}

TEST(PostgresFaults, WhatWasAcknowledgedSurvivesTheServersDeath) {
  PostgresServer server;
  auto database = open_postgres({.url = server.url(server.new_database()), .patience = 200ms}).value();
  std::set<std::string> stored;
  std::set<std::string> unknown;
  int next = 0;
  for (int round = 0; round < 2; ++round) {
    std::atomic<bool> enough = false;
    std::atomic<int> done = 0;
    std::jthread sender([&] {
      while (!enough) {
        const std::string id = "job_" + std::to_string(next++);
        const auto made = submit_job(*database, id);
        if (!made) EXPECT_EQ(made.error().kind, ErrorKind::unavailable) << made.error().for_log;
        (made ? stored : unknown).insert(id);
        ++done;
        done.notify_all();
      }
    });
    for (int seen = done; seen < 20; seen = done) done.wait(seen);
    round == 0 ? server.stop() : server.kill();
    server.start();
    for (const int seen = done; done < seen + 5;) done.wait(done);
    enough = true;
  }
  EXPECT_GE(stored.size(), 40U);
  for (const std::string& id : stored) EXPECT_TRUE(is_stored(*database, id)) << id << " was acknowledged and is gone";
}

}  // namespace
}  // namespace lectern::job
