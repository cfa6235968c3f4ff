// `lectern read` with models, against the simulated engine: every switch, and what becomes of pages when engines fail.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "read_fixture.h"
#include "servers/own_port.h"
#include "sim_engine.h"

namespace lectern::e2e {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using testing_sim::SimEngine;
using Json = nlohmann::json;
using Variables = std::map<std::string, std::string>;

class ModelsTest : public ReadTest {
 protected:
  static Program run(std::vector<std::string> arguments, Variables variables = {}, const std::string& folder = "") {
    return Program(LECTERN_BIN_DIR "/lectern",
                   {.arguments = std::move(arguments), .environment = std::move(variables), .folder = folder});
  }
  // Reads one page and returns what came out; the exit code must be 0.
  std::string text_of_page(std::vector<std::string> arguments, const Variables& variables = {}) {
    arguments.insert(arguments.begin(), {"read", pdf("one.pdf", 1), "-q"});
    Program program = run(std::move(arguments), variables);
    EXPECT_EQ(program.finish(), 0) << program.errors();
    return program.output();
  }
  static int requests(const SimEngine& engine) { return Json::parse(engine.stats())["requests"]; }
  static std::vector<Json> of(const Program& program, const std::string& event) {
    std::vector<Json> found;
    for (const Json& one : program.events()) {
      if (one["event"] == event) found.push_back(one);
    }
    return found;
  }
};

TEST_F(ModelsTest, AnEngineReadsByFlagVariableOrFile) {
  const SimEngine engine;
  const std::string by_flag = text_of_page({"--engine", engine.url()});
  EXPECT_THAT(by_flag, StartsWith("# Page "));
  EXPECT_EQ(text_of_page({}, {{"VLLM_SERVER_URL", engine.url()}}), by_flag);
  EXPECT_EQ(text_of_page({"--engine", engine.url() + "/v1/"}), by_flag);
  const std::string toml = put("lectern.toml", fmt::format("[[engine]]\nurl = \"{}\"\n", engine.url()));
  EXPECT_EQ(text_of_page({"--config", toml}), by_flag);
  EXPECT_EQ(requests(engine), 4);
}

TEST_F(ModelsTest, TheModelIsFoundOrNamedOrRefused) {
  const SimEngine engine({"--model", "qwen-vl"});
  const std::string file = pdf("a.pdf", 1);
  for (const Variables& variables : {Variables{}, Variables{{"VLM_MODEL_NAME", "qwen-vl"}}}) {
    Program good = run({"read", file, "--engine", engine.url(), "--json"}, variables);
    EXPECT_EQ(good.finish(), 0) << good.errors();
    EXPECT_EQ(of(good, "page_done").at(0)["model"], "qwen-vl");
  }
  Program bad = run({"read", file, "--engine", engine.url(), "--model", "nope"});
  EXPECT_EQ(bad.finish(), 2);
  EXPECT_EQ(bad.output(), "");
  EXPECT_THAT(bad.errors(), HasSubstr("has no model 'nope'; it offers qwen-vl"));
}

TEST_F(ModelsTest, AServerThatIgnoresTheNameIsNoError) {
  const SimEngine engine({"--as", "llama-server"});
  EXPECT_THAT(text_of_page({"--engine", engine.url(), "--model", "whatever"}), StartsWith("# Page "));
}

TEST_F(ModelsTest, TheRollbackSwitch) {
  const SimEngine engine;
  EXPECT_EQ(text_of_page({"--engine", engine.url()}, {{"USE_VLLM_OCR", "false"}}), "Page 1 of the one.pdf report.\n");
  EXPECT_EQ(requests(engine), 0);
  Program forced = run({"read", pdf("a.pdf", 1)}, {{"USE_VLLM_OCR", "true"}});
  EXPECT_EQ(forced.finish(), 2);
  EXPECT_THAT(forced.errors(), HasSubstr("USE_VLLM_OCR is true, but no engine is configured"));
}

TEST_F(ModelsTest, OcrAsksNoModel) {
  const SimEngine engine;
  Program variable = run({"ocr", pdf("a.pdf", 1), "-q"}, {{"VLLM_SERVER_URL", engine.url()}});
  EXPECT_EQ(variable.finish(), 0);
  EXPECT_THAT(variable.output(), HasSubstr("report"));
  EXPECT_EQ(requests(engine), 0);
  Program flag = run({"ocr", pdf("a.pdf", 1), "--engine", engine.url()});
  EXPECT_EQ(flag.finish(), 2);
  EXPECT_THAT(flag.errors(), HasSubstr("asks no model; use lectern read"));
}

TEST_F(ModelsTest, KeysAreSentFromWhereTheyAreKept) {
  const SimEngine engine({"--api-key", "open sesame"});
  const std::string file = pdf("a.pdf", 1);
  Program without = run({"read", file, "--engine", engine.url()});
  EXPECT_EQ(without.finish(), 2);
  EXPECT_THAT(without.errors(), HasSubstr("LECTERN_API_KEY"));
  Program wrong = run({"read", file, "--engine", engine.url()}, {{"LECTERN_API_KEY", "guess"}});
  EXPECT_EQ(wrong.finish(), 2);
  EXPECT_EQ(wrong.errors().find("guess"), std::string::npos) << "a key is never shown";
  EXPECT_THAT(text_of_page({"--engine", engine.url()}, {{"LECTERN_API_KEY", "open sesame"}}), StartsWith("# Page"));
  EXPECT_THAT(text_of_page({"--engine", engine.url()}, {{"OPENAI_API_KEY", "open sesame"}}), StartsWith("# Page"));
  const std::string key = put("key", "open sesame\n");
  EXPECT_THAT(text_of_page({"--engine", engine.url(), "--set", "engines.api_key_file=" + key}), StartsWith("# Page"));
  const std::string toml =
      put("lectern.toml", fmt::format("[[engine]]\nurl = '{}'\napi_key_env = 'MINE'\n", engine.url()));
  EXPECT_THAT(text_of_page({"--config", toml}, {{"MINE", "open sesame"}}), StartsWith("# Page"));
}

// llama-server tells its models to anybody: a wrong key shows only when a page is asked about.
TEST_F(ModelsTest, AKeyThatIsRefusedLaterEndsTheRunAtOnce) {
  const SimEngine engine({"--as", "llama-server", "--model", "m", "--api-key", "open sesame"});
  Program wrong = run({"read", pdf("a.pdf", 30), "--engine", engine.url(), "--model", "m", "-o", out()});
  EXPECT_THAT(wrong.finish(), testing::AnyOf(1, 2));
  EXPECT_EQ(wrong.errors().find("fallen back"), std::string::npos) << "no page is read by anybody else";
  Program right = run({"read", pdf("a.pdf", 30), "--engine", engine.url(), "--model", "m", "-o", out(), "--json"},
                      {{"LECTERN_API_KEY", "open sesame"}});
  EXPECT_EQ(right.finish(), 0) << right.errors();
  EXPECT_EQ(right.events().back()["pages_ok"], 30);
}

TEST_F(ModelsTest, AKeyThatOneEngineRefusesLaterLeavesThePagesToTheOther) {
  const SimEngine closing({"--paused"});
  const SimEngine open({"--paused"});
  Program program =
      run({"read", pdf("a.pdf", 30), "--engine", closing.url(), "--engine", open.url(), "--parallel", "4", "--json"});
  for (const SimEngine* engine : {&closing, &open}) engine->await("requests=1");
  closing.control(R"({"api-key": "open sesame", "paused": false})");
  open.control(R"({"paused": false})");
  EXPECT_EQ(program.finish(), 0) << program.errors();
  EXPECT_EQ(program.events().back()["pages_ok"], 30);
  EXPECT_GT(requests(open), 20) << "most pages were still to come";
}

TEST_F(ModelsTest, OneRequestAfterAnotherOrManyGiveTheSameBytes) {
  const SimEngine engine({"--latency", "lognormal:0.01s,1"});
  const std::string a = pdf("a.pdf", 40);
  const std::string b = pdf("b.pdf", 3);
  std::map<std::string, std::vector<std::string>> outputs;
  for (const std::string parallel : {"1", "64"}) {
    if (parallel == "64") engine.control(R"({"latency": "fixed:0.3s"})");  // long enough to meet
    for (const std::string format : {"md", "text", "html"}) {
      Program flag = run({"read", a, b, "--engine", engine.url(), "-q", "--parallel", parallel, "--format", format});
      EXPECT_EQ(flag.finish(), 0) << flag.errors();
      outputs[format].push_back(flag.output());
    }
    Program stream =
        run({"read", a, b, "--engine", engine.url(), "-q", "--stream"}, {{"PARALLEL_VLM_REQUESTS", parallel}});
    EXPECT_EQ(stream.finish(), 0);
    outputs["md"].push_back(stream.output());
    if (parallel == "1") EXPECT_EQ(Json::parse(engine.stats())["running_max"], 1) << "strictly one after another";
  }
  EXPECT_GT(Json::parse(engine.stats())["running_max"], 1);
  for (const auto& [format, texts] : outputs) {
    EXPECT_FALSE(texts.front().empty());
    for (const std::string& text : texts) EXPECT_EQ(text, texts.front()) << format;
  }
}

TEST_F(ModelsTest, StreamedPagesAreLinesOfJson) {
  const SimEngine engine;
  Program program = run({"read", pdf("a.pdf", 5), "--engine", engine.url(), "-q", "--stream", "--format", "json"});
  EXPECT_EQ(program.finish(), 0);
  std::istringstream lines(program.output());
  int pages = 0;
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(Json::parse(line)["page"], ++pages);
  EXPECT_EQ(pages, 5);
}

TEST_F(ModelsTest, TheFirstPagesAreThereBeforeTheLastIsRead) {
  const SimEngine engine({"--fault", "hang:after=3"});
  Program program = run({"read", pdf("a.pdf", 6), "--engine", engine.url(), "--parallel", "1", "--stream", "--json"});
  for (int page = 1; page <= 3; ++page) ASSERT_TRUE(program.wait_for("page_done"));
  engine.await("running=1&answered=3");
  program.signal(SIGINT);
  EXPECT_EQ(program.finish(), 130);
  EXPECT_THAT(program.output(), StartsWith("# Page "));
}

TEST_F(ModelsTest, AStoppedRunAsksOnlyWhatIsMissing) {
  const SimEngine engine({"--fault", "hang:after=7"});
  const std::string file = pdf("a.pdf", 20);
  Program first = run({"read", file, "--engine", engine.url(), "-o", out(), "--parallel", "4", "--json"});
  for (int page = 1; page <= 7; ++page) ASSERT_TRUE(first.wait_for("page_done"));
  first.signal(SIGINT);
  EXPECT_EQ(first.finish(), 130) << first.errors();
  EXPECT_EQ(of(first, "page_done").size(), 7U) << "what was cut off is not a result";

  engine.control(R"({"fault": []})");
  engine.await("in_flight=0");
  engine.reset();
  Program second = run({"read", file, "--engine", engine.url(), "-o", out(), "--parallel", "4", "--json"});
  EXPECT_EQ(second.finish(), 0) << second.errors();
  EXPECT_EQ(requests(engine), 13);
  EXPECT_EQ(second.events().back()["pages_ok"], 20);
  const std::string resumed = slurp(out() + "/a.md");
  Program straight = run({"read", file, "--engine", engine.url(), "-q"});
  EXPECT_EQ(straight.finish(), 0);
  EXPECT_EQ(resumed, straight.output()) << "resuming gives what running through gives";
}

TEST_F(ModelsTest, ARepeatedRunAsksNothing) {
  const SimEngine engine;
  const std::string file = pdf("a.pdf", 4);
  const std::vector<std::string> command = {"read", file, "--engine", engine.url(), "-o", out()};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(command).finish(), 0);
  EXPECT_EQ(requests(engine), 4);
  std::filesystem::remove(out() + "/.lectern/a.pdf.journal");
  EXPECT_EQ(run(command).finish(), 0);
  EXPECT_EQ(requests(engine), 4) << "the replies were kept beside the journal";
  auto anew = command;
  anew.push_back("--no-cache");
  EXPECT_EQ(run(anew).finish(), 0);
  EXPECT_EQ(requests(engine), 8);
}

TEST_F(ModelsTest, WhatAnEngineAddsToRequestsIsPartOfTheQuestion) {
  const SimEngine engine;
  const std::string file = pdf("a.pdf", 1);
  const auto read_with = [&](const std::string& extra) {
    const std::string toml =
        put("lectern.toml", fmt::format("[[engine]]\nurl = '{}'\nextra_body = '{}'\n", engine.url(), extra));
    Program program = run({"read", file, "--config", toml, "-o", out()});
    EXPECT_EQ(program.finish(), 0) << program.errors();
    return requests(engine);
  };
  EXPECT_EQ(read_with(R"({"top_k": 20})"), 1);
  EXPECT_EQ(read_with(R"({"top_k": 30})"), 2);
  EXPECT_EQ(read_with(R"({"top_k": 20})"), 2) << "the first reply was kept";
}

TEST_F(ModelsTest, RetriedPagesAreAskedAboutAgain) {
  const SimEngine engine({"--fault", "refusal"});
  const std::vector<std::string> command = {"read", pdf("a.pdf", 1), "--engine", engine.url(), "-o", out(), "--json"};
  Program first = run(command);
  EXPECT_EQ(first.finish(), 0) << first.errors();
  EXPECT_EQ(first.events().back()["pages_fallback"], 1);
  engine.control(R"({"fault": []})");
  auto again = command;
  again.push_back("--retry-failed");
  Program second = run(again);
  EXPECT_EQ(second.finish(), 0) << second.errors();
  EXPECT_EQ(second.events().back()["pages_ok"], 1) << "the model was mended";
}

TEST_F(ModelsTest, PartOfAPageIsKeptAndSaysSoUntilARetryMendsIt) {
  for (const std::string fault : {"truncated", "loop"}) {
    SCOPED_TRACE(fault);
    const SimEngine engine({"--fault", fault});
    const std::string folder = out(fault);
    std::vector<std::string> command = {"read", pdf("a.pdf", 1), "--engine", engine.url(), "--fallback", "placeholder",
                                        "-o",   folder,          "--json"};
    Program first = run(command);
    EXPECT_EQ(first.finish(), 0) << first.errors();
    EXPECT_EQ(first.events().back()["pages_ok"], 0);
    EXPECT_EQ(first.events().back()["pages_fallback"], 1);
    const Json page = of(first, "page_done").at(0);
    EXPECT_EQ(page["state"], "fallback");
    EXPECT_THAT(page["reason"].get<std::string>(), StartsWith("the answer is not whole: "));
    const Json row = Json::parse(slurp(folder + "/manifest.jsonl"));
    EXPECT_EQ(row["state"], "fallback");
    EXPECT_EQ(row["reason"], page["reason"]);
    EXPECT_NE(slurp(folder + "/a.md"), "") << "half an answer is better than none";

    engine.control(R"({"fault": []})");
    command.push_back("--retry-failed");
    Program second = run(command);
    EXPECT_EQ(second.finish(), 0) << second.errors();
    EXPECT_EQ(second.events().back()["pages_ok"], 1);
    EXPECT_THAT(slurp(folder + "/a.md"), StartsWith("# Page "));
  }
}

TEST_F(ModelsTest, ACacheOfOnesOwnServesEveryRun) {
  const SimEngine engine;
  const Variables cache{{"LECTERN_CACHE", out("cache")}};
  const std::string first = text_of_page({"--engine", engine.url()}, cache);
  EXPECT_EQ(text_of_page({"--engine", engine.url()}, cache), first);
  EXPECT_EQ(requests(engine), 1);
  EXPECT_EQ(text_of_page({"--engine", engine.url()}), first);
  EXPECT_EQ(requests(engine), 2) << "without a folder nothing is kept";
}

TEST_F(ModelsTest, PagesThatModelsCannotReadFallBack) {
  const SimEngine engine({"--fault", "oom"});
  const Variables once{{"VLM_RETRY_COUNT", "1"}, {"LECTERN_PATIENCE", "0"}};
  Program ocr = run({"read", pdf("a.pdf", 2), "--engine", engine.url(), "--json"}, once);
  EXPECT_EQ(ocr.finish(), 0) << "a page that somebody read counts as read";
  EXPECT_EQ(ocr.output(), "Page 1 of the a.pdf report.\n\nPage 2 of the a.pdf report.\n");
  ASSERT_EQ(of(ocr, "page_done").size(), 2U);
  EXPECT_EQ(of(ocr, "page_done")[0]["state"], "fallback");
  EXPECT_EQ(of(ocr, "page_done")[0]["reader"], "builtin");
  EXPECT_THAT(of(ocr, "page_done")[0]["reason"].get<std::string>(), HasSubstr("memory"));
  EXPECT_EQ(ocr.events().back()["pages_fallback"], 2);

  Program placeholder = run({"read", pdf("a.pdf", 2), "--engine", engine.url(), "--fallback", "placeholder"}, once);
  EXPECT_EQ(placeholder.finish(), 4);
  EXPECT_THAT(placeholder.output(), StartsWith("[VLM_ERROR page 1]: "));
  EXPECT_THAT(placeholder.output(), HasSubstr("\n[VLM_ERROR page 2]: "));
  EXPECT_THAT(placeholder.errors(), HasSubstr("Pages: 0 ok, 0 fallen back, 2 failed."));
}

TEST_F(ModelsTest, WhatAPageSaysOfItsFailureIsForItsReaders) {
  const SimEngine engine({"--fault", "refusal"});
  Program text = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--fallback", "placeholder", "-q"});
  EXPECT_EQ(text.finish(), 4);
  EXPECT_THAT(text.output(), StartsWith("[VLM_ERROR page 1]: the model declined: "));
  Program json =
      run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--fallback", "placeholder", "-q", "--format", "json"});
  EXPECT_EQ(json.finish(), 4);
  const Json attempts = Json::parse(json.output())["pages"][0]["attempts"];
  ASSERT_EQ(attempts.size(), 2U);
  EXPECT_FALSE(attempts[0].contains("how"));
  EXPECT_EQ(attempts[1]["how"], "penalty");
}

TEST_F(ModelsTest, OnePageThatFailsCostsItself) {
  const SimEngine engine({"--fault", "oom:first=1"});
  Program program = run({"read", pdf("a.pdf", 5), "--engine", engine.url(), "--parallel", "1", "--fallback",
                         "placeholder", "--json", "-o", out()},
                        {{"VLM_RETRY_COUNT", "1"}, {"LECTERN_FALLBACK", "ocr"}});
  const int code = program.finish();
  const Json done = program.events().back();
  EXPECT_EQ(done["pages_ok"].get<int>() + done["pages_failed"].get<int>(), 5);
  EXPECT_EQ(code, done["pages_failed"] == 0 ? 0 : 3);
}

TEST_F(ModelsTest, ASecondModelIsAskedAboutWhatTheFirstCannotRead) {
  const SimEngine first({"--model", "small", "--fault", "refusal"});
  const SimEngine second({"--model", "large"});
  Program program =
      run({"read", pdf("a.pdf", 2), "--engine", first.url(), "--fallback-engine", second.url(), "--json"});
  EXPECT_EQ(program.finish(), 0) << program.errors();
  ASSERT_EQ(of(program, "page_done").size(), 2U);
  EXPECT_EQ(of(program, "page_done")[0]["state"], "fallback");
  EXPECT_EQ(of(program, "page_done")[0]["model"], "large");
  EXPECT_THAT(program.output(), StartsWith("# Page "));
}

TEST_F(ModelsTest, AttemptsAreCounted) {
  const SimEngine engine({"--fault", "503:first=1"});
  Program twice = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--json"}, {{"VLM_RETRY_COUNT", "2"}});
  EXPECT_EQ(twice.finish(), 0);
  EXPECT_EQ(of(twice, "page_done")[0]["state"], "ok");
  engine.reset();
  Program once = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--json"}, {{"VLM_RETRY_COUNT", "1"}});
  EXPECT_EQ(once.finish(), 0);
  EXPECT_EQ(of(once, "page_done")[0]["state"], "fallback");
}

TEST_F(ModelsTest, APageThatTakesTooLongFallsBack) {
  const SimEngine engine({"--fault", "hang"});
  Program program =
      run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--json"}, {{"VLM_CONCURRENT_TIMEOUT", "0.3"}});
  EXPECT_EQ(program.finish(), 0) << program.errors();
  EXPECT_EQ(of(program, "page_done")[0]["state"], "fallback");
  engine.await("running=0");  // the slot was given back
}

TEST_F(ModelsTest, ADeadEngineIsAWarningAndPagesFallBack) {
  const test::OwnPort nobody;
  const int port = nobody.number();
  Program program = run({"read", pdf("a.pdf", 3), "--engine", fmt::format("http://127.0.0.1:{}", port)},
                        {{"LECTERN_PATIENCE", "0.1"}});
  EXPECT_EQ(program.finish(), 0) << program.errors();
  EXPECT_THAT(program.errors(), HasSubstr(fmt::format("engine http://127.0.0.1:{} does not", port)));
  EXPECT_THAT(program.errors(), HasSubstr("Pages: 0 ok, 3 fallen back, 0 failed"));
}

TEST_F(ModelsTest, TheFirstPageWaitsForAnEngineThatIsStillAway) {
  const SimEngine engine;
  engine.control(R"({"dead": true})");
  Program program = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--model", "sim-vl", "--json"},
                        {{"VLM_RETRY_COUNT", "1"}});
  ASSERT_TRUE(program.wait_for("engine_away")) << "a page has found nobody there";
  engine.control(R"({"dead": false})");
  EXPECT_EQ(program.finish(), 0) << program.errors();
  EXPECT_EQ(of(program, "page_done").at(0)["state"], "ok");
}

TEST_F(ModelsTest, AnEngineThatIsAwayIsStillTheSameModel) {
  const SimEngine engine({"--model", "qwen-vl"});
  const std::vector<std::string> command = {"read", pdf("a.pdf", 3), "--engine", engine.url(), "-o", out(), "--json"};
  const Variables impatient{{"LECTERN_PATIENCE", "0"}};
  ASSERT_EQ(run(command).finish(), 0);
  const std::string text = slurp(out() + "/a.md");
  const std::string journal = slurp(out() + "/.lectern/a.pdf.journal");
  engine.control(R"({"dead": true})");

  Program again = run(command, impatient);
  EXPECT_EQ(again.finish(), 0) << again.errors();
  EXPECT_EQ(again.events().back()["documents_up_to_date"], 1) << again.errors();
  auto more = command;
  more.insert(more.begin() + 1, pdf("b.pdf", 1));
  Program fallen = run(more, impatient);
  EXPECT_EQ(fallen.finish(), 0) << fallen.errors();
  EXPECT_EQ(fallen.events().back()["pages_fallback"], 1);
  EXPECT_EQ(slurp(out() + "/a.md"), text);

  engine.control(R"({"dead": false})");
  more.push_back("--retry-failed");
  Program mended = run(more);
  EXPECT_EQ(mended.finish(), 0) << mended.errors();
  EXPECT_EQ(mended.events().back()["pages_ok"], 4);
  EXPECT_EQ(requests(engine), 4) << "of the first document nothing was asked again";
  EXPECT_EQ(slurp(out() + "/.lectern/a.pdf.journal"), journal);
}

TEST_F(ModelsTest, AnEngineThatIsAwayAndNotRememberedCostsNothingThatWasRead) {
  const SimEngine engine({"--model", "qwen-vl"});
  const std::vector<std::string> command = {"read", pdf("a.pdf", 2), "--engine", engine.url(), "-o", out()};
  const Variables impatient{{"LECTERN_PATIENCE", "0"}};
  ASSERT_EQ(run(command).finish(), 0);
  const std::string text = slurp(out() + "/a.md");
  const std::string journal = slurp(out() + "/.lectern/a.pdf.journal");
  engine.control(R"({"dead": true})");
  std::filesystem::remove(out() + "/.lectern/models.json");

  Program refused = run(command, impatient);
  EXPECT_EQ(refused.finish(), 1);
  EXPECT_THAT(refused.errors(), HasSubstr(fmt::format("a.pdf: an earlier run read it with another model or other "
                                                      "settings, and {} does not say now which model it serves",
                                                      engine.url())));
  EXPECT_THAT(refused.errors(), HasSubstr("name the model with --model"));
  EXPECT_EQ(slurp(out() + "/a.md"), text);
  EXPECT_EQ(slurp(out() + "/.lectern/a.pdf.journal"), journal);

  auto named = command;
  named.insert(named.end(), {"--model", "qwen-vl"});
  Program fine = run(named, impatient);
  EXPECT_EQ(fine.finish(), 0) << fine.errors();
  EXPECT_EQ(slurp(out() + "/.lectern/a.pdf.journal"), journal);
}

TEST_F(ModelsTest, AModelThatIsStillLoadingIsWaitedForAndReadsUnderItsName) {
  const SimEngine engine({"--as", "llama-server", "--model", "qwen-vl", "--loading"});
  Program program = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--json"}, {{"LECTERN_PATIENCE", "0"}});
  ASSERT_TRUE(program.wait_for("warning"));
  engine.control(R"({"loading": false})");
  EXPECT_EQ(program.finish(), 0) << program.errors();
  EXPECT_EQ(of(program, "page_done").at(0)["model"], "qwen-vl");
}

TEST_F(ModelsTest, OfTwoEnginesADeadOneCostsNoPage) {
  const SimEngine alive;
  const test::OwnPort nobody;
  const int port = nobody.number();
  Program program = run({"read", pdf("a.pdf", 30), "--engine", alive.url(), "--engine",
                         fmt::format("http://127.0.0.1:{}", port), "--json"});
  EXPECT_EQ(program.finish(), 0) << program.errors();
  const Json done = program.events().back();
  EXPECT_EQ(done["pages_failed"], 0);
  EXPECT_EQ(done["pages_ok"].get<int>() + done["pages_fallback"].get<int>(), 30);
}

TEST_F(ModelsTest, EnginesThatServeDifferentModelsNeedANameForEach) {
  const SimEngine a({"--model", "model-a"});
  const SimEngine b({"--model", "model-b"});
  Program program = run({"read", pdf("a.pdf", 1), "--engine", a.url(), "--engine", b.url()});
  EXPECT_EQ(program.finish(), 2);
  EXPECT_THAT(program.errors(), HasSubstr("serves model-a and"));
  const std::string toml =
      put("lectern.toml", fmt::format("[[engine]]\nurl = '{}'\nmodel = 'model-a'\n[[engine]]\nurl = "
                                      "'{}'\nmodel = 'model-b'\n",
                                      a.url(), b.url()));
  Program named = run({"read", pdf("b.pdf", 8), "--config", toml, "--parallel", "8", "--json"});
  EXPECT_EQ(named.finish(), 0) << named.errors();
  EXPECT_EQ(named.events().back()["pages_ok"], 8);
}

TEST_F(ModelsTest, ABudgetStopsAndTheNextRunGoesOn) {
  const SimEngine engine;
  const std::string file = pdf("a.pdf", 6);
  Program first = run({"read", file, "--engine", engine.url(), "-o", out(), "--parallel", "1", "--max-tokens", "1"});
  EXPECT_EQ(first.finish(), 5) << first.errors();
  EXPECT_THAT(first.errors(), HasSubstr("Stopped after 1 page: the budget is used up. Run the same command again"));
  EXPECT_EQ(requests(engine), 1) << "what was prepared already is not asked about";
  Program second = run({"read", file, "--engine", engine.url(), "-o", out(), "--max-tokens", "1000000", "--json"});
  EXPECT_EQ(second.finish(), 0) << second.errors();
  EXPECT_EQ(requests(engine), 6);
  EXPECT_EQ(second.events().back()["pages_ok"], 6);

  const Variables prices{{"LECTERN_PRICE_PROMPT", "2"}, {"LECTERN_PRICE_COMPLETION", "10"}};
  Program cost = run({"read", file, "--engine", engine.url(), "-o", out("cost"), "--parallel", "1", "--max-cost",
                      "0.000001", "--json"},
                     prices);
  EXPECT_EQ(cost.finish(), 5);
  EXPECT_EQ(cost.events().back()["budget_spent"], true);
  EXPECT_GT(cost.events().back()["cost"], 0.0);
  Program unpriced = run({"read", file, "--engine", engine.url(), "--max-cost", "1"});
  EXPECT_EQ(unpriced.finish(), 2);
  EXPECT_THAT(unpriced.errors(), HasSubstr("--max-cost needs prices"));
}

TEST_F(ModelsTest, TheAccountSaysWhatItCost) {
  const SimEngine engine;
  Program program = run({"read", pdf("a.pdf", 3), "--engine", engine.url()}, {{"LECTERN_PRICE_PROMPT", "1000000"}});
  EXPECT_EQ(program.finish(), 0);
  EXPECT_THAT(program.errors(), HasSubstr("Pages: 3 ok, 0 fallen back, 0 failed. "));
  EXPECT_THAT(program.errors(), testing::ContainsRegex("prompt and [0-9,]+ completion tokens, cost [0-9]+\\.0000\\."));
}

TEST_F(ModelsTest, PromptAndPictureAreWhatTheSettingsSay) {
  const SimEngine echo({"--text", "echo"});
  const std::string prompt = put("prompt.txt", "List every number on this page, please, one a line.\n");
  EXPECT_THAT(text_of_page({"--engine", echo.url(), "--prompt", prompt}), HasSubstr("List every number on this page"));
  const SimEngine engine;
  std::set<std::string> seen;  // the engine answers with the picture's hash
  const Variables cases[] = {{},
                             {{"VLM_RESIZE_FACTOR", "200"}},
                             {{"LECTERN_SIDE_MAX", "512"}},
                             {{"LECTERN_JPEG_QUALITY", "30"}},
                             {{"LECTERN_PICTURE", "png"}},
                             {{"LECTERN_MODEL_FAMILY", "qwen2.5-vl"}, {"LECTERN_PIXELS_MAX", "200000"}}};
  for (const Variables& variables : cases) seen.insert(text_of_page({"--engine", engine.url()}, variables));
  EXPECT_EQ(seen.size(), std::size(cases));
}

TEST_F(ModelsTest, RepliesAreBounded) {
  const SimEngine engine({"--words", "400"});
  Program program = run({"read", pdf("a.pdf", 1), "--engine", engine.url(), "--set", "model.reply_tokens_max=20",
                         "--json", "--fallback", "placeholder"});
  program.finish();
  const Json stats = Json::parse(engine.stats());
  EXPECT_LE(stats["completion_tokens"].get<int>(), 20 * stats["requests"].get<int>());
}

TEST_F(ModelsTest, AProgramCanBeTheEngine) {
  const std::string script = put("reader.py", R"(import json, sys
print(json.dumps({"ready": True, "model": "mine"}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    for index, prompt in enumerate(ask.get("prompts", [])):
        print(json.dumps({"id": ask["id"], "index": index, "text": "Read by a program of %d images." % len(prompt["images"]),
                          "finish": "stop"}), flush=True)
)");
  EXPECT_EQ(text_of_page({"--engine", "process:/usr/bin/python3 '" + script + "'"}),
            "Read by a program of 1 images.\n");
  Program none = run({"read", pdf("a.pdf", 1), "--engine", "process:/no/such/program"});
  EXPECT_EQ(none.finish(), 2) << none.errors();
  EXPECT_THAT(none.errors(), HasSubstr("/no/such/program"));
}

TEST_F(ModelsTest, QuietLogsNoWarnings) {
  const std::string script = put("frail.py", R"(import json, sys
print(json.dumps({"ready": True, "model": "mine"}), flush=True)
sys.stdin.readline()
sys.exit(1)
)");
  const std::string engine = "process:/usr/bin/python3 '" + script + "'";
  const Variables impatient{{"LECTERN_PATIENCE", "0"}, {"VLM_RETRY_COUNT", "1"}};
  Program loud = run({"read", pdf("a.pdf", 1), "--engine", engine}, impatient);
  EXPECT_EQ(loud.finish(), 0) << loud.errors();
  EXPECT_THAT(loud.errors(), HasSubstr("a provider's program ended"));
  Program quiet = run({"read", pdf("a.pdf", 1), "--engine", engine, "-q"}, impatient);
  EXPECT_EQ(quiet.finish(), 0) << quiet.errors();
  EXPECT_EQ(quiet.errors().find("a provider's program ended"), std::string::npos) << quiet.errors();
}

TEST_F(ModelsTest, WrongUsageIsSaidBeforeAnythingIsRead) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view says;
  };
  const Case cases[] = {
      {{"--model", "m"}, "--model needs a model to read with: give --engine URL"},
      {{"--engine", "http://"}, "http://"},
      {{"--engine", "http://127.0.0.1:9", "--prompt", "/no/such/file"}, "/no/such/file"},
      {{"--engine", "http://127.0.0.1:9", "--set", "model.temprature=1"}, "did you mean 'model.temperature'?"},
      {{"--engine", "http://127.0.0.1:9", "--parallel", "0"}, "'0' must be at least 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    std::vector<std::string> arguments = {"read", pdf("a.pdf", 1)};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    Program program = run(arguments);
    EXPECT_EQ(program.finish(), 2) << program.errors();
    EXPECT_THAT(program.errors(), HasSubstr(c.says));
    EXPECT_EQ(program.output(), "");
  }
}

TEST_F(ModelsTest, TheDoctorLooksAtEngines) {
  const SimEngine engine({"--context-tokens", "32768"});
  Program well = run({"doctor"}, {{"VLLM_SERVER_URL", engine.url()}});
  EXPECT_EQ(well.finish(), 0) << well.output();
  EXPECT_THAT(well.output(), HasSubstr("answers, model sim-vl"));
  Program ill = run({"doctor", "--json"}, {{"VLLM_SERVER_URL", "http://127.0.0.1:9"}});
  EXPECT_EQ(ill.finish(), 1);
  EXPECT_EQ(Json::parse(ill.output())["healthy"], false);
}

TEST_F(ModelsTest, ConfigShowsWhereEngineSettingsComeFrom) {
  Program program = run({"config", "--json", "--set", "model.temperature=0.25"},
                        {{"VLLM_SERVER_URL", "http://a"}, {"OPENAI_API_KEY", "hush"}});
  EXPECT_EQ(program.finish(), 0) << program.errors();
  std::map<std::string, Json> settings;
  for (const Json& setting : Json::parse(program.output())["settings"]) settings[setting["key"]] = setting;
  EXPECT_EQ(settings["engines.urls"]["where"], "VLLM_SERVER_URL");
  EXPECT_EQ(settings["engines.api_key"]["value"], "(set)");
  EXPECT_EQ(settings["engines.api_key"]["where"], "OPENAI_API_KEY");
  EXPECT_EQ(settings["model.temperature"]["where"], "--set");
  EXPECT_EQ(program.output().find("hush"), std::string::npos);
  const std::string toml = put("lectern.toml", "[[engine]]\nurl = 'http://gpu:8000'\nmodel = 'qwen'\n");
  Program people = run({"config", "--config", toml});
  EXPECT_EQ(people.finish(), 0);
  EXPECT_THAT(people.output(), HasSubstr("[[engine]]  url = http://gpu:8000, model = qwen  file " + toml + ":1"));
  Program programs = run({"config", "--json", "--config", toml});
  EXPECT_EQ(programs.finish(), 0);
  EXPECT_EQ(Json::parse(programs.output())["engines"][0]["model"], "qwen");
}

TEST_F(ModelsTest, BenchPrintsARowForEachParallelism) {
  const std::string file = pdf("a.pdf", 3);
  Program simulated =
      run({"bench", file, "--requests", "12", "--parallel", "2,auto", "--latency", "fixed:0.01s", "--json"});
  EXPECT_EQ(simulated.finish(), 0) << simulated.errors();
  const Json rows = Json::parse(simulated.output())["rows"];
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["parallel"], 2);
  EXPECT_EQ(rows[1]["parallel"], "auto");
  for (const Json& row : rows) {
    EXPECT_EQ(row["requests"], 12);
    EXPECT_EQ(row["failed"], 0);
    EXPECT_GT(row["slot_utilisation"], 0.0);
    EXPECT_GT(row["memory_bytes"], 0);
  }
  const SimEngine engine({"--as", "llama-server"});
  Program tiny = run({"bench", "--tiny", "--requests", "50", "--parallel", "8", "--engine", engine.url()});
  EXPECT_EQ(tiny.finish(), 0) << tiny.errors();
  EXPECT_THAT(tiny.output(), HasSubstr("req/s"));
  EXPECT_GE(requests(engine), 50);
  Program wrong = run({"bench", "--parallel", "4,x"});
  EXPECT_EQ(wrong.finish(), 2);
  EXPECT_THAT(wrong.errors(), HasSubstr("'x' must be auto or a number"));
}

}  // namespace
}  // namespace lectern::e2e
