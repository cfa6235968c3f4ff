#include "cli/inputs.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "temp_folder.h"

namespace lectern::cli {
namespace {

TEST(NameDocuments, AsShortAsIsUnambiguous) {
  struct Case {
    std::string_view name;
    std::vector<std::pair<std::string, int>> files;             // absolute path, parts of the name
    std::vector<std::pair<std::string, std::string>> expected;  // name, stem
  };
  const Case cases[] = {
      {"one file", {{"/x/a.pdf", 1}}, {{"a.pdf", "a"}}},
      {"folders are mirrored", {{"/x/sub/a.pdf", 2}, {"/x/a.pdf", 1}}, {{"sub/a.pdf", "sub/a"}, {"a.pdf", "a"}}},
      {"same stem keeps the extension", {{"/x/a.pdf", 1}, {"/x/a.png", 1}}, {{"a.pdf", "a.pdf"}, {"a.png", "a.png"}}},
      {"same name takes the folder", {{"/x/a.pdf", 1}, {"/y/a.pdf", 1}}, {{"x/a.pdf", "x/a"}, {"y/a.pdf", "y/a"}}},
      {"only the ambiguous ones grow",
       {{"/x/a.pdf", 1}, {"/y/a.pdf", 1}, {"/y/b.pdf", 1}},
       {{"x/a.pdf", "x/a"}, {"y/a.pdf", "y/a"}, {"b.pdf", "b"}}},
      {"folders of the same name",
       {{"/p/x/a.pdf", 1}, {"/q/x/a.pdf", 1}},
       {{"p/x/a.pdf", "p/x/a"}, {"q/x/a.pdf", "q/x/a"}}},
      {"a grown name meets another",
       {{"/x/a.pdf", 1}, {"/y/a.pdf", 1}, {"/z/x/a.pdf", 2}},
       {{"x/a.pdf", "x/a"}, {"y/a.pdf", "y/a"}, {"z/x/a.pdf", "z/x/a"}}},
      {"a name that is another's stem",
       {{"/x/a.pdf", 1}, {"/x/a.png", 1}, {"/x/a.pdf.png", 1}},
       {{"a.pdf", "a.pdf"}, {"a.png", "a.png"}, {"a.pdf.png", "a.pdf.png"}}},
      {"no extension", {{"/x/scan", 1}}, {{"scan", "scan"}}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<FoundFile> files;
    for (const auto& [path, parts] : c.files) files.push_back({path, path, parts});
    std::vector<std::pair<std::string, std::string>> named;
    for (const auto& document : name_documents(files)) named.emplace_back(document.name, document.stem);
    EXPECT_EQ(named, c.expected);
  }
}

class InputsTest : public testing::Test {
 protected:
  std::string touch(const std::string& name, const std::string& content = "x") {
    const auto file = folder_.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
    return file.string();
  }
  Inputs collect(std::vector<std::string> arguments) {
    auto inputs = collect_inputs({.arguments = std::move(arguments), .temporary_folder = folder_.path()});
    EXPECT_TRUE(inputs) << inputs.error().for_log;
    return inputs ? std::move(*inputs) : Inputs{};
  }
  static std::vector<std::string> names(const Inputs& inputs) {
    std::vector<std::string> names;
    for (const auto& document : inputs.documents) names.push_back(document.name);
    return names;
  }
  TempFolder folder_;
};

TEST_F(InputsTest, FoldersAreWalkedInOrder) {
  for (const char* name : {"d/z.pdf", "d/a.PNG", "d/sub/m.tif", "d/notes.txt", "d/.hidden.pdf", "d/.git/x.pdf",
                           "d/sub/deep/b.webp", "d/out/.lectern/lock", "d/out/a.figures/page-1-1.png"}) {
    touch(name);
  }
  EXPECT_EQ(names(collect({(folder_.path() / "d").string()})),
            (std::vector<std::string>{"a.PNG", "sub/deep/b.webp", "sub/m.tif", "z.pdf"}));
  EXPECT_EQ(names(collect({(folder_.path() / "d/").string()})).size(), 4U) << "with a slash at the end";
}

TEST_F(InputsTest, WhatIsCalledLikeADocumentButIsNoneIsNamed) {
  const std::string good = touch("d/good.pdf");
  std::filesystem::create_symlink(good, folder_.path() / "d/linked.pdf");
  std::filesystem::create_symlink(folder_.path() / "none", folder_.path() / "d/dangling.pdf");
  std::filesystem::create_symlink(folder_.path() / "none", folder_.path() / "d/dangling.txt");
  ASSERT_EQ(::mkfifo((folder_.path() / "d/pipe.pdf").c_str(), 0600), 0);
  const Inputs inputs = collect({(folder_.path() / "d").string()});
  EXPECT_EQ(names(inputs), (std::vector<std::string>{"good.pdf", "linked.pdf"}));
  EXPECT_TRUE(inputs.problems.empty());
  ASSERT_EQ(inputs.passed_over.size(), 2U);
  EXPECT_EQ(inputs.passed_over[0],
            (InputProblem{(folder_.path() / "d/dangling.pdf").string(), "is a link to something that is not there"}));
  EXPECT_EQ(inputs.passed_over[1].reason, "is a pipe");
}

// lectern read . -o .
TEST_F(InputsTest, FiguresOfAnOutputFolderAreNotReadAgain) {
  for (const char* name : {"d/.lectern/lock", "d/a.pdf", "d/a.figures/page-1-1.png", "d/a.figures/scan.png"})
    touch(name);
  EXPECT_EQ(names(collect({(folder_.path() / "d").string()})),
            (std::vector<std::string>{"a.figures/scan.png", "a.pdf"}));
}

TEST_F(InputsTest, FilesAndFoldersMixAndKeepTheirOrder) {
  touch("d/a.pdf");
  const std::string b = touch("b.txt");
  const Inputs inputs = collect({b, (folder_.path() / "d").string(), (folder_.path() / "d/../d/a.pdf").string()});
  EXPECT_EQ(names(inputs), (std::vector<std::string>{"b.txt", "a.pdf"}))
      << "a file named outright is tried whatever it is called; one named twice is read once";
}

TEST_F(InputsTest, WhatGivesNoDocumentIsNamed) {
  std::filesystem::create_directories(folder_.path() / "empty");
  touch("notes/readme.txt");
  const Inputs inputs = collect({(folder_.path() / "none.pdf").string(), (folder_.path() / "empty").string(),
                                 (folder_.path() / "notes").string(), touch("ok.pdf")});
  ASSERT_EQ(inputs.problems.size(), 3U);
  EXPECT_EQ(inputs.problems[0].reason, "there is no such file");
  EXPECT_THAT(inputs.problems[1].name, testing::EndsWith("empty"));
  EXPECT_THAT(inputs.problems[1].reason, testing::HasSubstr("no documents in this folder (looked for .pdf"));
  EXPECT_EQ(names(inputs), std::vector<std::string>{"ok.pdf"});
}

TEST_F(InputsTest, StandardInputBecomesADocumentWithoutAName) {
  const std::string content(200'000, 'p');
  const std::string file = touch("piped", content);
  const UniqueFd piped(::open(file.c_str(), O_RDONLY));
  auto inputs =
      collect_inputs({.arguments = {"-", "-"}, .temporary_folder = folder_.path(), .standard_input = piped.get()});
  ASSERT_TRUE(inputs);
  ASSERT_EQ(inputs->documents.size(), 1U);
  EXPECT_EQ(inputs->documents[0].name, "stdin");
  EXPECT_EQ(inputs->documents[0].stem, "stdin");
  std::ifstream in(inputs->documents[0].file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), content);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "only the piped file itself";
}

}  // namespace
}  // namespace lectern::cli
