// Runs whose pages a model reads: what is counted, streamed, and stopped by a budget.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "fake_run.h"
#include "reading/manifest.h"

namespace lectern::reading {
namespace {

using testing::HasSubstr;

class ModelRunTest : public RunTest {
 protected:
  ModelRunTest() { reader_.model = "qwen"; }
};

TEST_F(ModelRunTest, FallenBackPagesAreCountedApart) {
  options_.output_folder = out();
  add("a.pdf", "4 fox");
  reader_.fallen_back = {2};
  reader_.failing = {3};
  const RunReport report = run_well();
  EXPECT_EQ(report.pages_ok, 2);
  EXPECT_EQ(report.pages_fallback, 1);
  EXPECT_EQ(report.pages_failed, 1);
  EXPECT_EQ(report.spent, (Spent{.tokens = {330, 0}}));
  auto manifest = Manifest::load(real_disk(), system_clock(), out() / "manifest.jsonl");
  ASSERT_TRUE(manifest);
  const auto rows = (*manifest)->records("a.pdf");
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].state, PageState::ok);
  EXPECT_EQ(rows[0].model, "qwen");
  EXPECT_EQ(rows[0].tokens, (Tokens{100, 10}));
  EXPECT_EQ(rows[1].state, PageState::fallback);
  EXPECT_EQ(rows[1].reader, "builtin") << "by whom";
  EXPECT_EQ(rows[1].reason, "it is away") << "and why";
  EXPECT_EQ(rows[2].state, PageState::failed);

  EXPECT_EQ(run_well().pages_read, 0);
  options_.retry_failed = true;
  EXPECT_EQ(run_well().pages_read, 2) << "what failed or fell back";
}

TEST_F(ModelRunTest, AModelsMarkdownIsPutOutAsItIs) {
  add("a.pdf", "3 fox");
  reader_.fallen_back = {2};
  run_well();
  EXPECT_EQ(output_, "**Page** 1 about the fox\n\nPage 2 about the fox.\n\n**Page** 3 about the fox\n");
  options_.format = OutputFormat::text;
  run_well();
  EXPECT_EQ(output_, "Page 1 about the fox.\n\nPage 2 about the fox.\n\nPage 3 about the fox.\n");
}

TEST_F(ModelRunTest, ABudgetStopsTheRunAndAHigherOneGoesOn) {
  options_.output_folder = out();
  options_.pages_in_flight_max = 1;
  add("a.pdf", "10 fox");
  options_.budget.tokens_max = 300;
  const RunReport first = run_well();
  EXPECT_TRUE(first.stopped && first.budget_spent);
  EXPECT_EQ(first.pages_read, 3) << "330 tokens: the page that reached the limit is finished and kept";
  EXPECT_FALSE(std::filesystem::exists(out() / "a.md"));
  EXPECT_EQ(events_.lines.back(), "done a.pdf stopped ok=3 failed=0 read=3");

  options_.budget.tokens_max = 10'000;
  const RunReport second = run_well();
  EXPECT_FALSE(second.stopped);
  EXPECT_EQ(second.pages_read, 7);
  EXPECT_THAT(slurp(out() / "a.md"), HasSubstr("**Page** 10 about the fox"));
}

TEST_F(ModelRunTest, PagesInFlightFinishWhenTheBudgetIsReached) {
  options_.output_folder = out();
  options_.pages_in_flight_max = 4;
  reader_.gather = 4;
  add("a.pdf", "10 fox");
  options_.budget.tokens_max = 1;
  const RunReport report = run_well();
  EXPECT_TRUE(report.budget_spent);
  EXPECT_EQ(report.pages_read, 4);
}

TEST_F(ModelRunTest, ABudgetThatSufficesStopsNothing) {
  add("a.pdf", "3 fox");
  options_.pages_in_flight_max = 1;
  options_.budget.tokens_max = 330;
  const RunReport report = run_well();
  EXPECT_FALSE(report.stopped) << "it is reached with the last page, and no page is refused";
  EXPECT_EQ(report.pages_ok, 3);
}

TEST(Budget, TokensAndCost) {
  EXPECT_FALSE(reached({}, {.tokens = {1'000'000, 1}, .cost = 99}));
  EXPECT_TRUE(reached({.tokens_max = 100}, {.tokens = {60, 40}}));
  EXPECT_FALSE(reached({.tokens_max = 100}, {.tokens = {60, 39}}));
  EXPECT_TRUE(reached({.cost_max = 0.5}, {.cost = 0.5}));
  EXPECT_FALSE(reached({.cost_max = 0.5}, {})) << "without prices there is no cost";
}

TEST_F(ModelRunTest, TheWindowFollowsWhatTheFleetCanTake) {
  int limit = 1;
  options_.pages_in_flight_max = 8;
  options_.pages_in_flight = [&limit] { return limit; };
  reader_.after_page = [&limit](int) { limit = 3; };
  add("a.pdf", "40 fox");
  run_well();
  EXPECT_EQ(reader_.in_flight_most, 3);
}

TEST_F(ModelRunTest, StreamedPagesComeInOrderAsTheirPrefixIsThere) {
  options_.stream = true;
  add("a.pdf", "9 fox");
  add("b.pdf", "2 hen");
  options_.pages_in_flight_max = 5;
  run_well();
  const std::string parallel = output_;
  EXPECT_THAT(parallel, testing::StartsWith("<!-- document: a.pdf -->\n\n**Page** 1 about the fox\n\n**Page** 2"));
  EXPECT_THAT(parallel,
              HasSubstr("**Page** 9 about the fox\n\n<!-- document: b.pdf -->\n\n**Page** 1 about the hen\n"));
  options_.pages_in_flight_max = 1;
  run_well();
  EXPECT_EQ(output_, parallel);
  options_.stream = false;
  run_well();
  EXPECT_EQ(output_, parallel) << "a model's pages need nothing from the rest of their document";
}

TEST_F(ModelRunTest, WhatIsThereIsStreamedBeforeTheRest) {
  options_.stream = true;
  options_.pages_in_flight_max = 1;
  add("a.pdf", "50 fox");
  reader_.after_page = [&](int pages) {
    if (pages == 40) cancellation_.request();
  };
  const RunReport report = run_well();
  EXPECT_TRUE(report.stopped);
  EXPECT_THAT(output_, testing::StartsWith("**Page** 1 about the fox\n"));
  EXPECT_EQ(output_.find("Page** 41"), std::string::npos);
}

TEST_F(ModelRunTest, StreamedJsonIsOnePageResultALine) {
  options_.stream = true;
  options_.format = OutputFormat::json;
  reader_.failing = {2};
  add("a.pdf", "3 fox");
  run_well();
  std::istringstream lines(output_);
  std::vector<nlohmann::json> pages;
  for (std::string line; std::getline(lines, line);) pages.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(pages.size(), 3U);
  EXPECT_EQ(pages[0]["markdown"], "**Page** 1 about the fox\n");
  EXPECT_THAT(pages[1]["error"].get<std::string>(), HasSubstr("the fake failed"));
  EXPECT_EQ(pages[2]["page"], 3);
  add("b.pdf", "1 hen");
  run_well();
  std::istringstream named(output_);
  std::string line;
  std::getline(named, line);
  EXPECT_EQ(nlohmann::json::parse(line)["document"]["name"], "a.pdf");
}

TEST_F(ModelRunTest, StreamingIntoAFolderKeepsToo) {
  options_.stream = true;
  options_.output_folder = out();
  add("a.pdf", "3 fox");
  run_well();
  EXPECT_EQ(output_, slurp(out() / "a.md"));
  const std::string first = output_;
  EXPECT_EQ(run_well().pages_read, 0);
  EXPECT_EQ(output_, first) << "what is up to date is streamed, too";
}

TEST_F(ModelRunTest, AStreamWhoseReaderHasGoneEndsTheRun) {
  options_.stream = true;
  add("a.pdf", "30 fox");
  output_room_ = 60;
  const auto report = run();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().for_log, "the reader has gone");
}

TEST(PageRecordJson, RowsOfOlderRunsStillLoad) {
  const auto row = record_from_json(
      R"({"document":"a.pdf","page":1,"state":"ok","reader":"builtin","attempts":1,"started_at":"2026-02-03T09:12:44.120Z","ms":38})");
  ASSERT_TRUE(row);
  EXPECT_EQ(row->record.tokens, Tokens{});
  PageRecord record = row->record;
  record.state = PageState::fallback;
  record.model = "second";
  record.reason = "it is away";
  record.tokens = {1200, 340};
  EXPECT_EQ(record_from_json(to_json(record, "a.pdf"))->record, record);
  EXPECT_FALSE(record_from_json(R"({"page":1,"tokens":{"prompt":-1,"completion":0}})"));
}

TEST(FallbackReason, OnlyWhenSomebodyElseReadThePage) {
  const Attempt first_ok{"a", "ok"};
  const Attempt first_bad{"a", "timeout", "took too long"};
  const Attempt figure{"figure", "corrupt", "no pixels"};
  const Attempt builtin{"builtin", "ok"};
  EXPECT_EQ(fallback_reason({.reader = "builtin", .attempts = {figure, builtin}}), std::nullopt);
  EXPECT_EQ(fallback_reason({.reader = "model", .model = "a", .attempts = {first_bad, first_ok}}), std::nullopt);
  EXPECT_EQ(fallback_reason({.reader = "builtin", .attempts = {first_bad, builtin}}), "took too long");
  EXPECT_EQ(fallback_reason({.reader = "model", .model = "b", .attempts = {first_bad, {"b", "ok"}}}), "took too long");
  EXPECT_EQ(fallback_reason({.reader = "builtin", .attempts = {first_bad}, .error = "nobody"}), std::nullopt);
}

TEST(FallbackReason, OrWhenThereIsOnlyPartOfThePage) {
  const Attempt cut{"a", "truncated", "too long"};
  const Attempt loop{"a", "looping", "again and again"};
  const auto reason = [](std::vector<Attempt> attempts) {
    return fallback_reason(
        {.reader = "model", .model = "a", .confidence_why = "not whole", .attempts = std::move(attempts)});
  };
  EXPECT_EQ(reason({cut}), "not whole");
  EXPECT_EQ(reason({loop, loop, cut}), "not whole");
  EXPECT_EQ(reason({{"b", "refused", "no"}, cut, {"builtin", "empty", "found no text"}}), "not whole");
  EXPECT_EQ(reason({cut, {"a", "ok"}}), std::nullopt);
  EXPECT_EQ(reason({{"a", "doubtful"}, {"b", "truncated"}}), std::nullopt) << "what is kept is whole";
}

}  // namespace
}  // namespace lectern::reading
