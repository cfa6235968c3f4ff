#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include "read_fixture.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string samples = LECTERN_SOURCE_DIR "/samples/";

// The renderer that misbehaves as its document says.
std::map<std::string, std::string> misbehaving() {
  return {{"LECTERN_RENDERER", LECTERN_BIN_DIR "/fake_renderer"}};
}

TEST_F(ReadTest, MarkdownOnStandardOutput) {
  Program run = lectern({"read", pdf("a.pdf", 2)});
  EXPECT_EQ(run.finish(), 0) << run.errors();
  EXPECT_EQ(run.output(), "Page 1 of the a.pdf report.\n\nPage 2 of the a.pdf report.\n");
  EXPECT_THAT(run.errors(), HasSubstr("Read 2 pages of 1 document"));
}

TEST_F(ReadTest, EveryFormat) {
  const std::string file = pdf("a.pdf", 2);
  Program json = lectern({"read", file, "--format", "json", "--quiet"});
  EXPECT_EQ(json.finish(), 0);
  EXPECT_EQ(json.errors(), "");
  const auto document = nlohmann::json::parse(json.output());
  EXPECT_EQ(document["document"]["name"], "a.pdf");
  EXPECT_EQ(document["document"]["type"], "pdf");
  ASSERT_EQ(document["pages"].size(), 2U);
  EXPECT_EQ(document["pages"][1]["page"], 2);
  EXPECT_EQ(document["pages"][1]["markdown"], "Page 2 of the a.pdf report.\n");
  EXPECT_EQ(document["pages"][1]["size"]["width"], 612);
  EXPECT_EQ(document["pages"][1]["blocks"][0]["text"], "Page 2 of the a.pdf report.");

  Program text = lectern({"read", file, "--format", "text", "-q"});
  EXPECT_EQ(text.finish(), 0);
  EXPECT_EQ(text.output(), "Page 1 of the a.pdf report.\n\nPage 2 of the a.pdf report.\n");

  Program html = lectern({"read", file, "--format", "html", "-q"});
  EXPECT_EQ(html.finish(), 0);
  EXPECT_THAT(html.output(), testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(html.output(), HasSubstr("<section data-page=\"2\">"));
  EXPECT_THAT(html.output(), testing::EndsWith("</html>\n"));
}

TEST_F(ReadTest, StreamedPagesComeInOrder) {
  const std::string a = pdf("a.pdf", 12);
  const std::string b = pdf("b.pdf", 2);
  Program whole = lectern({"read", a, b, "-q"});
  EXPECT_EQ(whole.finish(), 0);
  for (const char* parallel : {"1", "8"}) {
    Program streamed = lectern({"read", a, b, "-q", "--stream", "--parallel", parallel});
    EXPECT_EQ(streamed.finish(), 0) << streamed.errors();
    EXPECT_EQ(streamed.output(), whole.output()) << "these pages owe nothing to the rest of their document";
  }
  Program kept = lectern({"read", a, "-q", "--stream", "-o", out()});
  EXPECT_EQ(kept.finish(), 0);
  EXPECT_EQ(kept.output(), slurp(out() + "/a.md"));
  Program json = lectern({"read", a, "-q", "--stream", "--format", "json"});
  EXPECT_EQ(json.finish(), 0);
  EXPECT_EQ(std::ranges::count(json.output(), '\n'), 12) << "one page result a line";
}

TEST_F(ReadTest, SomePagesOnly) {
  Program run = lectern({"read", pdf("a.pdf", 9), "--pages", "2,8-"});
  EXPECT_EQ(run.finish(), 0);
  EXPECT_EQ(run.output(),
            "Page 2 of the a.pdf report.\n\nPage 8 of the a.pdf report.\n\nPage 9 of the a.pdf report.\n");
}

TEST_F(ReadTest, AFolderIntoAFolder) {
  pdf("in/a.pdf", 1);
  pdf("in/sub/b.pdf", 2);
  put("in/notes.txt", "not a document");
  const std::string in = (folder_.path() / "in").string();
  Program first = lectern({"read", in, "-o", out(), "--json"});
  EXPECT_EQ(first.finish(), 0) << first.errors();
  EXPECT_EQ(first.output(), "") << "with -o nothing goes to standard output";
  EXPECT_EQ(slurp(out() + "/a.md"), "Page 1 of the in/a.pdf report.\n");
  EXPECT_THAT(slurp(out() + "/sub/b.md"), HasSubstr("Page 2"));
  EXPECT_EQ(first.events().back()["pages_read"], 3);

  Program second = lectern({"read", in, "-o", out()});
  EXPECT_EQ(second.finish(), 0);
  EXPECT_THAT(second.errors(), HasSubstr("Up to date: 3 pages in 2 documents."));

  pdf("in/a.pdf", 2);
  Program third = lectern({"read", in, "-o", out(), "--json"});
  EXPECT_EQ(third.finish(), 0);
  EXPECT_EQ(third.events().back()["pages_read"], 2) << "only the document that changed";
}

TEST_F(ReadTest, StandardInput) {
  Program run(LECTERN_BIN_DIR "/lectern", {.arguments = {"read", "-"}, .input = slurp(pdf("a.pdf", 1))});
  EXPECT_EQ(run.finish(), 0) << run.errors();
  EXPECT_EQ(run.output(), "Page 1 of the a.pdf report.\n");
}

TEST_F(ReadTest, TheOutputDoesNotDependOnTheParallelism) {
  std::vector<std::string> files = {pdf("long.pdf", 40)};
  for (int i = 0; i < 12; ++i) files.push_back(pdf(fmt::format("short-{}.pdf", i), 1 + i % 3));
  std::vector<std::string> outputs;
  for (const char* parallel : {"1", "8"}) {
    for (const char* format : {"md", "html"}) {
      std::vector<std::string> arguments = {"read", "--quiet", "--parallel", parallel, "--format", format};
      arguments.insert(arguments.end(), files.begin(), files.end());
      Program run = lectern(arguments);
      EXPECT_EQ(run.finish(), 0) << run.errors();
      outputs.push_back(run.output());
    }
  }
  EXPECT_FALSE(outputs[0].empty());
  EXPECT_EQ(outputs[0], outputs[2]);
  EXPECT_EQ(outputs[1], outputs[3]);
}

TEST_F(ReadTest, WhatCannotBeReadIsNamed) {
  struct Case {
    std::string file;
    std::string says;
  };
  const Case cases[] = {
      {out("none.pdf"), "there is no such file"},
      {put("letter.docx", std::string("PK\x03\x04", 4) + std::string(200, 'x')), "ZIP"},
      {put("empty.pdf", ""), "empty"},
      {put("noise.pdf", std::string(5000, '\x81')), "noise.pdf: "},
      {samples + "protected.pdf", "needs a password: give --password"},
      {out("pipe.pdf"), "is a pipe"},
  };
  ASSERT_EQ(::mkfifo(out("pipe.pdf").c_str(), 0600), 0);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.file);
    Program run = lectern({"read", c.file});
    EXPECT_EQ(run.finish(), 4) << run.errors();
    EXPECT_EQ(run.output(), "");
    EXPECT_THAT(run.errors(), HasSubstr(std::filesystem::path(c.file).filename().string() + ": "));
    EXPECT_THAT(run.errors(), HasSubstr(c.says));
    EXPECT_THAT(run.errors(), HasSubstr("Nothing was read."));
  }
  std::filesystem::create_directories(out("hollow"));
  Program hollow = lectern({"read", out("hollow"), pdf("a.pdf", 1)});
  EXPECT_EQ(hollow.finish(), 3) << "the other document is read";
  EXPECT_THAT(hollow.errors(), HasSubstr("hollow: no documents in this folder"));
  EXPECT_EQ(hollow.output(), "Page 1 of the a.pdf report.\n");
}

TEST_F(ReadTest, Passwords) {
  Program wrong = lectern({"read", samples + "protected.pdf", "--password", "guess"});
  EXPECT_EQ(wrong.finish(), 4);
  EXPECT_THAT(wrong.errors(), HasSubstr("password"));
  EXPECT_THAT(wrong.errors(), Not(HasSubstr("guess"))) << "secrets are not repeated";
  Program right(LECTERN_BIN_DIR "/lectern",
                {.arguments = {"read", samples + "protected.pdf"}, .environment = {{"LECTERN_PASSWORD", "heron-42"}}});
  EXPECT_EQ(right.finish(), 0) << right.errors();
  EXPECT_NE(right.output(), "");
}

TEST_F(ReadTest, ScansAreReadByOcr) {
  Program run = lectern({"ocr", samples + "receipt.jpg", "--format", "text"});
  EXPECT_EQ(run.finish(), 0) << run.errors();
  EXPECT_GT(run.output().size(), 50U);
}

TEST_F(ReadTest, APageThatFailsCostsThatPage) {
  const std::string file = put("bad.pdf", "pages=5 crash=3");
  const auto read = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"read", file, "-o", out(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Program(LECTERN_BIN_DIR "/lectern", {.arguments = arguments, .environment = misbehaving()});
  };
  Program first = read({});
  EXPECT_EQ(first.finish(), 3) << first.errors();
  EXPECT_EQ(first.events().back()["pages_ok"], 4);
  EXPECT_EQ(first.events().back()["pages_failed"], 1);
  EXPECT_THAT(slurp(out() + "/bad.md"), HasSubstr("<!-- page 3 could not be read: "));
  Program again = read({});
  EXPECT_EQ(again.finish(), 3) << "a failed page is not forgotten";
  EXPECT_EQ(again.events().back()["pages_read"], 0) << "nor read again unasked";
  Program retried = read({"--retry-failed"});
  EXPECT_EQ(retried.finish(), 3);
  EXPECT_EQ(retried.events().back()["pages_read"], 1);
  EXPECT_THAT(slurp(out() + "/manifest.jsonl"), HasSubstr(R"("page":3,"state":"failed")"));
  EXPECT_THAT(slurp(out() + "/manifest.jsonl"), HasSubstr(R"("attempts":2,"reason":)"));
}

TEST_F(ReadTest, KilledInTheMiddleAndResumedGivesTheSameBytes) {
  const std::string file = pdf("long.pdf", 150);
  Program straight = lectern({"read", file, "-o", out("straight"), "-q"});
  ASSERT_EQ(straight.finish(), 0) << straight.errors();
  {
    Program killed(LECTERN_BIN_DIR "/lectern", {.arguments = {"read", file, "-o", out(), "--json"}, .held_back = true});
    for (int page = 0; page < 25; ++page) ASSERT_TRUE(killed.wait_for("page_done")) << killed.errors();
    killed.signal(SIGKILL);
    EXPECT_EQ(killed.finish(), -SIGKILL);
  }
  EXPECT_FALSE(std::filesystem::exists(out() + "/long.md")) << "never half-written";
  Program resumed = lectern({"read", file, "-o", out(), "--json"});
  EXPECT_EQ(resumed.finish(), 0) << resumed.errors();
  EXPECT_LE(resumed.events().back()["pages_read"], 125) << "what was reported as done is not read again";
  EXPECT_EQ(slurp(out() + "/long.md"), slurp(out("straight") + "/long.md"));
}

TEST_F(ReadTest, InterruptedItKeepsWhatItHasAndSaysHowToGoOn) {
  const std::string file = pdf("long.pdf", 150);
  Program run(LECTERN_BIN_DIR "/lectern", {.arguments = {"read", file, "-o", out(), "--json"}, .held_back = true});
  ASSERT_TRUE(run.wait_for("page_done"));
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130) << run.errors();
  const auto last = run.events().back();
  EXPECT_EQ(last["event"], "run_done");
  EXPECT_EQ(last["stopped"], true);
  EXPECT_THAT(slurp(out() + "/manifest.jsonl"), HasSubstr(R"("state":"pending")"));
  Program resumed = lectern({"read", file, "-o", out(), "--json"});
  EXPECT_EQ(resumed.finish(), 0);
  EXPECT_EQ(resumed.events().back()["pages_read"].get<int>() + last["pages_read"].get<int>(), 150);
}

TEST_F(ReadTest, ASecondInterruptLeavesAtOnce) {
  const std::string file = put("stuck.pdf", "pages=2 hang=1");
  Program run(LECTERN_BIN_DIR "/lectern",
              {.arguments = {"read", file, "-o", out(), "--json", "--parallel", "2"}, .environment = misbehaving()});
  ASSERT_TRUE(run.wait_for("page_done"));  // page 2; page 1 hangs
  run.signal(SIGINT);
  ASSERT_TRUE(run.wait_for("stopping"));
  run.signal(SIGINT);
  EXPECT_EQ(run.finish(), 130);
  for (const auto& event : run.events()) EXPECT_NE(event["event"], "run_done") << "it did not wait for the page";
}

TEST_F(ReadTest, OneRunAtATimeInAFolder) {
  const std::string stuck = put("stuck.pdf", "pages=2 hang=1");
  Program first(LECTERN_BIN_DIR "/lectern",
                {.arguments = {"read", stuck, "-o", out(), "--json", "--parallel", "2"}, .environment = misbehaving()});
  ASSERT_TRUE(first.wait_for("page_done"));
  Program second = lectern({"read", pdf("a.pdf", 1), "-o", out()});
  EXPECT_EQ(second.finish(), 1);
  EXPECT_THAT(second.errors(), HasSubstr("another lectern (process "));
  first.signal(SIGKILL);
  first.finish();
  Program third = lectern({"read", pdf("a.pdf", 1), "-o", out()});
  EXPECT_EQ(third.finish(), 0) << "a dead run holds no lock: " << third.errors();
}

TEST_F(ReadTest, FilesOfOthersInTheOutputFolderStay) {
  std::filesystem::create_directories(out());
  std::filesystem::copy_file(samples + "report.pdf", out() + "/report.pdf");
  put("out/report.figures/notes.txt", "mine");
  Program noted = lectern({"read", out() + "/report.pdf", "-o", out()});
  EXPECT_EQ(noted.finish(), 0) << noted.errors();
  EXPECT_EQ(slurp(out() + "/report.figures/notes.txt"), "mine");

  put("out/a.md", "mine");
  Program run = lectern({"read", pdf("a.pdf", 1), pdf("b.pdf", 1), "-o", out()});
  EXPECT_EQ(run.finish(), 3) << "the other one is read";
  EXPECT_EQ(slurp(out() + "/a.md"), "mine");
  EXPECT_THAT(run.errors(), HasSubstr("a.pdf: " + out() + "/a.md is there already, and nothing in the folder says"));
  EXPECT_TRUE(std::filesystem::exists(out() + "/b.md"));
}

TEST_F(ReadTest, AnOutputDoesNotReplaceItsDocument) {
  const std::string file = pdf("self/f.md", 1);
  const std::string bytes = slurp(file);
  Program run = lectern({"read", file, "-o", out("self")});
  EXPECT_EQ(run.finish(), 4) << run.errors();
  EXPECT_THAT(run.errors(), HasSubstr("f.md would be replaced, and this run reads it"));
  EXPECT_EQ(slurp(file), bytes);
}

TEST_F(ReadTest, RunsOverSeveralFoldersShareOneOutputFolder) {
  pdf("A/x.pdf", 1);
  pdf("B/x.pdf", 1);
  std::filesystem::copy_file(samples + "receipt.jpg", out("A") + "/x.jpg");
  const auto read = [this](const std::string& what) {
    Program run = lectern({"read", out(what), "-o", out(), "--json"});
    EXPECT_EQ(run.finish(), 0) << run.errors();
    return run.events().back()["pages_read"].get<int>();
  };
  EXPECT_EQ(read("A/x.pdf"), 1);
  EXPECT_EQ(read("B"), 1);
  EXPECT_EQ(read("A"), 1) << "the picture that joined";
  EXPECT_EQ(slurp(out() + "/x.md"), "Page 1 of the A/x.pdf report.\n");
  EXPECT_EQ(slurp(out() + "/B/x.md"), "Page 1 of the B/x.pdf report.\n");
  EXPECT_TRUE(std::filesystem::exists(out() + "/x.jpg.md"));
  for (const char* again : {"A", "B", "A/x.jpg"}) EXPECT_EQ(read(again), 0) << again;
}

TEST_F(ReadTest, FewerPagesShrinkNothingAndDeletedFiguresComeBack) {
  const auto read = [this](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"read", samples + "report.pdf", "-o", out(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program run = lectern(arguments);
    EXPECT_EQ(run.finish(), 0) << run.errors();
    return run.events().back()["pages_read"].get<int>();
  };
  EXPECT_GT(read({}), 1);
  const std::string text = slurp(out() + "/report.md");
  ASSERT_THAT(text, HasSubstr("](report.figures/"));
  EXPECT_EQ(read({"--pages", "1"}), 0);
  EXPECT_EQ(slurp(out() + "/report.md"), text);
  std::filesystem::remove_all(out() + "/report.figures");
  EXPECT_GT(read({}), 0);
  EXPECT_TRUE(std::filesystem::exists(out() + "/report.figures"));
  EXPECT_EQ(slurp(out() + "/report.md"), text);
}

TEST_F(ReadTest, WarningsAndErrorsDoNotCommandTheTerminal) {
  pdf("in/good.pdf", 1);
  const std::string odd = "odd\x1b[2J\nname.pdf";
  std::filesystem::create_symlink("none", folder_.path() / "in" / odd);
  Program folder = lectern({"read", out("in")});
  EXPECT_EQ(folder.finish(), 0) << folder.errors();
  EXPECT_THAT(folder.errors(),
              HasSubstr("odd?[2J name.pdf is a link to something that is not there; it was passed over"));
  Program named = lectern({"read", put(odd + "2", "no document")});
  EXPECT_EQ(named.finish(), 4);
  EXPECT_THAT(named.errors(), HasSubstr("odd?[2J name.pdf2: "));
  for (const Program* run : {&folder, &named}) EXPECT_THAT(run->errors(), Not(HasSubstr("\x1b")));
}

TEST_F(ReadTest, AClosedPipeEndsItQuietly) {
  Program run(LECTERN_BIN_DIR "/lectern",
              {.arguments = {"read", pdf("long.pdf", 60), "--quiet"}, .output_closed = true});
  EXPECT_EQ(run.finish(), 141);
  EXPECT_EQ(run.errors(), "");
}

TEST_F(ReadTest, AFolderThatCannotBeWrittenIsNamed) {
  const std::string file = pdf("a.pdf", 1);
  Program run = lectern({"read", file, "-o", "/proc/nowhere"});
  EXPECT_EQ(run.finish(), 1);
  EXPECT_THAT(run.errors(), HasSubstr("/proc/nowhere"));
  Program is_file = lectern({"read", file, "-o", file});
  EXPECT_EQ(is_file.finish(), 1);
  EXPECT_THAT(is_file.errors(), HasSubstr(file));
}

TEST_F(ReadTest, WrongUsage) {
  const std::vector<std::vector<std::string>> cases = {{},
                                                       {"read"},
                                                       {"raed", "a.pdf"},
                                                       {"read", "a.pdf", "--pages", "0"},
                                                       {"read", "a.pdf", "--pages", ""},
                                                       {"read", "a.pdf", "-o", ""},
                                                       {"read", "-a.pdf"},
                                                       {"read", "a.pdf", "--format", "doc"},
                                                       {"read", "a.pdf", "--lang", "klingon"},
                                                       {"read", "a.pdf", "--parallel", "0"},
                                                       {"read", "a.pdf", "--config", "/none"}};
  for (const auto& arguments : cases) {
    Program run = lectern(arguments);
    EXPECT_EQ(run.finish(), 2) << run.errors();
    EXPECT_EQ(run.output(), "");
    EXPECT_NE(run.errors(), "");
  }
}

}  // namespace
}  // namespace lectern::e2e
