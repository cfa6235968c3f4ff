// Ledger's calls about jobs, events and keys.
#include <gmock/gmock.h>

#include "job/ledger_conformance.h"

namespace lectern::job {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> ids_of(const std::vector<JobView>& jobs) {
  std::vector<std::string> ids;
  for (const JobView& view : jobs) ids.push_back(view.job.request.id);
  return ids;
}

// Every field is something else than its default; the text has what breaks careless quoting.
JobView full_job() {
  const std::string text = "it's \"quoted\" \\ {a,b} $1 ?\n\t é 字 🙂 NULL";
  Job job{.request = {.id = "job_full",
                      .tenant = "tenant " + text,
                      .operation = "ocr",
                      .priority = -7,
                      .document = text,
                      .source = "jobs/job_full/original",
                      .sha256 = "abc",
                      .bytes = 9'876'543'210,
                      .options = R"({"pages":"1-3"})",
                      .secret = R"({"password":"'"})",
                      .webhook = "https://example.org/hook",
                      .deadline = 1'900'000'000'001,
                      .idempotency_key = "key " + text,
                      .fingerprint = "print"},
          .phase = Phase::running,
          .pages = {.ok = 1, .fallback = 2, .failed = 3},
          .pages_total = 12,
          .info = R"({"a":1})",
          .result = R"({"md":"k"})",
          .error = text,
          .error_code = "too_many",
          .created_at = 1'800'000'000'002,
          .started_at = 1'800'000'000'003,
          .finished_at = 1'800'000'000'004,
          .event_count = 5,
          .round = 6};
  std::vector<Step> steps;
  for (const StepKind kind : all_steps) {
    steps.push_back({.job = "job_full",
                     .kind = kind,
                     .phase = Phase::failed,
                     .done = 7,
                     .total = 8,
                     .error = text,
                     .started_at = 9,
                     .finished_at = 10});
  }
  return {.job = job, .steps = steps};
}

TEST_P(LedgerConformance, JobComesBackAsItWasWritten) {
  const JobView full = full_job();
  must([&](Ledger& ledger) { return ledger.insert_job(full); });
  EXPECT_EQ(stored("job_full"), full);
  EXPECT_EQ(must([](Ledger& ledger) { return ledger.lock_job("job_full"); }), full);
  const JobView plain = add_job("job_plain");
  EXPECT_EQ(stored("job_plain"), plain);
}

TEST_P(LedgerConformance, UpdateWritesTheRowAndItsSteps) {
  add_job("job_full", [](JobView& view) { view.job.request.webhook = "https://example.org"; });
  JobView changed = stored("job_full").value();
  ASSERT_EQ(changed.steps.size(), 3U);  // made without a webhook
  const JobView full = full_job();
  changed.job.phase = full.job.phase;
  changed.job.pages = full.job.pages;
  changed.job.pages_total = full.job.pages_total;
  changed.job.info = full.job.info;
  changed.job.result = full.job.result;
  changed.job.error = full.job.error;
  changed.job.error_code = full.job.error_code;
  changed.job.started_at = full.job.started_at;
  changed.job.finished_at = full.job.finished_at;
  changed.job.event_count = full.job.event_count;
  changed.job.round = full.job.round;
  changed.job.request.secret = "wiped";
  for (std::size_t i = 0; i < changed.steps.size(); ++i) changed.steps[i] = full.steps[i];
  must([&](Ledger& ledger) { return ledger.update_job(changed); });
  EXPECT_EQ(stored("job_full"), changed);
  changed.job.finished_at.reset();
  changed.steps[1].finished_at.reset();
  must([&](Ledger& ledger) { return ledger.update_job(changed); });
  EXPECT_EQ(stored("job_full"), changed);
}

TEST_P(LedgerConformance, AJobThatIsNotThereIsNone) {
  EXPECT_EQ(stored("job_none"), std::nullopt);
  EXPECT_EQ(must([](Ledger& ledger) { return ledger.lock_job("job_none"); }), std::nullopt);
}

TEST_P(LedgerConformance, SeveralJobsByTheirIds) {
  for (const std::string id : {"job_1", "job_2", "job_3"}) add_job(id);
  const std::vector<std::string> some = {"job_1", "job_3", "job_none"};
  EXPECT_THAT(ids_of(read([&](Ledger& ledger) { return ledger.jobs_by_id(some); }).value()),
              ElementsAre("job_1", "job_3"));
  const auto locked = must([&](Ledger& ledger) { return ledger.lock_jobs(some); });
  EXPECT_THAT(locked, ElementsAre(stored("job_1").value(), stored("job_3").value()));
  EXPECT_THAT(must([](Ledger& ledger) { return ledger.lock_jobs({}); }), IsEmpty());
}

TEST_P(LedgerConformance, TheSameIdIsRefused) {
  const JobView first = add_job("job_1");
  const auto again = write([&](Ledger& ledger) {
    JobView other = first;
    other.job.request.document = "other.pdf";
    return ledger.insert_job(other);
  });
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
  EXPECT_EQ(stored("job_1"), first);
}

TEST_P(LedgerConformance, AnIdempotencyKeyIsUniqueWithinATenant) {
  const auto with_key = [](std::string tenant) {
    return [tenant](JobView& view) {
      view.job.request.tenant = tenant;
      view.job.request.idempotency_key = "key";
    };
  };
  const JobView first = add_job("job_1", with_key("a"));
  add_job("job_2", with_key("b"));
  add_job("job_3");
  add_job("job_4");  // no key twice is no conflict
  JobView clash = first;
  clash.job.request.id = "job_5";
  const auto refused = write([&](Ledger& ledger) { return ledger.insert_job(clash); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
  const auto find = [&](std::string tenant, std::string key) {
    return read([=](Ledger& ledger) { return ledger.job_by_idempotency_key(tenant, key); }).value();
  };
  EXPECT_EQ(find("a", "key"), first);
  EXPECT_EQ(find("b", "key")->job.request.id, "job_2");
  EXPECT_EQ(find("c", "key"), std::nullopt);
  EXPECT_EQ(find("a", "other"), std::nullopt);
}

TEST_P(LedgerConformance, JobsAreListedNewestFirstAPageAtATime) {
  for (int i = 1; i <= 7; ++i) {
    add_job("job_" + std::to_string(i), [i](JobView& view) {
      view.job.request.tenant = i % 2 == 0 ? "even" : "odd";
      view.job.phase = i <= 3 ? Phase::succeeded : Phase::queued;
    });
  }
  const auto list = [&](JobFilter filter) {
    return ids_of(read([&](Ledger& ledger) { return ledger.jobs(filter); }).value());
  };
  EXPECT_THAT(list({.limit = 3}), ElementsAre("job_7", "job_6", "job_5"));
  EXPECT_THAT(list({.before = "job_5", .limit = 3}), ElementsAre("job_4", "job_3", "job_2"));
  EXPECT_THAT(list({.before = "job_2", .limit = 3}), ElementsAre("job_1"));
  EXPECT_THAT(list({.before = "job_1"}), IsEmpty());
  EXPECT_THAT(list({.tenant = "odd"}), ElementsAre("job_7", "job_5", "job_3", "job_1"));
  EXPECT_THAT(list({.phase = Phase::succeeded}), ElementsAre("job_3", "job_2", "job_1"));
  EXPECT_THAT(list({.tenant = "even", .phase = Phase::queued, .before = "job_6", .limit = 1}), ElementsAre("job_4"));
  EXPECT_THAT(list({.tenant = "nobody"}), IsEmpty());
  const auto whole = read([](Ledger& ledger) { return ledger.jobs({.before = "job_2"}); }).value();
  EXPECT_EQ(whole.at(0), stored("job_1"));
}

TEST_P(LedgerConformance, DeadlinesThatHavePassed) {
  const auto with = [](std::optional<Millis> deadline, Phase phase) {
    return [=](JobView& view) {
      view.job.request.deadline = deadline;
      view.job.phase = phase;
    };
  };
  add_job("job_1", with(1000, Phase::queued));
  add_job("job_2", with(2000, Phase::running));
  add_job("job_3", with(1000, Phase::succeeded));
  add_job("job_4", with(std::nullopt, Phase::queued));
  add_job("job_5", with(500, Phase::queued));
  const auto passed = [&](Millis at, int limit) {
    return read([&](Ledger& ledger) { return ledger.jobs_past_deadline(at, limit); }).value();
  };
  EXPECT_THAT(passed(499, 10), IsEmpty());
  EXPECT_THAT(passed(1999, 10), testing::UnorderedElementsAre("job_1", "job_5"));
  EXPECT_THAT(passed(2000, 10), testing::UnorderedElementsAre("job_1", "job_2", "job_5"));
  EXPECT_EQ(passed(2000, 2).size(), 2U);
}

TEST_P(LedgerConformance, JobsThatWereOverLongAgo) {
  const auto over_at = [](Millis at, Phase delivered) {
    return [=](JobView& view) {
      view.job.phase = Phase::succeeded;
      view.job.finished_at = at;
      for (Step& step : view.steps) step.phase = Phase::succeeded;
      view.steps.push_back({.job = view.job.request.id, .kind = StepKind::deliver, .phase = delivered});
    };
  };
  add_job("job_1", over_at(300, Phase::succeeded));
  add_job("job_2", over_at(100, Phase::failed));
  add_job("job_3", over_at(200, Phase::succeeded));
  add_job("job_4", over_at(50, Phase::queued));  // its webhook still waits
  add_job("job_5");
  const auto before = [&](Millis at, int limit) {
    return read([&](Ledger& ledger) { return ledger.jobs_finished_before(at, limit); }).value();
  };
  EXPECT_THAT(before(1000, 10), ElementsAre("job_2", "job_3", "job_1"));
  EXPECT_THAT(before(300, 10), ElementsAre("job_2", "job_3"));
  EXPECT_THAT(before(1000, 1), ElementsAre("job_2"));
  EXPECT_THAT(before(50, 10), IsEmpty());
}

TEST_P(LedgerConformance, RemovingAJobLeavesNothingOfIt) {
  for (const std::string id : {"job_1", "job_2"}) {
    job_with_pages(request(id), 3);
    EXPECT_EQ(stored_tasks(id, StepKind::read).size(), 3U);
  }
  must([](Ledger& ledger) { return ledger.remove_job("job_1"); });
  EXPECT_EQ(stored("job_1"), std::nullopt);
  EXPECT_THAT(stored_tasks("job_1", StepKind::split), IsEmpty());
  EXPECT_THAT(stored_tasks("job_1", StepKind::read), IsEmpty());
  EXPECT_THAT(stored_events("job_1"), IsEmpty());
  EXPECT_EQ(stored_tasks("job_2", StepKind::read).size(), 3U);
  expect_whole_story(stored_events("job_2"), stored("job_2").value());
  must([](Ledger& ledger) { return ledger.remove_job("job_1"); });  // absent is fine
  const JobView anew = add_job("job_1");
  EXPECT_EQ(stored("job_1"), anew);
}

TEST_P(LedgerConformance, EventsComeInOrderAfterANumber) {
  std::vector<Event> events;
  for (int i = 1; i <= 5; ++i) {
    events.push_back({.job = "job_1", .number = i, .at = 1000 + i, .kind = "page.done", .data = R"({"a":"ü\"'\\"})"});
  }
  const Event foreign{.job = "job_2", .number = 1, .at = 7, .kind = "job.queued", .data = "{}"};
  must([&](Ledger& ledger) { return ledger.insert_events(events); });
  must([&](Ledger& ledger) { return ledger.insert_events(std::span(&foreign, 1)); });
  const auto get = [&](std::string job, std::int64_t after, int limit) {
    return read([=](Ledger& ledger) { return ledger.events(job, after, limit); }).value();
  };
  EXPECT_EQ(get("job_1", 0, 10), events);
  EXPECT_THAT(get("job_1", 2, 2), ElementsAre(events[2], events[3]));
  EXPECT_THAT(get("job_1", 5, 10), IsEmpty());
  EXPECT_THAT(get("job_2", 0, 10), ElementsAre(foreign));
  EXPECT_THAT(get("job_3", 0, 10), IsEmpty());
}

TEST_P(LedgerConformance, Keys) {
  const ApiKey later{
      .id = "key_a", .name = "it's", .tenant = "t", .sha256 = "s1", .scopes = "submit read", .created_at = 20};
  const ApiKey earlier{
      .id = "key_b", .name = "n", .sha256 = "s2", .scopes = "admin", .created_at = 10, .revoked_at = 15};
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.keys(); }).value(), IsEmpty());
  must([&](Ledger& ledger) { return ledger.insert_key(later); });
  must([&](Ledger& ledger) { return ledger.insert_key(earlier); });
  const auto again = write([&](Ledger& ledger) { return ledger.insert_key(later); });
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::conflict);
  EXPECT_THAT(read([](Ledger& ledger) { return ledger.keys(); }).value(), ElementsAre(earlier, later));
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.key_by_sha256("s1"); }).value(), later);
  EXPECT_EQ(read([](Ledger& ledger) { return ledger.key_by_sha256("s3"); }).value(), std::nullopt);

  const auto revoke = [&](std::string id, Millis at) {
    return must([=](Ledger& ledger) { return ledger.revoke_key(id, at); });
  };
  EXPECT_TRUE(revoke("key_a", 30));
  EXPECT_TRUE(revoke("key_a", 40));
  EXPECT_FALSE(revoke("key_none", 30));
  const auto revoked = read([](Ledger& ledger) { return ledger.key_by_sha256("s1"); }).value();
  EXPECT_EQ(revoked->revoked_at, 30) << "the first time counts";
}

}  // namespace
}  // namespace lectern::job
