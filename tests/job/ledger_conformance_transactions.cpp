// What a Database promises about transactions: all or nothing, one after another for the same job, durable when `done`
// is called, and known to those who listen.
#include <gmock/gmock.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "job/ledger_conformance.h"

namespace lectern::job {
namespace {

using testing::Contains;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

// What a listener was told. Waiting is for a signal; the limit only keeps a broken database from hanging the test.
class Ear {
 public:
  void listen_to(Database& database) {
    database.listen({.work = [this] { hear("work"); },
                     .job = [this](const std::string& job) { hear(job.empty() ? "any job" : job); }});
  }
  bool await(const std::set<std::string>& any_of) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(30), [&] {
      return std::ranges::any_of(any_of, [&](const std::string& one) { return heard_.contains(one); });
    });
  }
  std::multiset<std::string> heard() {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    heard_.clear();
  }

 private:
  void hear(const std::string& what) {
    const std::lock_guard lock(mutex_);
    heard_.insert(what);
    changed_.notify_all();
  }
  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::multiset<std::string> heard_;
};

// The same on several threads at once; returns when all have ended.
void at_once(int threads, const std::function<void(int)>& what) {
  std::vector<std::jthread> running;
  running.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) running.emplace_back(what, i);
}

TEST_P(LedgerConformance, AnErrorTakesEverythingBack) {
  const JobView before = job_with_pages(request("job_1"), 2);
  const auto failed = write([&](Ledger& ledger) -> Status {
    if (auto submitted = submit(ledger, policy_, request("job_2")); !submitted)
      return std::unexpected(submitted.error());
    if (auto gone = ledger.remove_job("job_1"); !gone) return gone;
    if (auto key = ledger.insert_key({.id = "key"}); !key) return key;
    return fail(ErrorKind::timeout, "never mind");
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::timeout);
  EXPECT_EQ(failed.error().for_log, "never mind");
  EXPECT_EQ(stored("job_1"), before);
  EXPECT_THAT(stored_tasks("job_1", StepKind::read), SizeIs(2));
  EXPECT_EQ(stored("job_2"), std::nullopt);
  EXPECT_THAT(stored_tasks("job_2", StepKind::split), IsEmpty());
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.keys(); }).value(), IsEmpty());
}

TEST_P(LedgerConformance, AnErrorIsItsOwnTransactionsAlone) {
  constexpr int jobs = 60;
  std::vector<std::promise<Status>> ended(jobs);
  for (int i = 0; i < jobs; ++i) {  // all queued before any has ended: databases may put them together
    database_->run(
        Database::Access::write,
        [this, i](Ledger& ledger) -> Status {
          if (auto done = submit(ledger, policy_, request("job_" + std::to_string(i))); !done) {
            return std::unexpected(done.error());
          }
          return i % 3 == 0 ? Status(fail(ErrorKind::timeout, "no")) : Status();
        },
        [&ended, i](Status status) { ended[static_cast<std::size_t>(i)].set_value(std::move(status)); });
  }
  for (int i = 0; i < jobs; ++i) {
    const Status status = ended[static_cast<std::size_t>(i)].get_future().get();
    EXPECT_EQ(status.has_value(), i % 3 != 0);
    EXPECT_EQ(stored("job_" + std::to_string(i)).has_value(), i % 3 != 0);
  }
  EXPECT_THAT(claim_some("w", jobs), SizeIs(jobs * 2 / 3));
}

TEST_P(LedgerConformance, OneMomentForTheWholeTransaction) {
  const auto wall = [] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  const Millis before = wall();
  const auto moments = must([&](Ledger& ledger) -> Result<std::pair<Millis, Millis>> {
    const Millis first = ledger.now();
    std::ignore = ledger.insert_job(accept(request("job_1"), first, policy_).view);
    while (wall() <= first + 2) {  // the wall's clock moves on
    }
    return std::pair(first, ledger.now());
  });
  EXPECT_EQ(moments.first, moments.second);
  EXPECT_GE(moments.first, before - 1);
  EXPECT_LE(moments.first, wall() + 1);
}

TEST_P(LedgerConformance, ListenersHearOfCommitsAndOfNothingElse) {
  Ear ear;
  ear.listen_to(*database_);
  ear.forget();  // a database may give a hint when somebody begins to listen
  must([](Ledger& ledger) -> Status {
    ledger.tell_watchers("job_7");
    return {};
  });
  EXPECT_TRUE(ear.await({"job_7"}));
  must([](Ledger& ledger) -> Status {
    ledger.tell_workers();
    return {};
  });
  EXPECT_TRUE(ear.await({"work"}));
  const auto failed = write([](Ledger& ledger) -> Status {
    ledger.tell_watchers("job_8");
    return fail(ErrorKind::timeout, "no");
  });
  EXPECT_FALSE(failed);
  submit_job(request("job_9"));
  EXPECT_TRUE(ear.await({"job_9"}));
  EXPECT_THAT(ear.heard(), testing::Not(Contains("job_8")));
  database_->listen({});
}

TEST_P(LedgerConformance, TheDestructorWaitsForWhatWasSubmitted) {
  std::atomic<int> ended = 0;
  for (int i = 0; i < 50; ++i) {
    database_->run(
        Database::Access::write,
        [this, i](Ledger& ledger) -> Status {
          auto done = submit(ledger, policy_, request("job_" + std::to_string(i)));
          return done ? Status() : std::unexpected(done.error());
        },
        [&ended](const Status& status) {
          EXPECT_TRUE(status);
          ++ended;
        });
  }
  database_.reset();
  EXPECT_EQ(ended, 50);
}

TEST_P(LedgerConformance, SubmittingTheSameAtOnceMakesOneJob) {
  std::atomic<int> made = 0;
  std::mutex mutex;
  std::set<std::string> ids;
  at_once(8, [&](int i) {
    NewJob wanted = request("job_" + std::to_string(i));
    wanted.idempotency_key = "key";
    for (;;) {  // a lost race is a conflict, once
      auto done = write([&](Ledger& ledger) { return submit(ledger, policy_, wanted); });
      if (!done) {
        EXPECT_EQ(done.error().kind, ErrorKind::conflict) << done.error().for_log;
        continue;
      }
      made += done->existed ? 0 : 1;
      const std::lock_guard lock(mutex);
      ids.insert(done->job.job.request.id);
      return;
    }
  });
  EXPECT_EQ(made, 1);
  EXPECT_THAT(ids, SizeIs(1));
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.jobs({}); }).value(), SizeIs(1));
}

TEST_P(LedgerConformance, NoTaskIsGivenToTwo) {
  constexpr int pages = 200;
  job_with_pages(request("job_1"), pages);
  std::mutex mutex;
  std::multiset<std::int64_t> claimed;
  at_once(4, [&](int i) {
    const ClaimRequest wanted{.worker = "w" + std::to_string(i), .kinds = all_steps, .room = 7};
    for (int misses = 0; misses < 20;) {  // others may have what is left locked for a moment
      const auto leased = write([&](Ledger& ledger) { return claim(ledger, policy_, wanted); });
      ASSERT_TRUE(leased) << leased.error().for_log;
      misses = leased->empty() ? misses + 1 : 0;
      const std::lock_guard lock(mutex);
      for (const Leased& one : *leased) claimed.insert(one.task.id);
    }
  });
  EXPECT_THAT(claimed, SizeIs(pages));
  EXPECT_EQ(std::set(claimed.begin(), claimed.end()).size(), static_cast<std::size_t>(pages));
}

TEST_P(LedgerConformance, CommitsOfOneJobAtOnceCountEachPageOnce) {
  constexpr int pages = 120;
  constexpr int threads = 6;
  job_with_pages(request("job_1"), pages);
  const auto tasks = claim_some("w", pages);
  ASSERT_THAT(tasks, SizeIs(pages));
  at_once(threads, [&](int i) {
    for (int n = i; n < pages; n += threads) {
      const Outcome outcome = ended(tasks[static_cast<std::size_t>(n)]);
      const auto done = write([&](Ledger& ledger) { return commit_tasks(ledger, policy_, std::span(&outcome, 1)); });
      ASSERT_TRUE(done) << done.error().for_log;
      EXPECT_THAT(*done, Each(Verdict::accepted));
    }
  });
  const JobView view = stored("job_1").value();
  EXPECT_EQ(view.job.pages.ok, pages);
  EXPECT_THAT(stored_tasks("job_1", StepKind::assemble), SizeIs(1));
  expect_whole_story(stored_events("job_1"), view);
}

TEST_P(LedgerConformance, BatchesOverManyJobsAtOnceAllEnd) {
  constexpr int jobs = 6;
  constexpr int pages = 12;
  for (int i = 0; i < jobs; ++i) job_with_pages(request("job_" + std::to_string(i)), pages);
  const auto tasks = claim_some("w", jobs * pages);
  ASSERT_THAT(tasks, SizeIs(jobs * pages));
  // Each thread commits a page of every job at a time, half of them in the other order, while leases are renewed.
  at_once(4, [&](int thread) {
    for (int number = thread; number < pages; number += 4) {
      std::vector<Outcome> outcomes;
      std::vector<Held> held;
      for (const Task& task : tasks) {
        if (task.number == number + 1) outcomes.push_back(ended(task));
        held.push_back({task.id, task.token});
      }
      if (thread % 2 == 1) std::ranges::reverse(outcomes);
      if (thread % 2 == 1) std::ranges::reverse(held);
      const auto kept = write([&](Ledger& ledger) { return renew(ledger, policy_, held); });
      ASSERT_TRUE(kept) << kept.error().for_log;
      const auto done = write([&](Ledger& ledger) { return commit_tasks(ledger, policy_, outcomes); });
      ASSERT_TRUE(done) << done.error().for_log;
      EXPECT_THAT(*done, Each(Verdict::accepted));
    }
  });
  finish_everything();
  for (int i = 0; i < jobs; ++i) {
    const JobView view = stored("job_" + std::to_string(i)).value();
    EXPECT_EQ(view.job.phase, Phase::succeeded);
    EXPECT_EQ(view.job.pages.ok, pages);
    expect_whole_story(stored_events(view.job.request.id), view);
  }
}

TEST_P(LastingConformance, WhatWasCommittedIsThereAfterwards) {
  job_with_pages(request("job_1"), 3);
  const auto task = claim_some("w", 1).at(0);
  const JobView before = stored("job_1").value();
  const auto events = stored_events("job_1");
  database_.reset();
  database_ = storage_->open();
  EXPECT_EQ(stored("job_1"), before);
  EXPECT_EQ(stored_events("job_1"), events);
  EXPECT_EQ(commit_one(task, ended(task)), Verdict::accepted) << "a lease outlives the process that gave it";
  finish_everything();
  EXPECT_EQ(stored("job_1")->job.phase, Phase::succeeded);
}

TEST_P(LastingConformance, TwoDatabasesOnOnePlace) {
  const auto other = storage_->open();
  Ear ear;
  ear.listen_to(*other);
  ear.forget();
  submit_job(request("job_1"));
  EXPECT_TRUE(ear.await({"work"}));
  EXPECT_TRUE(ear.await({"job_1", "any job"}));
  EXPECT_EQ(transact(*other, Database::Access::read, [](Ledger& ledger) { return ledger.job("job_1"); }).value(),
            stored("job_1"));

  // Both work on the same pages; each page goes to one of them.
  job_with_pages(request("job_2"), 100);
  std::mutex mutex;
  std::multiset<std::int64_t> claimed;
  at_once(2, [&](int i) {
    Database& mine = i == 0 ? *database_ : *other;
    const ClaimRequest wanted{.worker = "w" + std::to_string(i), .kinds = {StepKind::read}, .room = 5};
    for (int misses = 0; misses < 10;) {
      const auto leased =
          transact(mine, Database::Access::write, [&](Ledger& ledger) { return claim(ledger, policy_, wanted); });
      ASSERT_TRUE(leased) << leased.error().for_log;
      misses = leased->empty() ? misses + 1 : 0;
      std::vector<Outcome> outcomes;
      for (const Leased& one : *leased) outcomes.push_back(ended(one.task));
      const auto done = transact(mine, Database::Access::write,
                                 [&](Ledger& ledger) { return commit_tasks(ledger, policy_, outcomes); });
      ASSERT_TRUE(done) << done.error().for_log;
      const std::lock_guard lock(mutex);
      for (const Leased& one : *leased) claimed.insert(one.task.id);
    }
  });
  EXPECT_EQ(std::set(claimed.begin(), claimed.end()).size(), 100U);
  EXPECT_EQ(stored("job_2")->job.pages.ok, 100);
  other->listen({});
}

}  // namespace
}  // namespace lectern::job
