// What is old goes from the real stores, and nothing else does.
#include <boost/asio/io_context.hpp>
#include <gmock/gmock.h>

#include "job/open_blobs.h"
#include "job/request.h"
#include "job/retention.h"
#include "job/store.h"
#include "run_coroutine.h"
#include "servers/postgres_server.h"
#include "servers/s3_server.h"
#include "temp_folder.h"

namespace lectern::job {
namespace {

using testing::IsEmpty;

enum class Stores { one_machine, team };

class RetentionOfStores : public testing::TestWithParam<Stores> {
 protected:
  RetentionOfStores() {
    const bool team = GetParam() == Stores::team;
    std::string database;
    std::string blobs;
    if (team) {
      database = test::shared_postgres().url(test::shared_postgres().new_database());
      blobs = test::shared_s3().url(test::shared_s3().new_prefix());
    }
    store_ = std::make_unique<Store>(open_database(database, folder_.path()).value(), Policy{}, timers_);
    BlobsSeams seams{.http = std::make_shared<provider::HttpClient>(loop_.get_executor()),
                     .executor = loop_.get_executor(),
                     .timers = &timers_};
    if (team) seams.environment = [](const std::string& name) { return test::shared_s3().environment(name); };
    blobs_ = open_blobs(blobs, folder_.path(), std::move(seams)).value();
  }

  template <class T>
  T run(boost::asio::awaitable<T> work) {
    return run_coroutine(loop_, std::move(work));
  }
  void put(const std::string& key) { ASSERT_TRUE(run(blobs_->put(key, "bytes", PutMode::create_only))); }
  // A job of two pages with all that belongs to it. `over`: from its split to its end.
  void add(const std::string& id, bool over) {
    put(original_key(id));
    ASSERT_TRUE(run(store_->submit({.id = id, .source = original_key(id), .sha256 = "same for all"})));
    while (over) {
      const ClaimRequest all{.worker = "w", .kinds = {StepKind::split, StepKind::read, StepKind::assemble}, .room = 10};
      const auto tasks = run(store_->claim(all)).value();
      if (tasks.empty()) break;
      for (const Task& task : tasks) {
        Outcome outcome{.task = task.id, .token = task.token, .page = PageOutcome::ok};
        if (task.kind == StepKind::split) outcome.pages = {1, 2};
        if (task.kind == StepKind::read) put(outcome.result = page_key(id, task.number, task.token));
        if (task.kind == StepKind::assemble) put(result_key(task, "md"));
        ASSERT_TRUE(run(store_->commit({outcome})));
      }
    }
    put(page_image_key(id, 1));
  }
  std::vector<std::string> keys() {
    std::vector<std::string> keys;
    for (const BlobInfo& blob : run(blobs_->list("jobs/", "", 1000))->blobs) keys.push_back(blob.key);
    return keys;
  }
  Millis a_later_moment(Millis than) {  // by the store's own clock, without waiting for more than a millisecond
    for (;;) {
      if (const Millis now = run(store_->now()).value(); now > than) return now;
    }
  }

  TempFolder folder_;
  SystemTimers timers_;
  boost::asio::io_context loop_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<Blobs> blobs_;
};

TEST_P(RetentionOfStores, AnOldJobGoesWithItsBytesAndAYoungerOneOfTheSameDocumentStays) {
  add("old", true);
  const Millis ended = *(*run(store_->job("old")))->job.finished_at;
  const Millis before = a_later_moment(ended);
  add("open", false);
  run(store_->cancel("open", "so that the next one is first")).value();
  add("young", true);
  put("inbox/mine.pdf");
  const Task assembled = run(store_->tasks("young", StepKind::assemble, 1, 1))->front();
  const std::vector<std::string> of_young = {original_key("young"), page_image_key("young", 1), page_key("young", 1, 1),
                                             page_key("young", 2, 1), result_key(assembled, "md")};
  Retention retention(*store_, *blobs_);
  const auto removed = run(retention.remove_old_jobs(before, {})).value();
  EXPECT_EQ(removed.jobs, 1);
  EXPECT_EQ(removed.blobs, 5);
  EXPECT_FALSE(*run(store_->job("old")));
  EXPECT_THAT(run(store_->events("old", 0, 100)).value(), IsEmpty());
  EXPECT_THAT(run(store_->tasks("old", StepKind::read, 1, 10)).value(), IsEmpty());
  EXPECT_TRUE(*run(store_->job("young")));
  std::vector<std::string> left = of_young;
  left.insert(left.end(), {original_key("open"), page_image_key("open", 1)});
  EXPECT_THAT(keys(), testing::UnorderedElementsAreArray(left));

  // Once more there is nothing to do; and what belongs to no job goes, but for what is not ours.
  EXPECT_EQ(run(retention.remove_old_jobs(before, {}))->jobs, 0);
  put(original_key("never"));
  const Millis later = run(store_->now()).value() + 3'600'000;
  const auto orphans = run(retention.remove_orphans(later, {})).value();
  EXPECT_EQ(orphans.orphans, 1);
  EXPECT_THAT(keys(), testing::UnorderedElementsAreArray(left));
  EXPECT_TRUE(run(blobs_->head("inbox/mine.pdf")));
}

INSTANTIATE_TEST_SUITE_P(Stores, RetentionOfStores, testing::Values(Stores::one_machine, Stores::team),
                         [](const auto& info) { return info.param == Stores::one_machine ? "OneMachine" : "Team"; });

}  // namespace
}  // namespace lectern::job
