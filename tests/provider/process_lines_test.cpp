#include "provider/process_lines.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string_view>

#include "provider/json_lines.h"

namespace lectern::provider {
namespace {

using Json = nlohmann::json;

PromptImage picture(std::vector<std::uint8_t> bytes, std::string media_type = "image/jpeg") {
  return {.bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes)),
          .media_type = std::move(media_type)};
}

TEST(LineSplitter, CutsWhereverThePiecesEnd) {
  const std::string stream = "one\ntwo\r\n\nlast";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    SCOPED_TRACE(piece);
    LineSplitter splitter(100);
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      splitter.add(std::string_view(stream).substr(at, piece));
      while (const auto line = splitter.next()) lines.emplace_back(*line);
    }
    EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", ""}));
    EXPECT_EQ(splitter.rest(), "last");
  }
}

TEST(LineSplitter, KnowsALineThatIsTooLong) {
  LineSplitter splitter(4);
  splitter.add("1234");
  EXPECT_FALSE(splitter.next());
  EXPECT_FALSE(splitter.overlong());
  splitter.add("5");
  EXPECT_TRUE(splitter.overlong());
}

TEST(ProgramLine, Ready) {
  const auto line = parse_program_line(R"({"ready":true,"model":"m","batch":true,"batch_max":16,"parallel":2})");
  ASSERT_TRUE(line) << line.error();
  const auto& ready = std::get<ReadyLine>(*line);
  EXPECT_EQ(ready.model, "m");
  EXPECT_TRUE(ready.batch);
  EXPECT_EQ(ready.batch_max, 16);
  EXPECT_EQ(ready.parallel, 2);
  const auto plain = parse_program_line(R"({"ready":true})");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(std::get<ReadyLine>(*plain).batch);
  EXPECT_EQ(std::get<ReadyLine>(*plain).parallel, 1);
  EXPECT_FALSE(std::get<ReadyLine>(*plain).batch_max);
  const auto refusal = parse_program_line(R"({"ready":false,"message":"no torch"})");
  ASSERT_TRUE(refusal);
  EXPECT_EQ(std::get<CannotStartLine>(*refusal).message, "no torch");
}

TEST(ProgramLine, Answer) {
  const auto line = parse_program_line(
      R"({"id":3,"index":1,"text":"é\n","finish":"length","usage":{"prompt_tokens":5,"completion_tokens":2},"mean_logprob":-1})");
  ASSERT_TRUE(line) << line.error();
  const auto& answer = std::get<AnswerLine>(*line);
  EXPECT_EQ(answer.id, 3U);
  EXPECT_EQ(answer.index, 1U);
  EXPECT_EQ(answer.text, "é\n");
  EXPECT_EQ(answer.finish, FinishReason::length);
  EXPECT_EQ(answer.usage, (Usage{.prompt_tokens = 5, .completion_tokens = 2}));
  EXPECT_EQ(answer.mean_logprob, -1.0);
  const auto piece = parse_program_line(R"({"id":3,"index":0,"piece":"la"})");
  ASSERT_TRUE(piece);
  EXPECT_EQ(std::get<PieceLine>(*piece).text, "la");
  const auto end = parse_program_line(R"({"id":3,"index":0,"finish":"something new","text":null})");
  ASSERT_TRUE(end);
  EXPECT_EQ(std::get<AnswerLine>(*end).finish, FinishReason::unknown);
  EXPECT_FALSE(std::get<AnswerLine>(*end).text);
}

TEST(ProgramLine, ErrorReasons) {
  struct Case {
    std::string_view reason;
    FailureReason expected;
  };
  const Case cases[] = {
      {"out_of_memory", FailureReason::out_of_memory}, {"too_long", FailureReason::too_long},
      {"bad_image", FailureReason::bad_image},         {"bad_request", FailureReason::bad_request},
      {"not_supported", FailureReason::not_supported}, {"unknown_model", FailureReason::unknown_model},
      {"overloaded", FailureReason::overloaded},       {"cancelled", FailureReason::cancelled},
      {"failed", FailureReason::engine_failed},        {"whatever", FailureReason::engine_failed}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.reason);
    const Json text = {{"id", 1}, {"index", 2}, {"error", {{"reason", c.reason}, {"message", "why"}}}};
    const auto line = parse_program_line(text.dump());
    ASSERT_TRUE(line);
    EXPECT_EQ(std::get<ErrorLine>(*line).reason, c.expected);
    EXPECT_EQ(std::get<ErrorLine>(*line).message, "why");
    EXPECT_EQ(std::get<ErrorLine>(*line).index, 2U);
  }
  const auto of_all = parse_program_line(R"({"id":1,"error":"everything is lost"})");
  ASSERT_TRUE(of_all);
  EXPECT_FALSE(std::get<ErrorLine>(*of_all).index);
  EXPECT_EQ(std::get<ErrorLine>(*of_all).message, "everything is lost");
}

TEST(ProgramLine, SaysWhatIsWrong) {
  struct Case {
    std::string_view line;
    std::string_view named;
  };
  const Case cases[] = {{"Loading weights: 100%", "no JSON object"},
                        {"[1]", "no JSON object"},
                        {"\"text\"", "no JSON object"},
                        {R"({"id":1,"index":0,"text":"cut)", "no JSON object"},
                        {"{\"id\":1,\"index\":0,\"text\":\"\xff\"}", "no JSON object"},
                        {R"({"text":"whose?"})", "\"id\""},
                        {R"({"id":-1,"text":"whose?"})", "\"id\""},
                        {R"({"id":1,"text":"whose?"})", "\"index\""},
                        {R"({"id":1,"index":0})", "\"text\""}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.line);
    const auto line = parse_program_line(c.line);
    ASSERT_FALSE(line);
    EXPECT_NE(line.error().find(c.named), std::string::npos) << line.error();
  }
}

TEST(RequestLine, HoldsAllThatTheProgramNeeds) {
  Prompt prompt{.system = "be brief",
                .user = "read\nthis \"page\"",
                .images = {picture({'M', 'a', 'n'}), picture({'M', 'a'}, "image/png")}};
  prompt.parameters = {.tokens_max = 100,
                       .temperature = 0.5,
                       .top_p = 0.9,
                       .repetition_penalty = 1.1,
                       .frequency_penalty = 0.2,
                       .seed = 7,
                       .stop = {"END"},
                       .logprobs = true,
                       .json_schema = R"({"type":"object"})",
                       .extra_body = R"({"beams":4,"top_p":0.8})"};
  const auto first = prompt_pieces(prompt, "a-model", true);
  ASSERT_TRUE(first) << first.error().message;
  const auto second = prompt_pieces(Prompt{.model = "own", .user = "plain"}, "a-model", false);
  ASSERT_TRUE(second);
  const std::vector<const std::vector<BodyPiece>*> prompts = {&*first, &*second};
  const std::string line = request_line(12, prompts).to_string();
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);
  EXPECT_TRUE(line.ends_with('\n'));
  const Json parsed = Json::parse(line);
  EXPECT_EQ(parsed["id"], 12);
  ASSERT_EQ(parsed["prompts"].size(), 2U);
  EXPECT_EQ(parsed["prompts"][0], Json::parse(R"({"model":"a-model","system":"be brief","user":"read\nthis \"page\"",
      "stream":true,"parameters":{"max_tokens":100,"temperature":0.5,"top_p":0.8,"repetition_penalty":1.1,
      "frequency_penalty":0.2,"seed":7,"stop":["END"],"logprobs":true,"json_schema":{"type":"object"},"beams":4},
      "images":[{"media_type":"image/jpeg","base64":"TWFu"},{"media_type":"image/png","base64":"TWE="}]})"));
  EXPECT_EQ(parsed["prompts"][1]["model"], "own");
  EXPECT_EQ(parsed["prompts"][1]["images"], Json::array());
  EXPECT_EQ(parsed["prompts"][1]["stream"], false);
}

TEST(RequestLine, RefusesWhatCannotBeSent) {
  EXPECT_EQ(prompt_pieces(Prompt{.parameters = {.json_schema = "[1]"}}, "", false).error().reason,
            FailureReason::bad_request);
  EXPECT_EQ(prompt_pieces(Prompt{.parameters = {.extra_body = "{"}}, "", false).error().reason,
            FailureReason::bad_request);
  EXPECT_EQ(prompt_pieces(Prompt{.images = {{}}}, "", false).error().reason, FailureReason::bad_image);
}

TEST(RequestLine, AStrayByteCostsItself) {
  const auto pieces = prompt_pieces(Prompt{.user = "caf\xe9"}, "", false);
  ASSERT_TRUE(pieces);
  EXPECT_TRUE(Json::accept(std::get<std::string>(pieces->front())));
}

TEST(CancelLine, OfARequestOrOfOnePrompt) {
  EXPECT_EQ(cancel_line(5, std::nullopt), "{\"cancel\":5}\n");
  EXPECT_EQ(cancel_line(5, 2), "{\"cancel\":5,\"index\":2}\n");
}

TEST(CleanText, IsSafeToShow) {
  EXPECT_EQ(clean_text("File \"x\"\tline\x1b[0m \xff!"), "File \"x\" line [0m !");
  EXPECT_EQ(clean_text("abcdef", 3), "abc…");
  EXPECT_EQ(clean_text("aé", 2), "a…") << "never half a character";
}

}  // namespace
}  // namespace lectern::provider
