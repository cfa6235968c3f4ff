#include "reading/manifest.h"

#include <fstream>

#include "faulty_disk.h"
#include "reading/page_result.h"
#include "temp_folder.h"

namespace lectern::reading {
namespace {

PageRecord row(int page, PageState state, std::string reason = {}) {
  PageRecord record;
  record.page = page;
  record.state = state;
  record.reader = "builtin";
  record.attempts = 1;
  record.reason = std::move(reason);
  record.started_at = WallTime{std::chrono::milliseconds{1'763'185'775'123}};
  record.ms = 12;
  return record;
}

class ManifestTest : public testing::Test {
 protected:
  std::unique_ptr<Manifest> load() {
    auto manifest = Manifest::load(real_disk(), clock_, file_);
    EXPECT_TRUE(manifest) << manifest.error().for_log;
    return manifest ? std::move(*manifest) : nullptr;
  }
  std::string text() const {
    std::ifstream in(file_);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  TempFolder folder_;
  ManualClock clock_;
  std::filesystem::path file_ = folder_.path() / "manifest.jsonl";
};

TEST_F(ManifestTest, RowsAreAsDocumented) {
  const auto manifest = load();
  manifest->set("b.pdf", std::vector{row(2, PageState::failed, "timed out"), row(1, PageState::ok)});
  manifest->set_failed("a.pdf", "needs a password");
  ASSERT_TRUE(manifest->save());
  EXPECT_EQ(
      text(),
      R"({"document":"a.pdf","state":"failed","attempts":1,"reason":"needs a password","ms":0})"
      "\n"
      R"({"document":"b.pdf","page":1,"state":"ok","reader":"builtin","attempts":1,"started_at":"2025-11-15T05:49:35.123Z","ms":12})"
      "\n"
      R"({"document":"b.pdf","page":2,"state":"failed","reader":"builtin","attempts":1,"reason":"timed out","started_at":"2025-11-15T05:49:35.123Z","ms":12})"
      "\n");
}

TEST_F(ManifestTest, OtherDocumentsKeepTheirRows) {
  load()->set("a.pdf", {});
  {
    const auto first = load();
    first->set("a.pdf", std::vector{row(1, PageState::ok)});
    ASSERT_TRUE(first->save());
  }
  const auto second = load();
  second->update("b.pdf", row(1, PageState::pending));
  ASSERT_TRUE(second->save());
  const auto third = load();
  EXPECT_EQ(third->records("a.pdf"), (std::vector{row(1, PageState::ok)}));
  EXPECT_EQ(third->records("b.pdf"), (std::vector{row(1, PageState::pending)}));
}

TEST_F(ManifestTest, ItIsSavedNowAndThen) {
  const auto manifest = load();
  manifest->update("a.pdf", row(1, PageState::ok));
  ASSERT_TRUE(manifest->save_if_due());
  EXPECT_FALSE(exists(file_));
  clock_.advance(std::chrono::seconds{2});
  ASSERT_TRUE(manifest->save_if_due());
  EXPECT_TRUE(exists(file_));
  std::filesystem::remove(file_);
  clock_.advance(std::chrono::seconds{2});
  ASSERT_TRUE(manifest->save_if_due());
  EXPECT_FALSE(exists(file_)) << "nothing had changed";
}

TEST_F(ManifestTest, AStrangeRowIsAnErrorThatNamesIt) {
  std::ofstream(file_) << R"({"document":"a.pdf","page":1,"state":"ok","attempts":1,"ms":1})" << "\n{\"document\":\n";
  const auto manifest = Manifest::load(real_disk(), clock_, file_);
  ASSERT_FALSE(manifest);
  EXPECT_NE(manifest.error().for_caller.find("manifest.jsonl:2:"), std::string::npos) << manifest.error().for_caller;
  EXPECT_NE(manifest.error().for_caller.find("move the file away"), std::string::npos);
}

TEST(PageRecordJson, ReadsBackAndNamesWrongFields) {
  const NamedRecord named{"a \"b\".pdf", row(3, PageState::failed, "a\nb")};
  EXPECT_EQ(*record_from_json(to_json(named.record, named.document)), named);
  struct Case {
    std::string_view json;
    std::string_view names;
  };
  const Case cases[] = {{R"({"page":-1})", "'page'"},
                        {R"({"page":"1"})", "'page'"},
                        {R"({"state":"great"})", "'state'"},
                        {R"({"started_at":"today"})", "'started_at'"},
                        {R"({"started_at":"2025-13-01T00:00:00.000Z"})", "'started_at'"},
                        {R"({"started_at":"1012-11-15T05:49:35.123Z"})", "'started_at'"},
                        {R"({"started_at":"2025-11-15T25:49:35.123Z"})", "'started_at'"},
                        {R"({"color":1})", "'color'"},
                        {"[1]", "not a JSON object"}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    const auto record = record_from_json(c.json);
    ASSERT_FALSE(record);
    EXPECT_NE(record.error().for_log.find(c.names), std::string::npos) << record.error().for_log;
  }
}

TEST(PageRecord, CountsAttemptsOverRuns) {
  PageResult result{.page = 2, .error = "no"};
  EXPECT_EQ(record_of(result, {}, 0).attempts, 1);
  result.attempts.resize(3);
  EXPECT_EQ(record_of(result, {}, 2).attempts, 5);
  EXPECT_EQ(record_of(result, {}, 0).state, PageState::failed);
}

}  // namespace
}  // namespace lectern::reading
