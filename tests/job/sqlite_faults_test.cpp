// A disk that fails or loses its power at any moment: what was acknowledged is there afterwards, what was refused is
// not, and the store goes on when the disk does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "job/faulty_vfs.h"
#include "job/ledger_conformance.h"
#include "job/sqlite/sqlite_database.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

const Policy policy;

Status submit_job(Database& database, const std::string& id) {
  const auto done = transact(database, Database::Access::write, [&](Ledger& ledger) {
    return submit(ledger, policy, {.id = id, .options = std::string(8'000, ' ')});  // several pages of the file
  });
  return done ? Status() : std::unexpected(done.error());
}

Result<std::optional<JobView>> look(Database& database, const std::string& id) {
  return transact(database, Database::Access::read, [&](Ledger& ledger) { return ledger.job(id); });
}

// What the store said about each job.
struct Answers {
  std::set<std::string> stored;   // acknowledged
  std::set<std::string> refused;  // an error that says: it is not there
  std::set<std::string> unknown;  // an error that says: nobody knows
};

void submit_some(Database& database, const std::string& prefix, Answers& answers) {
  for (int i = 0; i < 4; ++i) {
    const std::string id = prefix + std::to_string(i);
    const Status status = submit_job(database, id);
    if (status) {
      answers.stored.insert(id);
    } else if (status.error().kind == ErrorKind::overloaded) {
      answers.refused.insert(id);
    } else {
      EXPECT_EQ(status.error().kind, ErrorKind::unavailable) << status.error().for_log;
      answers.unknown.insert(id);
    }
  }
}

void expect_answers_hold(Database& database, const Answers& answers) {
  for (const std::string& id : answers.stored) {
    const auto job = look(database, id);
    ASSERT_TRUE(job) << job.error().for_log;
    ASSERT_TRUE(*job) << id << " was acknowledged and is gone";
    EXPECT_EQ((*job)->job.event_count, 1);
    const auto tasks = transact(database, Database::Access::read,
                                [&](Ledger& ledger) { return ledger.job_tasks(id, StepKind::split, 0, 10); });
    EXPECT_EQ(tasks.value().size(), 1U) << id;
  }
  for (const std::string& id : answers.refused) EXPECT_EQ(look(database, id).value(), std::nullopt) << id;
}

class SqliteFaults : public testing::TestWithParam<bool> {};

TEST_P(SqliteFaults, EveryWriteAndSyncFailsOnce) {
  const bool for_good = GetParam();
  int faults = 0;
  for (int n = 1;; ++n) {
    SCOPED_TRACE(fmt::format("call {} fails", n));
    const TempFolder folder;
    const auto file = folder.path() / "jobs.sqlite";
    Answers answers;
    bool fired = false;
    {
      FaultyVfs vfs;
      vfs.fail_nth(n, for_good);
      auto opened = open_sqlite({.file = file, .vfs = vfs.name()});
      if (!opened) {
        EXPECT_TRUE(vfs.fired()) << opened.error().for_log;
        EXPECT_TRUE(opened.error().kind == ErrorKind::overloaded || opened.error().kind == ErrorKind::unavailable)
            << opened.error().for_log;
        vfs.heal();
        opened = open_sqlite({.file = file, .vfs = vfs.name()});
        ASSERT_TRUE(opened) << opened.error().for_log;
      }
      submit_some(**opened, "job_", answers);
      fired = vfs.fired();
      expect_answers_hold(**opened, answers);  // reading goes on
      vfs.heal();
      submit_some(**opened, "job_later_", answers);  // and so does writing
      EXPECT_GE(answers.stored.size(), 4U);
      if (n % 2 == 0) vfs.fail_nth(1 + n % 7, for_good);  // while it is closed, too
    }
    const FaultyVfs healthy;
    auto again = open_sqlite({.file = file, .vfs = healthy.name()});
    ASSERT_TRUE(again) << again.error().for_log;
    expect_answers_hold(**again, answers);
    EXPECT_TRUE(submit_job(**again, "job_last"));
    if (!fired) break;
    ++faults;
  }
  std::cout << faults << " calls failed\n";
  EXPECT_GT(faults, 30) << "too few calls were seen failing for this to mean anything";
}
INSTANTIATE_TEST_SUITE_P(Disk, SqliteFaults, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "StaysBroken" : "FailsOnce"; });

TEST(SqlitePower, WhatWasAcknowledgedSurvivesAPowerCut) {
  SeededRandom random(7);
  const TempFolder folder;
  const auto home = folder.path() / "home";
  std::filesystem::create_directories(home);
  FaultyVfs vfs;
  auto database = open_sqlite({.file = home / "jobs.sqlite", .vfs = vfs.name()}).value();
  Answers answers;
  for (int i = 0; i < 12; ++i) {
    const std::string id = "job_" + std::to_string(i);
    // One is under way when the power goes, the others were acknowledged.
    std::promise<void> ended;
    const auto after = folder.path() / ("after_" + std::to_string(i));
    database->run(
        Database::Access::write,
        [&](Ledger& ledger) -> Status {
          auto done = submit(ledger, policy, {.id = id, .options = std::string(8'000, ' ')});
          vfs.cut_power(home, after, random);
          return done ? Status() : std::unexpected(done.error());
        },
        [&](const Status& status) {
          EXPECT_TRUE(status);
          ended.set_value();
        });
    ended.get_future().wait();
    expect_answers_hold(*open_sqlite({.file = after / "jobs.sqlite"}).value(), answers);
    answers.stored.insert(id);
    const auto acknowledged = folder.path() / ("acknowledged_" + std::to_string(i));
    vfs.cut_power(home, acknowledged, random);
    expect_answers_hold(*open_sqlite({.file = acknowledged / "jobs.sqlite"}).value(), answers);
  }
}

TEST(SqliteGroup, OneSyncAcknowledgesMany) {
  const TempFolder folder;
  FaultyVfs vfs;
  auto database = open_sqlite({.file = folder.path() / "jobs.sqlite", .vfs = vfs.name()}).value();
  constexpr int jobs = 200;
  std::promise<void> go;
  std::shared_future<void> may_go = go.get_future().share();
  std::promise<void> ended;
  std::atomic<int> left = jobs + 1;
  int syncs_before = 0;
  const auto done = [&](const Status& status) {
    EXPECT_TRUE(status);
    if (--left == 0) ended.set_value();
  };
  // The first one holds the writer until all the others wait behind it.
  database->run(
      Database::Access::write,
      [&](Ledger&) -> Status {
        may_go.wait();
        syncs_before = vfs.syncs();
        return {};
      },
      done);
  for (int i = 0; i < jobs; ++i) {
    database->run(
        Database::Access::write,
        [i](Ledger& ledger) -> Status {
          auto made = submit(ledger, policy, {.id = "job_" + std::to_string(i)});
          return made ? Status() : std::unexpected(made.error());
        },
        done);
  }
  go.set_value();
  ended.get_future().wait();
  EXPECT_LE(vfs.syncs() - syncs_before, jobs / 4);
  EXPECT_GE(vfs.syncs() - syncs_before, 1);
}

}  // namespace
}  // namespace lectern::job
