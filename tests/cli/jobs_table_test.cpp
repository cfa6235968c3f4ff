#include "cli/jobs_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "service/api/job_json.h"

namespace lectern::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

job::JobView a_job() {
  job::JobView view;
  view.job.request = {.id = "job_1", .document = "report.pdf", .options = R"({"lang":"por"})"};
  view.job.phase = job::Phase::running;
  view.job.pages_total = 10;
  view.job.pages = {.ok = 3, .fallback = 1, .failed = 2};
  view.job.created_at = 1'763'185'775'123;
  view.steps = {{.job = "job_1", .kind = job::StepKind::split, .phase = job::Phase::succeeded, .done = 1, .total = 1},
                {.job = "job_1", .kind = job::StepKind::read, .phase = job::Phase::running, .done = 6, .total = 10},
                {.job = "job_1", .kind = job::StepKind::assemble}};
  return view;
}
std::string json_of(const job::JobView& view) {
  return service::job_json(view, std::nullopt);
}

TEST(JobsTable, ARowHasWhatTheApiSays) {
  const auto row = job_row(json_of(a_job()));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->id, "job_1");
  EXPECT_EQ(row->status, "running");
  EXPECT_EQ(row->step, "read");
  EXPECT_EQ(row->document, "report.pdf");
  EXPECT_EQ(row->pages_done(), 6);
  EXPECT_EQ(row->pages_total, 10);
  EXPECT_FALSE(row->over());
}

TEST(JobsTable, APageHasItsRowsAndTheNext) {
  const auto page = job_page(service::jobs_json({a_job(), a_job()}, "job_1"));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->rows.size(), 2U);
  EXPECT_EQ(page->next, "job_1");
  EXPECT_EQ(job_page(service::jobs_json({}, ""))->next, "");
}

TEST(JobsTable, AnotherServersAnswerIsRefused) {
  for (const char* text : {"", "<html>", "{}", "[]", R"({"jobs":1})"}) {
    EXPECT_FALSE(job_page(text)) << text;
    EXPECT_FALSE(job_row(text)) << text;
    EXPECT_FALSE(job_story(text, {})) << text;
  }
}

TEST(JobsTable, ColumnsAreAlignedAndFitTheTerminal) {
  job::JobView view = a_job();
  view.job.request.document =
      "a name that is much longer than any terminal has columns \u00e9\u00e9\u00e9\u00e9\u00e9\u00e9.pdf";
  const auto rows = job_page(service::jobs_json({a_job(), view}, ""))->rows;
  const std::string table = jobs_table(rows, 80);
  EXPECT_THAT(table, HasSubstr("JOB    STATUS   STEP  PAGES  CREATED         DOCUMENT\n"));
  EXPECT_THAT(table, HasSubstr("job_1  running  read  6/10   11-15 05:49:35  report.pdf"));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(JobsTable, ANameCannotCommandTheTerminal) {
  job::JobView view = a_job();
  view.job.request.document = "a\x1b[2J\nb.pdf";
  const auto row = job_row(json_of(view));
  EXPECT_THAT(jobs_table({*row}, 100), Not(HasSubstr("\x1b")));
  EXPECT_THAT(job_line(*row), Not(HasSubstr("\x1b")));
  EXPECT_THAT(*job_story(json_of(view), {}), Not(HasSubstr("\x1b")));
}

TEST(JobsTable, ALineSaysHowFarItIs) {
  EXPECT_EQ(job_line(*job_row(json_of(a_job()))),
            "job_1 running: read, 6 of 10 pages, 1 fallback, 2 failed  report.pdf");
  job::JobView failed = a_job();
  failed.job.phase = job::Phase::failed;
  failed.job.error = "is torn";
  failed.job.pages = {};
  failed.job.pages_total = 0;
  EXPECT_EQ(job_line(*job_row(json_of(failed))), "job_1 failed, is torn  report.pdf");
}

TEST(JobsTable, AStoryHasStepsAndEvents) {
  const job::Event event{
      .job = "job_1", .number = 7, .at = 1'763'185'775'123, .kind = "page.done", .data = R"({"page":3})"};
  const auto story = job_story(json_of(a_job()), {service::events_json({event}, false)});
  ASSERT_TRUE(story);
  EXPECT_THAT(*story, HasSubstr("pages      6 of 10: 3 ok, 1 fallback, 2 failed\n"));
  EXPECT_THAT(*story, HasSubstr("options    {\"lang\":\"por\"}\n"));
  EXPECT_THAT(*story, HasSubstr("  read      running    6/10\n"));
  EXPECT_THAT(*story, HasSubstr("      7  11-15 05:49:35  page.done        {\"page\":3}\n"));
}

}  // namespace
}  // namespace lectern::cli
