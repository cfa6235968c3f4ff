#include "cli/progress.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/standard_output.h"

namespace lectern::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Clock, Text) {
  EXPECT_EQ(clock_text(seconds{8}), "0:08");
  EXPECT_EQ(clock_text(seconds{754}), "12:34");
  EXPECT_EQ(clock_text(seconds{3723}), "1:02:03");
}

TEST(ProgressState, RateAndTimeLeft) {
  ManualClock clock;
  ProgressState state(1);
  state.started(100);
  EXPECT_EQ(state.pages_per_second(clock.now()), std::nullopt);
  for (int i = 0; i < 11; ++i) {
    state.page(clock.now());
    clock.advance(milliseconds{500});
  }
  EXPECT_NEAR(*state.pages_per_second(clock.now()), 2, 0.2);
  EXPECT_NEAR(static_cast<double>(state.time_left(clock.now())->count()), 89 / 2.0, 5);
  clock.advance(seconds{60});
  EXPECT_LT(*state.pages_per_second(clock.now()), 0.2) << "a run that hangs shows that it does";
}

TEST(ProgressBar, FitsItsColumns) {
  ManualClock clock;
  ProgressState state(3);
  state.started(40);
  for (int i = 0; i < 20; ++i) {
    clock.advance(milliseconds{100});
    state.page(clock.now());
  }
  state.document_done();
  const std::string bar = progress_bar(state, {}, clock.now(), "a/very/long/path/to/some/report.pdf", 120);
  EXPECT_EQ(bar,
            "[######--------------] 20 of 40 pages, 1 of 3 documents, 10.0 pages/s, 0:02 left  "
            "a/very/long/path/to/some/report.pdf");
  for (const int columns : {1, 5, 20, 60, 90, 100}) {
    EXPECT_LT(progress_bar(state, {}, clock.now(), "a/very/long/path/to/some/report.pdf", columns).size(),
              static_cast<std::size_t>(columns));
  }
  EXPECT_THAT(progress_bar(state, {}, clock.now(), "a/very/long/path/to/some/report.pdf", 110),
              testing::EndsWith("report.pdf"));
}

TEST(Account, SaysWhatHappened) {
  using reading::RunReport;
  struct Case {
    RunReport report;
    int problems;
    bool kept;
    std::string_view says;
  };
  const Case cases[] = {
      {{.documents = 1, .pages_ok = 1, .pages_read = 1}, 0, false, "Read 1 page of 1 document in 2.0 s."},
      {{.documents = 3, .documents_failed = 1, .pages_ok = 9, .pages_failed = 1, .pages_read = 10},
       0,
       true,
       "Read 10 pages of 2 documents in 2.0 s (5.0 pages/s). 1 document could not be read. 1 page failed; "
       "--retry-failed "
       "reads it once more."},
      {{.documents = 2, .documents_up_to_date = 2, .pages_ok = 7}, 0, true, "Up to date: 7 pages in 2 documents."},
      {{.documents = 2, .documents_up_to_date = 1, .pages_ok = 7, .pages_read = 4},
       0,
       true,
       "Read 4 pages of 1 document in 2.0 s (2.0 pages/s). 1 document up to date."},
      {{.documents = 1, .pages_ok = 7}, 0, true, "Wrote 1 document again; no page had to be read."},
      {{}, 2, false, "Nothing was read. 2 documents could not be read."},
      {{.documents = 1, .pages_failed = 1, .pages_read = 1},
       0,
       false,
       "Tried 1 page of 1 document in 2.0 s; none could be read. 1 page failed."},
      {{.documents = 2, .pages_ok = 3, .pages_read = 3, .stopped = true},
       0,
       true,
       "Stopped after 3 pages. Run the same command again to go on from here."},
      {{.documents = 2, .stopped = true},
       0,
       false,
       "Stopped after 0 pages. Nothing was kept; with -o DIR a run can be resumed."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(account(c.report, {.problems = c.problems, .took = milliseconds{2000}, .kept = c.kept}), c.says);
  }
}

TEST(Account, OfModelsSaysWhatTheyDidAndCost) {
  using reading::RunReport;
  using reading::Spent;
  struct Case {
    RunReport report;
    bool kept;
    std::string_view says;
  };
  const Case cases[] = {
      {{.documents = 1, .pages_ok = 38, .pages_fallback = 2, .pages_read = 40, .spent = {{51'200, 8'300}, 0.1234}},
       false,
       "Read 40 pages of 1 document in 2.0 s (20.0 pages/s). Pages: 38 ok, 2 fallen back, 0 failed. 51,200 prompt and "
       "8,300 completion tokens, cost 0.1234."},
      {{.documents = 1, .pages_ok = 3, .pages_failed = 1, .pages_read = 4, .spent = {{1'234'567, 900}}},
       true,
       "Read 4 pages of 1 document in 2.0 s (2.0 pages/s). Pages: 3 ok, 0 fallen back, 1 failed; --retry-failed reads "
       "it once more. 1,234,567 prompt and 900 completion tokens."},
      {{.documents = 1, .documents_up_to_date = 1, .pages_ok = 3, .pages_fallback = 2},
       true,
       "Up to date: 5 pages in 1 document. Pages: 3 ok, 2 fallen back, 0 failed; --retry-failed reads them once more."},
      {{.documents = 1, .pages_ok = 3, .pages_read = 3, .spent = {{300, 30}}, .stopped = true, .budget_spent = true},
       true,
       "Stopped after 3 pages: the budget is used up. Run the same command again to go on from here, with a new budget "
       "of the same size or with a higher --max-tokens or --max-cost. 300 prompt and 30 completion tokens."},
      {{.documents = 1, .pages_read = 3, .spent = {{300, 30}}, .stopped = true, .budget_spent = true},
       false,
       "Stopped after 3 pages: the budget is used up. Nothing was kept; with -o DIR a run can be resumed. 300 prompt "
       "and 30 completion tokens."},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(account(c.report, {.took = milliseconds{2000}, .kept = c.kept, .models = true}), c.says);
  }
}

TEST(ProgressWords, ShowHowBusyTheModelsAre) {
  ManualClock clock;
  ProgressState state(1);
  state.started(40);
  for (int i = 0; i < 11; ++i) {
    clock.advance(milliseconds{100});
    state.page(clock.now(), 50);
  }
  const ModelLoad load{.in_flight = 62,
                       .limit = 64,
                       .retries = 2,
                       .engines = {{.name = "a", .away = true, .last_failure = "refused"}, {.name = "b"}}};
  EXPECT_EQ(progress_words(state, load, clock.now()),
            "11 of 40 pages, 10.0 pages/s, 500 tokens/s, 62/64 in flight, 2 retries, 1 of 2 engines away, 0:03 left");
}

TEST(EngineChanges, GoneAndBack) {
  const ModelLoad well{.engines = {{.name = "http://a"}, {.name = "http://b"}}};
  ModelLoad ill = well;
  ill.engines[1].away = true;
  ill.engines[1].last_failure = "http://b: connection refused";
  EXPECT_TRUE(engine_changes(well, well).empty());
  EXPECT_TRUE(engine_changes({}, well).empty());
  const auto gone = engine_changes(well, ill);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(to_text(gone[0]), "engine http://b does not answer: connection refused, trying again");
  const auto back = engine_changes(ill, well);
  ASSERT_EQ(back.size(), 1U);
  EXPECT_EQ(to_text(back[0]), "engine http://b answers again");
}

// Runs a small story past a progress and returns what it printed.
std::string shown(ProgressStyle style, const std::string& name = "a.pdf") {
  ManualClock clock;
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&buffer, &size);
  {
    const auto progress = make_progress({.style = style, .kept = true}, clock, out);
    progress->run_started(3);
    progress->problem("none.pdf", "there is no such file");
    const reading::RunDocument document{name, name, "a"};
    progress->document_started(document, 2, 2);
    reading::PageRecord record;
    record.page = 1;
    record.state = reading::PageState::ok;
    record.reader = "builtin";
    progress->page_done(document, record);
    clock.advance(seconds{11});
    record.page = 2;
    record.state = reading::PageState::failed;
    record.reason = "timed \"out\"";
    progress->page_done(document, record);
    progress->document_done({.name = name,
                             .outcome = reading::DocumentOutcome::read,
                             .pages_ok = 1,
                             .pages_failed = 1,
                             .pages_read = 2,
                             .output = "out/a.md"});
    progress->document_done({.name = "b.pdf", .outcome = reading::DocumentOutcome::failed, .error = "is empty"});
    progress->run_done({.documents = 2, .documents_failed = 1, .pages_ok = 1, .pages_failed = 1, .pages_read = 2}, 1,
                       3);
  }
  std::fclose(out);
  std::string text(buffer, size);
  std::free(buffer);
  return text;
}

TEST(Progress, Lines) {
  EXPECT_EQ(shown(ProgressStyle::lines),
            "none.pdf: there is no such file\n"
            "a.pdf: page 2 could not be read: timed \"out\"\n"
            "2 of 2 pages, 1 of 3 documents, 0.1 pages/s\n"
            "a.pdf: 2 pages, 1 failed -> out/a.md\n"
            "b.pdf: is empty\n"
            "Read 2 pages of 1 document in 11.0 s (0.2 pages/s). 2 documents could not be read. 1 page failed; "
            "--retry-failed reads it once more.\n");
}

TEST(Progress, QuietTellsOnlyWhatWentWrong) {
  EXPECT_EQ(shown(ProgressStyle::quiet),
            "none.pdf: there is no such file\na.pdf: page 2 could not be read: timed \"out\"\nb.pdf: is empty\n");
}

TEST(Progress, JsonEventsAreOneObjectALine) {
  std::istringstream lines(shown(ProgressStyle::json));
  std::vector<std::string> events;
  nlohmann::json last;
  for (std::string line; std::getline(lines, line);) {
    last = nlohmann::json::parse(line);
    events.push_back(last["event"]);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"run_started", "document_done", "document_started", "page_done",
                                              "page_done", "document_done", "document_done", "run_done"}));
  EXPECT_EQ(last["exit_code"], 3);
  EXPECT_EQ(last["documents"], 3);
  EXPECT_EQ(last["ms"], 11'000);
  EXPECT_EQ(last["pages_fallback"], 0);
}

TEST(Progress, TheBarIsGoneAtTheEnd) {
  const std::string text = shown(ProgressStyle::bar);
  EXPECT_THAT(text, testing::HasSubstr("\r[######--------------] 2 of 2 pages, 1 of 3 documents"));
  const std::string last = text.substr(text.rfind('\r'));
  EXPECT_THAT(last, testing::StartsWith("\r\x1b[KRead 2 pages"));
  EXPECT_THAT(last, testing::EndsWith("\n"));
}

TEST(Progress, ANameCannotCommandTheTerminal) {
  const std::string name = "a\x1b[2J\nb.pdf";
  for (const ProgressStyle style : {ProgressStyle::lines, ProgressStyle::quiet}) {
    EXPECT_THAT(shown(style, name), testing::HasSubstr("a?[2J b.pdf: page 2 could not be read"));
    EXPECT_THAT(shown(style, name), testing::Not(testing::HasSubstr("\x1b")));
  }
  EXPECT_THAT(shown(ProgressStyle::bar, name), testing::Not(testing::HasSubstr("\x1b[2J")));
  EXPECT_THAT(shown(ProgressStyle::json, name), testing::HasSubstr(R"("document":"a\u001b[2J\nb.pdf")")) << "exact";
}

TEST(StandardOutput, AReaderThatHasGoneIsNoticed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  StandardOutput output(ends[1], {});
  EXPECT_FALSE(output.write("text"));
  EXPECT_TRUE(output.closed());
  ::signal(SIGPIPE, before);
  ::close(ends[1]);
}

TEST(StandardOutput, AStopEndsTheWaitForASlowReader) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  Cancellation cancellation;
  StandardOutput output(ends[1], cancellation);
  ASSERT_TRUE(output.write("fits"));
  cancellation.request();
  const auto status = output.write(std::string(1 << 20, 'x'));  // more than a pipe holds
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::cancelled);
  EXPECT_FALSE(output.closed());
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace lectern::cli
