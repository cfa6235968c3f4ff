#include "engine/sim/chat_request.h"

#include <gtest/gtest.h>

#include <vector>

#include "engine/sim/base64.h"
#include "engine/sim/json_scan.h"

namespace lectern::sim {
namespace {

TEST(ChatRequest, FieldsAreFoundWhereverTheyStand) {
  const auto request = scan_chat_request(
      R"({ "messages" : [ {"role":"system","content":"Be \"brief\"."},
           {"content":[{"text":"Read\nthis.","type":"text"},
                       {"type":"image_url","image_url":{"detail":"auto","url":"data:image/png;base64,aGVsbG8="}}],"role":"user"}],
           "extra":{"stream":true,"list":[1,{"max_tokens":3}]}, "temperature": 0.5, "stream" : true , "model":"m/x",
           "stream_options":{"include_usage":true}, "max_tokens":77, "logprobs":true, "top_logprobs":3 } )");
  ASSERT_TRUE(request.has_value()) << request.error().for_log;
  EXPECT_EQ(request->model, "m/x");
  EXPECT_TRUE(request->stream);
  EXPECT_TRUE(request->include_usage);
  EXPECT_TRUE(request->logprobs);
  EXPECT_EQ(request->top_logprobs, 3);
  EXPECT_EQ(request->tokens_max, 77);
  EXPECT_EQ(request->text, "Be \"brief\".Read\nthis.");
  EXPECT_EQ(request->images, 1U);
  EXPECT_EQ(request->image_bytes, 5U);
  EXPECT_EQ(to_hex(request->digest), sha256_hex("hello"));
}

TEST(ChatRequest, NestedFieldsOfTheSameNameDoNotCount) {
  const auto request = scan_chat_request(R"({"messages":[],"response_format":{"stream":true,"model":"other"}})");
  ASSERT_TRUE(request.has_value());
  EXPECT_FALSE(request->stream);
  EXPECT_EQ(request->model, "");
}

TEST(ChatRequest, MaxCompletionTokensWins) {
  EXPECT_EQ(scan_chat_request(R"({"max_completion_tokens":5,"max_tokens":9})")->tokens_max, 5);
  EXPECT_EQ(scan_chat_request(R"({"max_tokens":null})")->tokens_max, std::nullopt);
}

TEST(ChatRequest, WithoutAnImageThePromptIsHashed) {
  const auto request = scan_chat_request(R"({"messages":[{"content":"abc"}]})");
  EXPECT_EQ(to_hex(request->digest), sha256_hex("abc"));
}

TEST(ChatRequest, TheFirstOfSeveralImagesIsHashedAndAllAreCounted) {
  const auto request = scan_chat_request(
      R"({"messages":[{"content":[{"image_url":"data:image/png;base64,aGVsbG8="},{"image_url":{"url":"data:image/png;base64,AAAA"}}]}]})");
  EXPECT_EQ(request->images, 2U);
  EXPECT_EQ(to_hex(request->digest), sha256_hex("hello"));
}

TEST(ChatRequest, ALongImageIsHashedAcrossItsPieces) {
  std::string text(300'000, 'A');  // 225,000 zero bytes
  const auto request = scan_chat_request(R"({"messages":[{"content":[{"image_url":{"url":"data:image/png;base64,)" +
                                         text + R"("}}]}]})");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->image_bytes, 225'000U);
  EXPECT_EQ(to_hex(request->digest), sha256_hex(std::string(225'000, '\0')));
}

TEST(ChatRequest, SlashesMayBeEscaped) {
  const auto request =
      scan_chat_request(R"({"messages":[{"content":[{"image_url":{"url":"data:image/png;base64,\/\/\/\/"}}]}]})");
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(to_hex(request->digest), sha256_hex("\xFF\xFF\xFF"));
}

TEST(ChatRequest, AJpegCostsTokensByItsSize) {
  // FF D8, APP0 of 4 bytes, SOF0: 1024 high, 768 wide.
  const auto request = scan_chat_request(
      R"({"messages":[{"content":[{"image_url":{"url":"data:image/jpeg;base64,/9j/4AAEAAD/wAALCAQAAwAB"}}]}]})");
  ASSERT_TRUE(request.has_value());
  EXPECT_TRUE(request->image_recognised);
  EXPECT_EQ(request->image_tokens, 28 * 37);
}

TEST(ChatRequest, BrokenBodiesAreErrors) {
  for (const std::string_view body :
       {"", "[]", "{", R"({"stream":)", R"({"stream":"yes"})", R"({"model":"x)", R"({"messages":{}})", R"({"a":tru})",
        R"({"max_tokens":"5"})", "{} x", R"({"model":"\q"})"}) {
    SCOPED_TRACE(body);
    const auto request = scan_chat_request(body);
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().kind, ErrorKind::corrupt);
  }
  EXPECT_FALSE(scan_chat_request(std::string(100'000, '[')).has_value()) << "depth is bounded";
}

TEST(ChatRequest, AnImageThatIsNotBase64IsTheCallersFault) {
  for (const std::string_view url : {"data:image/png;base64,aGV*bG8=", "data:image/png;base64,aGVsbG8",
                                     "http://x/y.png", "data:image/png;base64,aG=sbG8="}) {
    SCOPED_TRACE(url);
    const auto request =
        scan_chat_request(fmt::format(R"({{"messages":[{{"content":[{{"image_url":{{"url":"{}"}}}}]}}]}})", url));
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().kind, ErrorKind::invalid_input);
  }
}

TEST(Base64, EveryLengthIsDecoded) {
  struct Case {
    std::string_view text;
    std::string_view bytes;
  };
  for (const Case& c : {Case{"", ""}, Case{"Zg==", "f"}, Case{"Zm8=", "fo"}, Case{"Zm9v", "foo"},
                        Case{"Zm9vYg==", "foob"}, Case{"+/+/", "\xFB\xFF\xBF"}}) {
    std::vector<std::uint8_t> out(c.text.size());
    const auto count = decode_base64(c.text, out);
    ASSERT_TRUE(count.has_value()) << c.text;
    EXPECT_EQ(std::string(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(*count)), c.bytes);
  }
}

TEST(JsonScan, EscapesGoThereAndBack) {
  const std::string text = "quote \" slash \\ line\n tab\t bell\x07 é";
  std::string escaped;
  append_escaped(escaped, text);
  EXPECT_EQ(unescaped(escaped), text);
  EXPECT_EQ(unescaped(R"(\u00e9\ud83d\ude00\/)"), "é😀/");
  EXPECT_EQ(unescaped(R"(\ud83d\u0041)"), std::nullopt);
}

}  // namespace
}  // namespace lectern::sim
