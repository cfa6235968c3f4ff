#include "reading/plan.h"

namespace lectern::reading {
namespace {

const ReadingIdentity identity{"abc", "builtin eng"};
const Assembled all_markdown{OutputFormat::markdown, "a.md", "1-"};

Known known_document(std::vector<std::pair<int, PageState>> states) {
  Known known{.identity = identity, .page_count = 4, .assembled = all_markdown, .output_exists = true};
  for (const auto& [page, state] : states) {
    PageRecord record;
    record.page = page;
    record.state = state;
    known.records.push_back(record);
  }
  return known;
}

Wanted wanted_document() {
  return {.identity = identity, .output = "a.md"};
}

TEST(Plan, WhatIsReadAgain) {
  using enum PageState;
  const auto pages = [](std::string_view text) { return *PageSelection::parse(text); };
  struct Case {
    std::string_view name;
    Known known;
    Wanted wanted;
    Plan plan;
  };
  const std::vector<std::pair<int, PageState>> all = {{1, ok}, {2, ok}, {3, ok}, {4, ok}};
  std::vector<Case> cases;
  cases.push_back({"all known and written: nothing", known_document(all), wanted_document(), {}});
  cases.push_back({"missing pages", known_document({{2, ok}}), wanted_document(), {{1, 3, 4}, true}});
  cases.push_back(
      {"failed pages are left alone", known_document({{1, ok}, {2, failed}, {3, ok}, {4, ok}}), wanted_document(), {}});
  cases.push_back({"failed pages are read again when asked for",
                   known_document({{1, ok}, {2, failed}, {3, ok}, {4, ok}}),
                   wanted_document(),
                   {{2}, true}});
  cases.back().wanted.retry_failed = true;
  cases.push_back({"retry reads nothing when none failed", known_document(all), wanted_document(), {}});
  cases.back().wanted.retry_failed = true;
  cases.push_back({"more pages wanted", known_document({{1, ok}, {2, ok}}), wanted_document(), {{3}, true}});
  cases.back().wanted.pages = pages("1-3");
  cases.push_back({"fewer pages wanted: what was read stays", known_document(all), wanted_document(), {}});
  cases.back().wanted.pages = pages("2");
  cases.push_back({"a page beside those in the output", known_document({{1, ok}}), wanted_document(), {{3}, true}});
  cases.back().wanted.pages = pages("3");
  cases.back().known.assembled->pages = "1";
  cases.push_back(
      {"an earlier version left pages out: only assembled", known_document(all), wanted_document(), {{}, true}});
  cases.back().wanted.pages = pages("2");
  cases.back().known.assembled->pages = "2";
  cases.push_back({"the same pages, written otherwise", known_document(all), wanted_document(), {}});
  cases.back().known.assembled->pages = "1-4";
  cases.push_back({"figures are gone", known_document(all), wanted_document(), {{2, 3}, true}});
  cases.back().known.figures_lost = {2, 3};
  cases.push_back({"figures of pages that are not wanted", known_document(all), wanted_document(), {}});
  cases.back().known.figures_lost = {2, 3};
  cases.back().wanted.pages = pages("1");
  cases.push_back({"another format: only assembled", known_document(all), wanted_document(), {{}, true}});
  cases.back().wanted.format = OutputFormat::json;
  cases.back().wanted.output = "a.json";
  cases.push_back({"the output was deleted: only assembled", known_document(all), wanted_document(), {{}, true}});
  cases.back().known.output_exists = false;
  cases.push_back({"killed before assembling", known_document(all), wanted_document(), {{}, true}});
  cases.back().known.assembled.reset();
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(is_usable(c.known, c.wanted));
    EXPECT_EQ(plan_document(&c.known, c.wanted, c.known.page_count), c.plan);
  }
}

TEST(Plan, NothingKnownReadsEveryWantedPage) {
  Wanted wanted = wanted_document();
  EXPECT_EQ(plan_document(nullptr, wanted, 3), (Plan{{1, 2, 3}, true}));
  wanted.pages = *PageSelection::parse("2-");
  EXPECT_EQ(plan_document(nullptr, wanted, 3), (Plan{{2, 3}, true}));
}

TEST(Plan, TheOutputKeepsWhatWasRead) {
  Wanted wanted = wanted_document();
  wanted.pages = *PageSelection::parse("3-");
  EXPECT_EQ(output_pages(nullptr, wanted, 4), (std::vector<int>{3, 4}));
  const Known known = known_document({{1, PageState::ok}, {3, PageState::failed}});
  EXPECT_EQ(output_pages(&known, wanted, 4), (std::vector<int>{1, 3, 4}));
}

TEST(Plan, ChangedDocumentReaderOrOptionsMakeOldResultsUseless) {
  const Known known = known_document({{1, PageState::ok}});
  EXPECT_TRUE(is_usable(known, wanted_document()));
  Wanted other_bytes = wanted_document();
  other_bytes.identity.sha256 = "abd";
  EXPECT_FALSE(is_usable(known, other_bytes));
  Wanted other_reader = wanted_document();
  other_reader.identity.fingerprint = "builtin por";
  EXPECT_FALSE(is_usable(known, other_reader));
  Wanted from_scratch = wanted_document();
  from_scratch.from_scratch = true;
  EXPECT_FALSE(is_usable(known, from_scratch));
}

}  // namespace
}  // namespace lectern::reading
