#include "provider/openai_features.h"

#include <gtest/gtest.h>

namespace lectern::provider {
namespace {

struct Case {
  std::string_view name;
  int status;
  std::string_view body;
  std::optional<Feature> refused;
};

const Case cases[] = {
    {"by param", 400, R"({"error":{"message":"Unknown field.","param":"stream_options"}})", Feature::stream_options},
    {"by message", 400, R"({"error":{"message":"Unrecognized request argument supplied: stream_options"}})",
     Feature::stream_options},
    {"by place", 422, R"({"detail":[{"loc":["body","logprobs"],"msg":"Extra inputs are not permitted"}]})",
     Feature::logprobs},
    {"by a near name", 400, R"({"error":{"message":"top_logprobs must be at most 0"}})", Feature::logprobs},
    {"a schema", 400, R"({"error":{"message":"'response_format' of type 'json_schema' is not supported"}})",
     Feature::response_format},
    {"a penalty", 400, R"({"error":{"message":"Unrecognized request argument supplied: repetition_penalty"}})",
     Feature::penalties},
    {"temperature", 400,
     R"({"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model.","param":"temperature"}})",
     Feature::temperature},
    {"the old name", 400,
     R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}})",
     Feature::max_tokens},
    {"a number that is too large", 400,
     R"({"error":{"message":"max_tokens must be at most 4096","param":"max_tokens"}})", std::nullopt},
    {"no room left", 400,
     R"({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 9. This model's maximum context length is 8"}})",
     std::nullopt},
    {"part of a word", 400, R"({"error":{"message":"my_logprobs_thing broke"}})", std::nullopt},
    {"something else", 400, R"({"error":{"message":"bad image"}})", std::nullopt},
    {"not a refusal", 500, R"({"error":{"message":"stream_options crashed me"}})", std::nullopt},
};

TEST(OpenAiFeatures, RefusalsAreRecognised) {
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Failure failure = classify("e", {.status = c.status, .body = c.body}, {});
    const ErrorText text = read_error_body(c.body);
    EXPECT_EQ(refused_feature(failure, text, FeatureSet::all()), c.refused);
    if (c.refused) {
      EXPECT_EQ(refused_feature(failure, text, FeatureSet::all().without(*c.refused)), std::nullopt)
          << "what was not sent was not refused";
    }
  }
}

TEST(OpenAiFeatures, WhatIsRefusedStaysRefused) {
  ServerFeatures server;
  EXPECT_EQ(server.now(), FeatureSet::all());
  server.refuse(Feature::logprobs);
  server.refuse(Feature::logprobs);
  for (int i = 0; i < feature_count; ++i) {
    EXPECT_EQ(server.now().has(static_cast<Feature>(i)), static_cast<Feature>(i) != Feature::logprobs);
  }
}

}  // namespace
}  // namespace lectern::provider
