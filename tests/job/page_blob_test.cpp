#include "job/handlers/page_blob.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lectern::job {
namespace {

PageBlob a_page() {
  PageBlob page{.prompt = "Read \"this\",\"record\": all of it."};
  page.result = {.page = 3,
                 .markdown = "# Three\n\n,\"record\":{},\"result\":{}\n",
                 .reader = "model",
                 .model = "m",
                 .confidence = 0.75,
                 .attempts = {{"m", "ok", "", 12}},
                 .tokens = reading::Tokens{10, 20}};
  page.record = reading::record_of(page.result, WallTime{} + std::chrono::hours(500'000), 1);
  return page;
}

TEST(PageBlob, ReadsBackWhateverTheTextHolds) {
  const PageBlob page = a_page();
  const auto back = page_blob_from_json(to_json(page));
  ASSERT_TRUE(back) << back.error().for_log;
  EXPECT_EQ(*back, page);
}

TEST(PageBlob, HasThePlainFieldsFirst) {
  const auto json = nlohmann::ordered_json::parse(to_json(a_page()));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"page_number", "prompt", "response", "record", "result"}));
  EXPECT_EQ(json["page_number"], 3);
  EXPECT_EQ(json["response"], a_page().result.markdown);
}

TEST(PageBlob, ThePageOfTheBuiltinReaderRespondsInMarkdown) {
  PageBlob page{.result = {.page = 1, .reader = "builtin"}};
  page.result.blocks.push_back({.kind = reading::BlockKind::heading, .text = "Title", .level = 1});
  EXPECT_EQ(nlohmann::json::parse(to_json(page))["response"], "# Title\n");
}

TEST(PageBlob, AFailedPageSaysWhy) {
  const PageBlob page{.result = {.page = 7, .reader = "builtin", .error = "it is torn"}};
  EXPECT_EQ(nlohmann::json::parse(to_json(page))["response"], "[VLM_ERROR page 7]: it is torn\n");
}

TEST(PageBlob, ClientsSeeThePageResultAndNotHowItIsStored) {
  PageBlob page = a_page();
  page.result.size = {612.004F, 792};
  page.result.blocks.push_back({.bbox = {10.123456F, 20, 30, 40}, .text = "Three", .font_size_pt = 9});
  const auto json = nlohmann::ordered_json::parse(page_for_clients(page));
  std::vector<std::string> keys;
  for (const auto& [key, value] : json.items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{"page_number", "prompt", "response", "result"}));
  EXPECT_EQ(json["prompt"], page.prompt);
  EXPECT_EQ(json["response"], page.result.markdown);
  const auto& result = json["result"];
  EXPECT_EQ(result["page"], 3);
  EXPECT_EQ(result["size"]["width"], 612.0);
  EXPECT_EQ(result["blocks"][0]["bbox"][0], 10.12);
  EXPECT_FALSE(result["blocks"][0].contains("font_size_pt"));
  EXPECT_EQ(result["markdown"], page.result.markdown);
}

TEST(PageBlob, DamageIsNoticed) {
  const std::string whole = to_json(a_page());
  for (const std::string& text : {std::string(), std::string("{}"), whole.substr(0, whole.size() / 2), whole.substr(1),
                                  std::string(R"({"page_number":1,"record":{},"result":{}})")}) {
    const auto back = page_blob_from_json(text);
    ASSERT_FALSE(back) << text;
    EXPECT_EQ(back.error().kind, ErrorKind::corrupt);
  }
}

}  // namespace
}  // namespace lectern::job
