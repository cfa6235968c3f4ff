#include "reading/journal.h"

#include <fstream>
#include <limits>

#include "faulty_disk.h"
#include "reading/page_result.h"
#include "temp_folder.h"

namespace lectern::reading {
namespace {

JournalHeader header() {
  JournalHeader header{.document = "sub/a.pdf", .identity = {"abc", "builtin eng"}};
  header.info = {.kind = document::DocumentKind::pdf, .pages = 9, .title = "A \"title\"", .outline = {{1, "One", 3}}};
  return header;
}

PageResult page(int number, std::string text, std::string error = {}) {
  PageResult result{.page = number, .reader = "builtin", .error = std::move(error)};
  if (!text.empty()) result.blocks.push_back({.text = std::move(text)});
  return result;
}

PageRecord record(const PageResult& result) {
  return record_of(result, WallTime{std::chrono::milliseconds{1'234'567'890'123}}, 0);
}

class JournalTest : public testing::Test {
 protected:
  Journal::Seams seams() { return {real_disk(), clock_}; }
  Result<std::optional<Journal::Opened>> open() { return Journal::open(seams(), file_); }
  std::unique_ptr<Journal> create() {
    auto journal = Journal::create(seams(), file_, header());
    EXPECT_TRUE(journal) << journal.error().for_log;
    return std::move(*journal);
  }
  void add(Journal& journal, const PageResult& result) {
    const auto status = journal.append(record(result), result);
    ASSERT_TRUE(status) << status.error().for_log;
  }
  std::string bytes() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const {
    std::filesystem::remove(file_);  // some file systems write a file that was emptied and refilled to the disk at once
    std::ofstream(file_, std::ios::binary) << bytes;
  }

  TempFolder folder_;
  ManualClock clock_;
  std::filesystem::path file_ = folder_.path() / "deep" / "a.journal";
};

TEST_F(JournalTest, WhatWasAppendedReadsBack) {
  const PageResult two = page(2, "zwei, \"result\": {,\"result\":}");
  const PageResult five = page(5, "", "the renderer crashed");
  {
    const auto journal = create();
    add(*journal, two);
    add(*journal, five);
    EXPECT_EQ(*journal->read(2), two);  // also while it is being written
    ASSERT_TRUE(journal->append(Assembled{OutputFormat::html, "sub/a.html", "1-"}));
  }
  const auto opened = open();
  ASSERT_TRUE(opened && *opened);
  const JournalContents& contents = (*opened)->contents;
  EXPECT_EQ(contents.header, header());
  EXPECT_EQ(contents.records, (std::vector<PageRecord>{record(two), record(five)}));
  EXPECT_EQ(contents.assembled, (Assembled{OutputFormat::html, "sub/a.html", "1-"}));
  EXPECT_FALSE(contents.cut);
  const Journal& journal = *(*opened)->journal;
  EXPECT_TRUE(journal.has(2));
  EXPECT_FALSE(journal.has(1));
  EXPECT_EQ(*journal.read(2), two);
  EXPECT_EQ(*journal.read(5), five);
}

TEST_F(JournalTest, TheLastRowOfAPageCountsAndOutdatesTheOutput) {
  {
    const auto journal = create();
    add(*journal, page(1, "", "timeout"));
    ASSERT_TRUE(journal->append(Assembled{OutputFormat::markdown, "a.md", "1-"}));
    add(*journal, page(1, "better"));
  }
  const auto opened = open();
  ASSERT_TRUE(opened && *opened);
  ASSERT_EQ((*opened)->contents.records.size(), 1U);
  EXPECT_EQ((*opened)->contents.records[0].state, PageState::ok);
  EXPECT_EQ((*opened)->contents.assembled, std::nullopt);
  EXPECT_EQ((*opened)->journal->read(1)->blocks[0].text, "better");
}

TEST_F(JournalTest, NoFileIsNothing) {
  const auto opened = open();
  ASSERT_TRUE(opened);
  EXPECT_FALSE(*opened);
}

// The central promise: wherever a crash cuts the file, whole rows count, the rest is dropped, and appending goes on.
TEST_F(JournalTest, TornAtEveryByte) {
  std::vector<std::size_t> ends;  // file sizes after each row
  {
    const auto journal = create();
    ends.push_back(bytes().size());
    for (int number = 1; number <= 3; ++number) {
      add(*journal, page(number, fmt::format("text of page {}", number)));
      ends.push_back(bytes().size());
    }
  }
  const std::string whole = bytes();
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    SCOPED_TRACE(size);
    put(whole.substr(0, size));
    const auto rows = std::ranges::upper_bound(ends, size) - ends.begin();
    {
      auto opened = open();
      ASSERT_TRUE(opened);
      ASSERT_EQ(opened->has_value(), rows > 0);
      if (rows == 0) continue;
      EXPECT_EQ(static_cast<std::ptrdiff_t>((*opened)->contents.records.size()), rows - 1);
      EXPECT_EQ((*opened)->contents.cut, size != ends.at(static_cast<std::size_t>(rows) - 1));
      add(*(*opened)->journal, page(7, "after the crash"));
    }
    const auto again = open();
    ASSERT_TRUE(again && *again);
    EXPECT_FALSE((*again)->contents.cut);
    EXPECT_EQ(static_cast<std::ptrdiff_t>((*again)->contents.records.size()), rows);
    EXPECT_EQ((*again)->journal->read(7)->blocks[0].text, "after the crash");
  }
}

TEST_F(JournalTest, AFlippedBitIsNeverTakenForAResult) {
  {
    const auto journal = create();
    add(*journal, page(1, "one"));
    add(*journal, page(2, "two"));
  }
  const std::string whole = bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    SCOPED_TRACE(i);
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    put(damaged);
    const auto opened = open();
    ASSERT_TRUE(opened);
    if (!*opened) continue;  // damage in the first row
    EXPECT_EQ((*opened)->contents.header, header());
    EXPECT_LT((*opened)->contents.records.size(), 2U);
    for (const PageRecord& found : (*opened)->contents.records) {
      const auto result = (*opened)->journal->read(found.page);
      ASSERT_TRUE(result);
      EXPECT_EQ(result->blocks[0].text, found.page == 1 ? "one" : "two");
    }
  }
}

TEST_F(JournalTest, DamageAfterOpeningIsAnErrorThatSaysWhatToDo) {
  const auto journal = create();
  add(*journal, page(1, "one"));
  std::string damaged = bytes();
  damaged[damaged.size() - 5] = '#';
  std::fstream out(file_, std::ios::in | std::ios::out | std::ios::binary);
  out << damaged;
  out.close();
  const auto result = journal->read(1);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
  EXPECT_NE(result.error().for_caller.find("--no-cache"), std::string::npos);
}

TEST_F(JournalTest, APrivateJournalLeavesNoFile) {
  auto journal = Journal::create_private(seams(), folder_.path(), header());
  ASSERT_TRUE(journal);
  add(**journal, page(4, "four"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ((*journal)->read(4)->blocks[0].text, "four");
}

TEST_F(JournalTest, CreateReplacesAnOldJournal) {
  add(*create(), page(1, "old"));
  create();
  const auto opened = open();
  ASSERT_TRUE(opened && *opened);
  EXPECT_TRUE((*opened)->contents.records.empty());
}

TEST_F(JournalTest, RowsAreMadeDurableInGroups) {
  FaultyDisk disk(real_disk(), std::numeric_limits<int>::max());
  auto journal = Journal::create({disk, clock_}, file_, header());
  ASSERT_TRUE(journal);
  for (int number = 1; number <= 10; ++number) {
    add(**journal, page(number, "x"));
    clock_.advance(std::chrono::milliseconds{300});
  }
  EXPECT_EQ(disk.syncs(), 2);
  ASSERT_TRUE((*journal)->sync());
  EXPECT_EQ(disk.syncs(), 3);
  ASSERT_TRUE((*journal)->sync());  // nothing new
  EXPECT_EQ(disk.syncs(), 3);
}

TEST_F(JournalTest, AfterAFailedWriteNothingMoreIsAppended) {
  FaultyDisk disk(real_disk(), 5);  // folder, file, first row, page 1, then page 2
  auto journal = Journal::create({disk, clock_}, file_, header());
  ASSERT_TRUE(journal);
  add(**journal, page(1, "one"));
  const PageResult two = page(2, "two");
  ASSERT_FALSE((*journal)->append(record(two), two));  // leaves half a row
  const PageResult three = page(3, "three");
  EXPECT_FALSE((*journal)->append(record(three), three));
  EXPECT_FALSE((*journal)->sync());
  const auto opened = open();
  ASSERT_TRUE(opened && *opened);
  EXPECT_EQ((*opened)->contents.records.size(), 1U);
  EXPECT_TRUE((*opened)->contents.cut);
}

}  // namespace
}  // namespace lectern::reading
