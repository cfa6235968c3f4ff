// What a run may touch in a folder that others use, too: people, other runs, earlier versions.
#include <gmock/gmock.h>

#include "fake_run.h"
#include "reading/read_run.h"

namespace lectern::reading {
namespace {

using testing::HasSubstr;

class SharedFolderTest : public RunTest {
 protected:
  SharedFolderTest() { options_.output_folder = out(); }

  void put(const std::string& name, const std::string& text) {
    const auto file = out() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // A folder as earlier versions left it.
  void forget_owners() { std::filesystem::remove(out() / ".lectern/documents.jsonl"); }
  // The run is about these alone.
  void start_over() { options_.documents.clear(); }
  // A document of that name in another folder than add() uses.
  void add_from(const std::string& folder, const std::string& name, const std::string& content) {
    const auto file = folder_.path() / folder / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
    options_.documents.push_back({file, name, std::filesystem::path(name).replace_extension().string()});
  }
};

TEST_F(SharedFolderTest, AForeignOutputIsNotReplaced) {
  add("a.pdf", "1 fox");
  add("b.pdf", "1 hen");
  put("a.md", "mine");
  RunReport report = run_well();
  EXPECT_EQ(report.documents_failed, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "mine");
  EXPECT_EQ(slurp(out() / "b.md"), "Page 1 about the hen.\n") << "the other is read";
  std::ranges::sort(events_.reports, {}, &DocumentReport::name);
  EXPECT_THAT(events_.reports[0].error,
              HasSubstr("a.md is there already, and nothing in the folder says that Lectern"));
  EXPECT_THAT(events_.reports[0].error, HasSubstr("choose another folder with -o"));
  EXPECT_EQ(run_well().documents_failed, 1) << "having refused does not make it ours";
  std::filesystem::remove(out() / "a.md");
  report = run_well();
  EXPECT_EQ(report.documents_failed, 0);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the fox.\n");
}

TEST_F(SharedFolderTest, NorOneOfAnotherFormat) {
  add("a.pdf", "1 fox");
  run_well();
  put("a.json", "mine");
  options_.format = OutputFormat::json;
  EXPECT_EQ(run_well().documents_failed, 1);
  EXPECT_EQ(slurp(out() / "a.json"), "mine");
  EXPECT_THAT(slurp(out() / "manifest.jsonl"), HasSubstr(R"("document":"a.pdf","page":1,"state":"ok")"));
  options_.format = OutputFormat::markdown;
  EXPECT_EQ(run_well().documents_up_to_date, 1);
}

TEST_F(SharedFolderTest, ForeignFiguresStay) {
  reader_.with_figures = true;
  add("a.pdf", "1 fox");
  put("a.figures/notes.txt", "mine");
  EXPECT_EQ(run_well().documents_failed, 0);
  add("a.pdf", "2 cow");
  EXPECT_EQ(run_well().pages_read, 2);
  EXPECT_EQ(slurp(out() / "a.figures/notes.txt"), "mine");
  EXPECT_TRUE(exists(out() / "a.figures/page-2-1.png"));

  add("b.pdf", "1 hen");
  put("b.figures/page-1-1.png", "mine");
  EXPECT_EQ(run_well().documents_failed, 1);
  EXPECT_EQ(slurp(out() / "b.figures/page-1-1.png"), "mine");
  EXPECT_FALSE(exists(out() / "b.md"));
}

TEST_F(SharedFolderTest, ADocumentThatCannotBeOpenedOwnsNothing) {
  add("a.pdf", "nonsense");
  run_well();
  put("a.md", "written by hand");
  add("a.pdf", "1 fox");
  EXPECT_EQ(run_well().documents_failed, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "written by hand");
}

TEST_F(SharedFolderTest, AnInputIsNotReplaced) {
  std::filesystem::create_directories(out());
  std::ofstream(out() / "a.md") << "1 fox";
  options_.documents = {{out() / "a.md", "a.md", "a"}};
  EXPECT_EQ(run_well().documents_failed, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "1 fox");
  EXPECT_THAT(events_.reports[0].error, HasSubstr("a.md would be replaced, and this run reads it"));
  // Whatever it is called, and although the output is one of ours.
  std::filesystem::remove(out() / "a.md");
  start_over();
  add("a.pdf", "1 hen");
  run_well();
  std::filesystem::create_hard_link(out() / "a.md", folder_.path() / "in/linked.pdf");
  options_.documents.push_back({folder_.path() / "in/linked.pdf", "linked.pdf", "linked"});
  add("a.pdf", "1 cow");
  EXPECT_EQ(run_well().documents_failed, 2) << "the linked one is no document, and the other would replace it";
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the hen.\n");
}

TEST_F(SharedFolderTest, TwoFoldersOfDocumentsInOneOutputFolder) {
  add_from("A", "x.pdf", "1 fox");
  run_well();
  start_over();
  add_from("B", "x.pdf", "1 hen");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(out() / "x.md"), "Page 1 about the fox.\n");
  EXPECT_EQ(slurp(out() / "B/x.md"), "Page 1 about the hen.\n");
  EXPECT_EQ(run_well().documents_up_to_date, 1);
  start_over();
  add_from("A", "x.pdf", "1 cow");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(out() / "x.md"), "Page 1 about the cow.\n") << "it changed; it is still the same document";
}

TEST_F(SharedFolderTest, ADocumentThatJoinsLaterDoesNotRenameTheFirst) {
  reader_.with_figures = true;
  add("a.pdf", "1 fox");
  run_well();
  start_over();
  add("a.jpg", "1 hen");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_THAT(slurp(out() / "a.jpg.md"), HasSubstr("hen"));
  options_.documents = {{folder_.path() / "in/a.pdf", "a.pdf", "a.pdf"},
                        {folder_.path() / "in/a.jpg", "a.jpg", "a.jpg"}};
  EXPECT_EQ(run_well().documents_up_to_date, 2) << "as a run over both would name them";
  EXPECT_THAT(slurp(out() / "a.md"), HasSubstr("fox"));
  EXPECT_FALSE(exists(out() / "a.pdf.md"));
  EXPECT_TRUE(exists(out() / "a.figures/page-1-1.png"));
}

TEST_F(SharedFolderTest, AMovedDocumentIsTheSame) {
  add_from("A", "x.pdf", "1 fox");
  run_well();
  std::filesystem::rename(folder_.path() / "A", folder_.path() / "C");
  start_over();
  add_from("C", "x.pdf", "1 fox");
  EXPECT_EQ(run_well().documents_up_to_date, 1) << "by its bytes";
  add_from("C", "x.pdf", "2 fox");
  options_.documents.pop_back();
  EXPECT_EQ(run_well().pages_read, 2) << "and from now on by its new path";
  EXPECT_EQ(slurp(out() / "x.md"), "Page 1 about the fox.\n\nPage 2 about the fox.\n");
}

TEST_F(SharedFolderTest, AFolderThatMovedWithItsDocuments) {
  options_.output_folder = folder_.path() / "p/out";
  add_from("p/in", "x.pdf", "1 fox");
  run_well();
  std::filesystem::rename(folder_.path() / "p", folder_.path() / "q");
  options_.output_folder = folder_.path() / "q/out";
  start_over();
  add_from("q/in", "x.pdf", "1 cow");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(folder_.path() / "q/out/x.md"), "Page 1 about the cow.\n");
}

TEST_F(SharedFolderTest, FoldersOfEarlierVersionsGoOn) {
  reader_.with_figures = true;
  add("a.pdf", "1 fox");
  add("b.pdf", "1 hen");
  run_well();
  forget_owners();
  EXPECT_EQ(run_well().documents_up_to_date, 2);
  forget_owners();
  add("a.pdf", "2 cow");
  EXPECT_EQ(run_well().pages_read, 2);
  EXPECT_THAT(slurp(out() / "a.md"), HasSubstr("cow"));
  std::filesystem::remove_all(out() / ".lectern");
  EXPECT_EQ(run_well().pages_read, 3) << "the manifest still tells what Lectern wrote";
}

TEST_F(SharedFolderTest, WithoutItsMemoryAFolderKeepsItsNames) {
  add("a.pdf", "1 fox");
  run_well();
  add("a.jpg", "1 hen");
  run_well();
  ASSERT_TRUE(exists(out() / "a.jpg.md"));
  std::filesystem::remove_all(out() / ".lectern");
  EXPECT_EQ(run_well().pages_read, 2);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the fox.\n");
  EXPECT_EQ(slurp(out() / "a.jpg.md"), "Page 1 about the hen.\n");
  EXPECT_FALSE(exists(out() / "a.pdf.md"));
}

// Earlier versions let two documents write the same file. The last one wrote it; the other is read again.
TEST_F(SharedFolderTest, WhatEarlierVersionsMixedUpIsTakenApart) {
  add("a.pdf", "1 fox");
  run_well();
  std::filesystem::rename(out() / ".lectern/a.pdf.journal", folder_.path() / "kept");
  std::filesystem::remove_all(out());
  start_over();
  add("a.jpg", "1 hen");
  run_well();
  std::filesystem::rename(folder_.path() / "kept", out() / ".lectern/a.pdf.journal");
  std::filesystem::last_write_time(out() / ".lectern/a.pdf.journal",
                                   std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  forget_owners();
  start_over();
  add("a.pdf", "1 fox");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 1 about the hen.\n");
  EXPECT_EQ(slurp(out() / "a.pdf.md"), "Page 1 about the fox.\n");
}

TEST_F(SharedFolderTest, PagesThatWereReadBeforeStay) {
  add("a.pdf", "4 fox");
  run_well();
  const std::string all = slurp(out() / "a.md");
  options_.pages = *PageSelection::parse("2");
  EXPECT_EQ(run_well().documents_up_to_date, 1);
  EXPECT_EQ(slurp(out() / "a.md"), all);
  options_.from_scratch = true;
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 2 about the fox.\n") << "--no-cache begins anew";
  options_.from_scratch = false;
  options_.pages = *PageSelection::parse("4");
  EXPECT_EQ(run_well().pages_read, 1);
  EXPECT_EQ(slurp(out() / "a.md"), "Page 2 about the fox.\n\nPage 4 about the fox.\n");
}

TEST_F(SharedFolderTest, DeletedFiguresAreMadeAgain) {
  reader_.with_figures = true;
  add("a.pdf", "3 fox");
  run_well();
  const std::string text = slurp(out() / "a.md");
  std::filesystem::remove(out() / "a.figures/page-2-1.png");
  EXPECT_EQ(run_well().pages_read, 1) << "that page alone";
  EXPECT_TRUE(exists(out() / "a.figures/page-2-1.png"));
  std::filesystem::remove_all(out() / "a.figures");
  EXPECT_EQ(run_well().pages_read, 3);
  EXPECT_TRUE(exists(out() / "a.figures/page-3-1.png"));
  EXPECT_EQ(slurp(out() / "a.md"), text);
  EXPECT_EQ(run_well().documents_up_to_date, 1);
}

TEST_F(SharedFolderTest, AFileIsNoFolder) {
  add("a.pdf", "1 fox");
  std::ofstream(out()) << "mine";
  const auto report = run();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().for_caller, HasSubstr("out is a file, not a folder"));
  EXPECT_EQ(slurp(out()), "mine");
}

}  // namespace
}  // namespace lectern::reading
