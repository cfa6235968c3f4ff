#include "reading/read_run.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "fake_run.h"
#include "faulty_disk.h"
#include "reading/manifest.h"
#include "reading/output_folder.h"

namespace lectern::reading {
namespace {

using testing::HasSubstr;

class KeptRunTest : public RunTest {
 protected:
  KeptRunTest() { options_.output_folder = out(); }
};

TEST_F(KeptRunTest, WritesOneOutputForEachDocument) {
  add("a.pdf", "2 fox");
  add("sub/b.pdf", "1 hen");
  const RunReport report = run_well();
  EXPECT_EQ(report, (RunReport{.documents = 2, .pages_ok = 3, .pages_read = 3}));
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the fox.\n\nPage 2 about the fox.\n");
  EXPECT_EQ(slurp(out() / "sub/b.md"), "Page 1 about the hen.\n");
  auto manifest = Manifest::load(real_disk(), system_clock(), out() / "manifest.jsonl");
  ASSERT_TRUE(manifest);
  ASSERT_EQ((*manifest)->records("a.pdf").size(), 2U);
  EXPECT_EQ((*manifest)->records("a.pdf")[1].state, PageState::ok);
}

TEST_F(KeptRunTest, ASecondRunReadsNothing) {
  add("a.pdf", "3 fox");
  run_well();
  const std::string manifest = slurp(out() / "manifest.jsonl");
  const RunReport report = run_well();
  EXPECT_EQ(report, (RunReport{.documents = 1, .documents_up_to_date = 1, .pages_ok = 3}));
  EXPECT_EQ(opened_, 0) << "the document is not even opened";
  EXPECT_EQ(events_.lines, (std::vector<std::string>{"done a.pdf up_to_date ok=3 failed=0 read=0"}));
  EXPECT_EQ(slurp(out() / "manifest.jsonl"), manifest);
}

TEST_F(KeptRunTest, WhatChangesIsReadAgain) {
  add("a.pdf", "2 fox");
  add("b.pdf", "2 hen");
  run_well();
  add("a.pdf", "2 cow");
  EXPECT_EQ(run_well().pages_read, 2) << "other bytes";
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the cow.\n\nPage 2 about the cow.\n");
  reader_.print = "fake 2";
  EXPECT_EQ(run_well().pages_read, 4) << "another reader";
  options_.from_scratch = true;
  EXPECT_EQ(run_well().pages_read, 4) << "--no-cache";
}

TEST_F(KeptRunTest, ADeletedOutputIsWrittenAgainWithoutReading) {
  add("a.pdf", "2 fox");
  run_well();
  const std::string text = slurp(out() / "a.md");
  std::filesystem::remove(out() / "a.md");
  EXPECT_EQ(run_well().pages_read, 0);
  EXPECT_EQ(slurp(out() / "a.md"), text);
  EXPECT_EQ(opened_, 0);
}

TEST_F(KeptRunTest, FormatsAndPageListsShareWhatWasRead) {
  add("a.pdf", "5 fox");
  options_.pages = *PageSelection::parse("2-3");
  EXPECT_EQ(run_well().pages_read, 2);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 2 about the fox.\n\nPage 3 about the fox.\n");
  options_.pages = *PageSelection::parse("2-4");
  EXPECT_EQ(run_well().pages_read, 1);
  options_.format = OutputFormat::json;
  EXPECT_EQ(run_well().pages_read, 0);
  const auto json = nlohmann::json::parse(slurp(out() / "a.json"));
  EXPECT_EQ(json["document"]["name"], "a.pdf");
  EXPECT_EQ(json["document"]["pages"], 5);
  EXPECT_EQ(json["document"]["type"], "pdf");
  EXPECT_EQ(json["document"]["sha256"].get<std::string>().size(), 64U);
  ASSERT_EQ(json["pages"].size(), 3U);
  EXPECT_EQ(json["pages"][0]["page"], 2);
  EXPECT_EQ(json["pages"][0]["markdown"], "Page 2 about the fox.\n");
}

TEST_F(KeptRunTest, FailedPagesLeaveAPlaceholderAndAreRetriedWhenAsked) {
  add("a.pdf", "3 fox");
  reader_.failing = {2};
  RunReport report = run_well();
  EXPECT_EQ(report, (RunReport{.documents = 1, .pages_ok = 2, .pages_failed = 1, .pages_read = 3}));
  EXPECT_EQ(slurp(out() / "a.md"),
            "Page 1 about the fox.\n\n<!-- page 2 could not be read: the fake failed -  on purpose -->\n\n"
            "Page 3 about the fox.\n");
  report = run_well();
  EXPECT_EQ(report.pages_read, 0) << "not by itself";
  EXPECT_EQ(report.pages_failed, 1) << "but not forgotten";
  reader_.failing = {};
  options_.retry_failed = true;
  report = run_well();
  EXPECT_EQ(report, (RunReport{.documents = 1, .pages_ok = 3, .pages_read = 1}));
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the fox.\n\nPage 2 about the fox.\n\nPage 3 about the fox.\n");
  auto manifest = Manifest::load(real_disk(), system_clock(), out() / "manifest.jsonl");
  ASSERT_TRUE(manifest);
  EXPECT_EQ((*manifest)->records("a.pdf")[1].attempts, 2);
}

TEST_F(KeptRunTest, ReasonsDoNotRepeatTheDocumentsName) {
  add("sub/a.pdf", "1 fox");
  reader_.failing = {1};
  reader_.prefix = "a.pdf: ";
  run_well();
  EXPECT_EQ(slurp(out() / "sub/a.md"), "<!-- page 1 could not be read: the fake failed -  on purpose -->\n");
}

TEST_F(KeptRunTest, ADocumentThatCannotBeOpenedCostsOnlyItself) {
  add("a.pdf", "nonsense");
  add("b.pdf", "1 hen");
  add("c.pdf", "0 none");
  options_.documents.push_back({folder_.path() / "in/none.pdf", "none.pdf", "none"});
  const RunReport report = run_well();
  EXPECT_EQ(report, (RunReport{.documents = 4, .documents_failed = 3, .pages_ok = 1, .pages_read = 1}));
  std::ranges::sort(events_.reports, {}, &DocumentReport::name);
  EXPECT_EQ(events_.reports[0].error, "is not a pretend document");
  EXPECT_EQ(events_.reports[2].error, "has no pages");
  EXPECT_THAT(events_.reports[3].error, HasSubstr("there is no such file"));
  EXPECT_THAT(slurp(out() / "manifest.jsonl"), HasSubstr(R"("document":"a.pdf","state":"failed")"));
  add("a.pdf", "1 fox");
  EXPECT_EQ(run_well().pages_read, 1) << "mended, it is read";
  EXPECT_THAT(slurp(out() / "manifest.jsonl"), HasSubstr(R"("document":"a.pdf","page":1,"state":"ok")"));
}

TEST_F(KeptRunTest, PagesThatADocumentDoesNotHaveAreAnError) {
  add("a.pdf", "2 fox");
  options_.pages = *PageSelection::parse("5-9");
  EXPECT_EQ(run_well().documents_failed, 1);
  EXPECT_EQ(events_.reports[0].error, "has 2 pages, none of them in --pages 5-9");
}

TEST_F(KeptRunTest, StoppedAnywhereAndResumedGivesTheSameAsAStraightRun) {
  add("a.pdf", "7 fox");
  add("b.pdf", "1 hen");
  add("c.pdf", "4 cow");
  run_well();
  const std::vector<std::string> straight = {slurp(out() / "a.md"), slurp(out() / "b.md"), slurp(out() / "c.md")};
  for (int stop_after = 1; stop_after <= 12; ++stop_after) {
    SCOPED_TRACE(stop_after);
    std::filesystem::remove_all(out());
    reader_.after_page = [&](int pages_read) {
      if (pages_read == stop_after) cancellation_.request();
    };
    const RunReport stopped = run_well();
    EXPECT_TRUE(stopped.stopped);
    reader_.after_page = nullptr;
    const RunReport resumed = run_well();
    EXPECT_FALSE(resumed.stopped);
    EXPECT_EQ(stopped.pages_read + resumed.pages_read, 12) << "no page is read twice, none is lost";
    EXPECT_EQ(resumed.pages_ok, 12);
    EXPECT_EQ(slurp(out() / "a.md"), straight[0]);
    EXPECT_EQ(slurp(out() / "b.md"), straight[1]);
    EXPECT_EQ(slurp(out() / "c.md"), straight[2]);
  }
}

// Every write, fsync, rename… fails once. No failure may pass unnoticed, and the next run must mend it.
TEST_F(KeptRunTest, AFullDiskAtAnyMomentIsAnErrorAndTheNextRunCompletes) {
  reader_.with_figures = true;
  add("a.pdf", "3 fox");
  add("b.pdf", "1 hen");
  run_well();
  const std::string a = slurp(out() / "a.md");
  const std::string b = slurp(out() / "b.md");
  ASSERT_FALSE(a.empty());
  int failures = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    std::filesystem::remove_all(out());
    FaultyDisk disk(real_disk(), nth);
    const auto report = run(disk);
    if (!disk.fired()) break;
    ++failures;
    ASSERT_FALSE(report) << "a failed write went unnoticed";
    EXPECT_EQ(report.error().kind, ErrorKind::overloaded);
    for (const auto* name : {"a.md", "b.md"}) {  // whole or not there
      if (exists(out() / name)) EXPECT_EQ(slurp(out() / name), name[0] == 'a' ? a : b);
    }
    const auto mended = run();
    ASSERT_TRUE(mended) << mended.error().for_log;
    EXPECT_EQ(mended->pages_ok, 4);
    EXPECT_EQ(slurp(out() / "a.md"), a);
    EXPECT_EQ(slurp(out() / "b.md"), b);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
      EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
    }
  }
  EXPECT_GT(failures, 25) << "the faults must reach journals, figures, outputs and manifest";
}

TEST_F(KeptRunTest, AReaderThatIsNotSureThrowsNothingAway) {
  reader_.with_figures = true;
  add("a.pdf", "2 fox");
  run_well();
  const std::string journal = slurp(out() / ".lectern" / "a.pdf.journal");
  options_.unsure = "the engine is away";
  EXPECT_EQ(run_well().documents_up_to_date, 1) << "the same reader all the same";
  reader_.print = "fake 2";
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().for_caller,
              testing::HasSubstr("a.pdf: an earlier run read it with another model or other settings, and the engine"));
  EXPECT_EQ(reader_.pages_read, 0);
  EXPECT_EQ(slurp(out() / ".lectern" / "a.pdf.journal"), journal);
  EXPECT_TRUE(exists(out() / "a.figures"));
  options_.from_scratch = true;
  EXPECT_EQ(run_well().pages_read, 2) << "somebody wants it so";
}

// File systems take 255 bytes; endings are added to the document's name.
TEST_F(KeptRunTest, NamesAsLongAsTheFileSystemTakes) {
  reader_.with_figures = true;
  std::string umlauts;
  for (int i = 0; i < 125; ++i) umlauts += "ä";
  for (const std::string& stem :
       {umlauts + "a", umlauts + "b", "sub/" + std::string(251, 'x'), std::string(240, 'y')}) {
    add(stem + ".pdf", "1 fox");
  }
  for (const OutputFormat format : {OutputFormat::markdown, OutputFormat::html}) {
    options_.format = format;
    const RunReport report = run_well();
    EXPECT_EQ(report.pages_ok, 4);
    EXPECT_EQ(report.documents_failed, 0);
    for (const DocumentReport& one : events_.reports) EXPECT_TRUE(std::filesystem::exists(one.output)) << one.output;
  }
  EXPECT_EQ(reader_.pages_read, 0) << "the journals were found again";
  EXPECT_EQ(run_well().documents_up_to_date, 4);
  EXPECT_TRUE(exists(out() / (std::string(240, 'y') + ".md"))) << "what fits keeps its name";
  std::set<std::string> figures;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
    if (entry.is_directory() && entry.path().extension() == ".figures") figures.insert(entry.path().string());
  }
  EXPECT_EQ(figures.size(), 4U);
}

TEST_F(KeptRunTest, TwoRunsDoNotShareAFolder) {
  add("a.pdf", "1 fox");
  const auto held = OutputFolder::open(real_disk(), out());
  ASSERT_TRUE(held);
  const auto report = run();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::conflict);
  EXPECT_THAT(report.error().for_caller, HasSubstr("another lectern (process "));
}

TEST_F(KeptRunTest, LeftoversOfAKilledRunAreSwept) {
  add("a.pdf", "1 fox");
  run_well();
  std::ofstream(out() / "a.md.1234-0.tmp") << "half";
  std::ofstream(out() / "mine.tmp") << "not ours";
  run_well();
  EXPECT_TRUE(exists(out() / "a.md.1234-0.tmp")) << "the last run ended in order: nobody looks";
  std::ofstream(out() / ".lectern/lock") << "1234";
  run_well();
  EXPECT_FALSE(exists(out() / "a.md.1234-0.tmp"));
  EXPECT_TRUE(exists(out() / "mine.tmp"));
}

class StreamedRunTest : public RunTest {};

TEST_F(StreamedRunTest, DocumentsComeInOrderWhateverTheParallelism) {
  add("a.pdf", "9 fox");
  for (int i = 0; i < 20; ++i) add(fmt::format("b{:02}.png", i), fmt::format("{} hen", 1 + i % 3));
  std::string sequential;
  for (const OutputFormat format :
       {OutputFormat::markdown, OutputFormat::text, OutputFormat::html, OutputFormat::json}) {
    options_.format = format;
    options_.pages_in_flight_max = 1;
    run_well();
    sequential = output_;
    EXPECT_FALSE(sequential.empty());
    for (const int in_flight : {2, 8, 64}) {
      options_.pages_in_flight_max = in_flight;
      run_well();
      EXPECT_EQ(output_, sequential) << in_flight;
    }
  }
}

// The reader holds the first six pages until all six are in its hands: were documents of one page read one after
// another, this would never end.
TEST_F(StreamedRunTest, SmallDocumentsOverlapWithinTheWindow) {
  for (int i = 0; i < 30; ++i) add(fmt::format("{:02}.png", i), "1 hen");
  options_.pages_in_flight_max = 6;
  reader_.gather = 6;
  run_well();
  EXPECT_EQ(reader_.in_flight_most, 6);
}

TEST_F(StreamedRunTest, ALongDocumentFillsTheWindowAndNoMore) {
  add("long.pdf", "200 fox");
  options_.pages_in_flight_max = 6;
  reader_.gather = 6;
  run_well();
  EXPECT_EQ(reader_.in_flight_most, 6);
}

TEST_F(StreamedRunTest, NothingIsLeftInTheTemporaryFolder) {
  add("a.pdf", "3 fox");
  run_well();
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    left.push_back(entry.path().filename().string());
  }
  EXPECT_EQ(left, (std::vector<std::string>{"in"}));
}

TEST_F(StreamedRunTest, JsonIsOneLineForEachDocument) {
  add("a.pdf", "2 fox");
  add("b.pdf", "1 hen");
  options_.format = OutputFormat::json;
  run_well();
  std::istringstream lines(output_);
  std::vector<nlohmann::json> documents;
  for (std::string line; std::getline(lines, line);) documents.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0]["pages"].size(), 2U);
  EXPECT_EQ(documents[1]["document"]["name"], "b.pdf");
}

TEST_F(StreamedRunTest, SeveralDocumentsAreNamedOneIsNot) {
  add("a.pdf", "1 fox");
  run_well();
  EXPECT_EQ(output_, "Page 1 about the fox.\n");
  add("b.pdf", "1 hen");
  run_well();
  EXPECT_EQ(output_,
            "<!-- document: a.pdf -->\n\nPage 1 about the fox.\n\n"
            "<!-- document: b.pdf -->\n\nPage 1 about the hen.\n\n");
}

TEST_F(StreamedRunTest, AClosedOutputEndsTheRun) {
  for (int i = 0; i < 30; ++i) add(fmt::format("{:02}.pdf", i), "3 hen");
  options_.pages_in_flight_max = 2;
  output_room_ = 100;
  const auto report = run();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().for_log, "the reader has gone");
  EXPECT_LT(reader_.pages_read, 60) << "there is no one left to read for";
}

TEST_F(StreamedRunTest, ABugInTheReaderIsNotSwallowed) {
  add("a.pdf", "3 fox");
  reader_.after_page = [](int) { throw std::runtime_error("a bug"); };
  EXPECT_THROW(run_well(), std::runtime_error);
}

}  // namespace
}  // namespace lectern::reading
