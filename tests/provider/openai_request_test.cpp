#include "provider/openai_request.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lectern::provider {
namespace {

using Json = nlohmann::json;

PromptImage picture(std::string_view bytes, std::string type = "image/jpeg") {
  return {.bytes = std::make_shared<const std::vector<std::uint8_t>>(bytes.begin(), bytes.end()),
          .media_type = std::move(type)};
}

Json body_of(const Prompt& prompt, const ChatBodyOptions& options = {}) {
  const auto built = build_chat_body(prompt, options);
  EXPECT_TRUE(built) << built.error().message;
  return built ? Json::parse(built->body.to_string()) : Json();
}

TEST(OpenAiRequest, SmallestRequest) {
  const Json expected = {
      {"model", "m"},       {"stream", true},     {"stream_options", {{"include_usage", true}}},
      {"max_tokens", 4096}, {"temperature", 0.0}, {"messages", {{{"role", "user"}, {"content", "hi"}}}}};
  EXPECT_EQ(body_of({.model = "m", .user = "hi"}), expected);
}

TEST(OpenAiRequest, PicturesComeBeforeTheText) {
  const Json body = body_of({.system = "s", .user = "read", .images = {picture("foo"), picture("fo", "image/png")}});
  const Json expected = {{{"role", "system"}, {"content", "s"}},
                         {{"role", "user"},
                          {"content",
                           {{{"type", "image_url"}, {"image_url", {{"url", "data:image/jpeg;base64,Zm9v"}}}},
                            {{"type", "image_url"}, {"image_url", {{"url", "data:image/png;base64,Zm8="}}}},
                            {{"type", "text"}, {"text", "read"}}}}}};
  EXPECT_EQ(body["messages"], expected);
  EXPECT_FALSE(body.contains("model")) << "an unknown model is left out";
}

TEST(OpenAiRequest, EveryParameter) {
  const Parameters parameters{.tokens_max = 7,
                              .temperature = 0.5,
                              .top_p = 0.9,
                              .repetition_penalty = 1.1,
                              .frequency_penalty = 0.2,
                              .seed = 42,
                              .stop = {"</s>"},
                              .logprobs = true,
                              .json_schema = R"({"type":"object"})",
                              .extra_body = R"({"skip_special_tokens":false})"};
  const Json body = body_of({.user = "u", .parameters = parameters}, {.stream = false});
  EXPECT_EQ(body["max_tokens"], 7);
  EXPECT_EQ(body["temperature"], 0.5);
  EXPECT_EQ(body["top_p"], 0.9);
  EXPECT_EQ(body["repetition_penalty"], 1.1);
  EXPECT_EQ(body["repeat_penalty"], 1.1);
  EXPECT_EQ(body["frequency_penalty"], 0.2);
  EXPECT_EQ(body["seed"], 42);
  EXPECT_EQ(body["stop"], Json::array({"</s>"}));
  EXPECT_EQ(body["logprobs"], true);
  EXPECT_EQ(body["top_logprobs"], 1);
  EXPECT_EQ(body["response_format"]["type"], "json_schema");
  EXPECT_EQ(body["response_format"]["json_schema"]["schema"], Json::parse(parameters.json_schema));
  EXPECT_EQ(body["skip_special_tokens"], false);
  EXPECT_EQ(body["stream"], false);
  EXPECT_FALSE(body.contains("stream_options")) << "vLLM refuses it without a stream";
}

TEST(OpenAiRequest, HostedApisGetNoForeignPenalties) {
  const Json body = body_of({.user = "u", .parameters = {.repetition_penalty = 1.1}}, {.hosted = true});
  EXPECT_FALSE(body.contains("repetition_penalty"));
  EXPECT_FALSE(body.contains("repeat_penalty"));
}

TEST(OpenAiRequest, RefusedFieldsAreLeftOut) {
  const Prompt prompt{.user = "u", .parameters = {.repetition_penalty = 1.1, .logprobs = true, .json_schema = "{}"}};
  struct Case {
    Feature feature;
    std::vector<std::string> gone;
  };
  const Case cases[] = {
      {Feature::stream_options, {"stream_options"}},   {Feature::logprobs, {"logprobs", "top_logprobs"}},
      {Feature::response_format, {"response_format"}}, {Feature::penalties, {"repetition_penalty", "repeat_penalty"}},
      {Feature::temperature, {"temperature"}},         {Feature::max_tokens, {"max_tokens"}}};
  const Json whole = body_of(prompt);
  for (const Case& c : cases) {
    const FeatureSet features = FeatureSet::all().without(c.feature);
    const Json body = body_of(prompt, {.features = features});
    for (const std::string& key : c.gone) {
      EXPECT_TRUE(whole.contains(key)) << key;
      EXPECT_FALSE(body.contains(key)) << key;
    }
    EXPECT_EQ(build_chat_body(prompt, {.features = features})->sent, features);
  }
  const Json renamed = body_of(prompt, {.features = FeatureSet::all().without(Feature::max_tokens)});
  EXPECT_EQ(renamed["max_completion_tokens"], 4096);
}

TEST(OpenAiRequest, OnlyWhatIsUsedCountsAsSent) {
  const auto built = build_chat_body({.user = "u"}, {.stream = false});
  ASSERT_TRUE(built);
  for (const Feature unused :
       {Feature::stream_options, Feature::logprobs, Feature::response_format, Feature::penalties}) {
    EXPECT_FALSE(built->sent.has(unused));
  }
  EXPECT_TRUE(built->sent.has(Feature::temperature));
}

TEST(OpenAiRequest, ExtraMembersWinAndTheirOrderIsKnown) {
  const Prompt prompt{.user = "u", .parameters = {.extra_body = R"({"a":"prompt","max_tokens":1})"}};
  const Json body = body_of(prompt, {.extra_body = R"({"a":"engine","b":{"deep":[1,null]},"stream":false})"});
  EXPECT_EQ(body["a"], "prompt");
  EXPECT_EQ(body["b"], Json::parse(R"({"deep":[1,null]})"));
  EXPECT_EQ(body["max_tokens"], 1);
  EXPECT_EQ(body["stream"], false);
  EXPECT_EQ(body["messages"][0]["content"], "u");
  const Json own = body_of({.user = "u", .parameters = {.extra_body = R"({"messages":[]})"}});
  EXPECT_EQ(own["messages"], Json::array());
}

TEST(OpenAiRequest, TextsAreEscaped) {
  const std::string nasty = "\"}],\"evil\":true,\n\\ \x01 é";
  const Json body = body_of({.model = nasty, .system = nasty, .user = nasty, .images = {picture("x", nasty)}});
  EXPECT_EQ(body["model"], nasty);
  EXPECT_EQ(body["messages"][0]["content"], nasty);
  EXPECT_EQ(body["messages"][1]["content"][1]["text"], nasty);
  EXPECT_EQ(body["messages"][1]["content"][0]["image_url"]["url"], "data:" + nasty + ";base64,eA==");
  EXPECT_FALSE(body.contains("evil"));
}

TEST(OpenAiRequest, BrokenCharactersAreReplaced) {
  EXPECT_EQ(body_of({.user = "a\xff z"})["messages"][0]["content"], "a\xEF\xBF\xBD z");
}

TEST(OpenAiRequest, RefusesWhatCannotBeSent) {
  const Prompt bad[] = {{.user = "u", .parameters = {.json_schema = "{"}},
                        {.user = "u", .parameters = {.json_schema = "[]"}},
                        {.user = "u", .parameters = {.extra_body = "no"}},
                        {.user = "u", .images = {PromptImage{}}},
                        {.user = "u", .images = {picture("")}}};
  for (const Prompt& prompt : bad) {
    const auto built = build_chat_body(prompt, {});
    ASSERT_FALSE(built);
    EXPECT_EQ(built.error().reason, FailureReason::bad_request);
    EXPECT_FALSE(built.error().message.empty());
  }
}

}  // namespace
}  // namespace lectern::provider
