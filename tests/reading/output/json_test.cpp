#include "reading/output/json.h"

#include <nlohmann/json.hpp>

#include <limits>

namespace lectern::reading {
namespace {

// Every field set to something that is not its default.
PageResult full_page() {
  PageResult page;
  page.page = 3;
  page.markdown = "# Título\n";
  Block heading;
  heading.kind = BlockKind::heading;
  heading.bbox = {72.1F, 80.123456F, 300, 100};
  heading.text = "Título";
  heading.level = 1;
  heading.font_size_pt = 17.9F;
  heading.bold = true;
  Block table;
  table.kind = BlockKind::table;
  table.table = {.rows = 2, .columns = 2, .cells = {{0, 0, 1, 2, true, "a|b"}, {1, 0, 1, 1, false, "x\ny"}}};
  Block item;
  item.kind = BlockKind::list_item;
  item.marker = "1.";
  item.text = "first";
  item.continues = true;
  Block figure;
  figure.kind = BlockKind::figure;
  figure.file = "a.figures/page-3-1.png";
  Block code;
  code.kind = BlockKind::code;
  code.language = "cpp";
  code.text = "int a = '\\n';\n";
  code.markdown = "x";
  page.blocks = {heading, table, item, figure, code};
  page.content_class = "text";
  page.rotation = 90;
  page.reader = "builtin";
  page.model = "m";
  page.confidence = 0.1;
  page.confidence_why = "why";
  page.agreement = 0.75;
  page.attempts = {{"builtin", "timeout", "took too long", 20'000, "halves"}, {"builtin", "ok", "", 12}};
  page.tokens = Tokens{10, 20};
  page.ms = {1, 2, 3, 4, 5};
  page.error = "an \"error\"";
  page.size = {595.276F, 841.89F};
  return page;
}

TEST(PageJson, JournalFormReadsBackExactly) {
  for (const PageResult& page : {full_page(), PageResult{.page = 1}}) {
    const auto back = from_journal_json(to_journal_json(page));
    ASSERT_TRUE(back) << back.error().for_log;
    EXPECT_EQ(*back, page);
  }
}

TEST(PageJson, JournalFormIsOneLine) {
  EXPECT_EQ(to_journal_json(full_page()).find('\n'), std::string::npos);
}

TEST(PageJson, EveryBlockKindReadsBack) {
  for (int kind = 0; kind <= static_cast<int>(BlockKind::page_footer); ++kind) {
    PageResult page{.page = 1};
    page.blocks.push_back({.kind = static_cast<BlockKind>(kind)});
    const auto back = from_journal_json(to_journal_json(page));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, page);
  }
}

TEST(PageJson, OutwardFormHasTheDocumentedKeysInOrder) {
  const auto json = nlohmann::ordered_json::parse(to_json(full_page()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"page", "size", "markdown", "blocks", "content_class", "rotation", "reader",
                                            "model", "confidence", "confidence_why", "agreement", "attempts", "tokens",
                                            "ms", "error"}));
  EXPECT_EQ(json["blocks"][0].dump(),
            R"({"kind":"heading","bbox":[72.1,80.12,300.0,100.0],"text":"Título","level":1})");
}

TEST(PageJson, CellsArePlainOutwardAndKeepTheirMarkdown) {
  PageResult page{.page = 1};
  Block table;
  table.kind = BlockKind::table;
  table.table = {
      .rows = 1, .columns = 2, .cells = {{0, 0, 1, 1, false, "[a](https://x.org/)"}, {0, 1, 1, 1, false, "\\*b\\*"}}};
  page.blocks = {table};
  const auto cells = nlohmann::json::parse(to_json(page))["blocks"][0]["table"]["cells"];
  EXPECT_EQ(cells[0]["text"], "a");
  EXPECT_EQ(cells[0]["markdown"], "[a](https://x.org/)");
  EXPECT_EQ(cells[1]["text"], "*b*");
  EXPECT_FALSE(cells[1].contains("markdown"));
}

TEST(PageJson, ABlockWithoutABoxHasNone) {
  PageResult page{.page = 1};
  page.blocks.push_back({.text = "read by a model that does not say where"});
  page.blocks.push_back({.bbox = {0, 0, 10, 10}, .text = "in the corner"});
  const auto blocks = nlohmann::json::parse(to_json(page))["blocks"];
  EXPECT_FALSE(blocks[0].contains("bbox"));
  EXPECT_EQ(blocks[1]["bbox"].dump(), "[0.0,0.0,10.0,10.0]");
  EXPECT_EQ(from_journal_json(to_journal_json(page)).value(), page);
}

TEST(PageJson, UnknownFieldsAreAbsent) {
  const auto json = nlohmann::json::parse(to_json({.page = 2}));
  for (const char* key :
       {"content_class", "reader", "model", "confidence", "agreement", "attempts", "tokens", "error"}) {
    EXPECT_FALSE(json.contains(key)) << key;
  }
}

TEST(PageJson, BrokenUtf8AndWildNumbersStillGiveJson) {
  PageResult page{.page = 1};
  page.blocks.push_back({.text = "a\xFF\xFE b"});
  page.blocks[0].bbox = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1, 2};
  EXPECT_TRUE(nlohmann::json::accept(to_json(page)));
  const auto back = from_journal_json(to_journal_json(page));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->blocks[0].bbox, (RectPt{0, 0, 1, 2}));
}

TEST(PageJson, WrongJournalRowsAreErrorsThatNameTheField) {
  struct Case {
    std::string_view json;
    std::string_view names;
  };
  const Case cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"{\"page\":1", "not a JSON object"},
      {R"({"page":0,"size":[1,1]})", "'page'"},
      {R"({"page":"1","size":[1,1]})", "'page'"},
      {R"({"page":99999999999,"size":[1,1]})", "'page'"},
      {R"({"page":1})", "'size'"},
      {R"({"page":1,"size":[1]})", "'size'"},
      {R"({"page":1,"size":[1e300,1]})", "'size'"},
      {R"({"page":1,"size":[1,1],"blocks":{}})", "'blocks'"},
      {R"({"page":1,"size":[1,1],"blocks":[{"kind":"poem","bbox":[0,0,0,0]}]})", "'kind'"},
      {R"({"page":1,"size":[1,1],"blocks":[{"kind":"code","bbox":[0,0,0]}]})", "'bbox'"},
      {R"({"page":1,"size":[1,1],"error":1})", "'error'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.json);
    const auto result = from_journal_json(c.json);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::corrupt);
    EXPECT_NE(result.error().for_log.find(c.names), std::string::npos) << result.error().for_log;
  }
}

}  // namespace
}  // namespace lectern::reading
