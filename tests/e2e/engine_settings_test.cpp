// Settings that say how engines are reached and asked, each through the whole program: what the engine was sent, and
// what became of the page.
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <list>

#include "read_fixture.h"
#include "relay.h"
#include "sim_engine.h"

namespace lectern::e2e {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::Not;
using testing::StartsWith;
using testing_sim::SimEngine;
using testing_tls::SelfSigned;
using Json = nlohmann::json;
using Variables = std::map<std::string, std::string>;

class EngineSettingsTest : public ReadTest {
 protected:
  // Reads a file and returns what --format json says of it.
  Json read(const std::string& file, std::vector<std::string> arguments, Variables variables = {}) {
    arguments.insert(arguments.begin(), {"read", file, "-q", "--format", "json"});
    Program program(LECTERN_BIN_DIR "/lectern",
                    {.arguments = std::move(arguments), .environment = std::move(variables)});
    EXPECT_EQ(program.finish(), 0) << program.errors();
    errors_ = program.errors();
    const Json document = Json::parse(program.output(), nullptr, false);
    EXPECT_TRUE(document.is_object()) << program.output();
    return document.is_object() ? document["pages"] : Json::array();
  }
  Json read_page(std::vector<std::string> arguments, Variables variables = {}) {
    const Json pages = read(pdf("one.pdf", 1), std::move(arguments), std::move(variables));
    EXPECT_EQ(pages.size(), 1U);
    return pages.empty() ? Json::object() : pages[0];
  }
  static int figure(const SimEngine& engine, const std::string& name) { return Json::parse(engine.stats())[name]; }
  static int requests(const SimEngine& engine) { return figure(engine, "requests"); }

  std::string errors_;  // of the last read()
};

// ---- on the way

TEST_F(EngineSettingsTest, AnEngineBehindTlsIsTrustedByItsCertificate) {
  const SelfSigned certificate;
  const SimEngine engine;
  const Relay tls({.to = engine.port(), .certificate = &certificate});
  const std::string url = "https://" + tls.host();
  const std::string ca = put("ca.pem", certificate.pem());
  EXPECT_EQ(read_page({"--engine", url}, {{"LECTERN_CA_FILE", ca}})["reader"], "model");
  const std::string toml = put("lectern.toml", fmt::format("[engines]\nurls = ['{}']\nca_file = '{}'\n", url, ca));
  EXPECT_EQ(read_page({"--config", toml})["reader"], "model");
  EXPECT_EQ(requests(engine), 2);
}

TEST_F(EngineSettingsTest, AStrangerBehindTlsIsAskedOnlyByChoice) {
  const SelfSigned certificate;
  const SelfSigned another;
  const SimEngine engine;
  const Relay tls({.to = engine.port(), .certificate = &certificate});
  const std::string url = "https://" + tls.host();
  const Variables impatient{{"LECTERN_PATIENCE", "0"}};
  for (Variables variables : {Variables{}, Variables{{"LECTERN_CA_FILE", put("other.pem", another.pem())}}}) {
    variables.insert(impatient.begin(), impatient.end());
    const Json page = read_page({"--engine", url}, variables);
    EXPECT_EQ(page["reader"], "builtin");
    EXPECT_THAT(page["attempts"].dump(), HasSubstr("cannot be trusted (TLS)"));
  }
  EXPECT_EQ(requests(engine), 0) << "not a word to somebody unknown";
  EXPECT_EQ(read_page({"--engine", url}, {{"LECTERN_INSECURE", "true"}})["reader"], "model");
  EXPECT_EQ(requests(engine), 1);
}

// engine.test is a name that nobody can look up: only the proxy leads there.
TEST_F(EngineSettingsTest, AProxyLeadsToTheEngine) {
  const SimEngine engine;
  const Relay proxy({.to = engine.port()});
  const std::string url = "http://engine.test:8000";
  EXPECT_EQ(read_page({"--engine", url}, {{"LECTERN_PROXY", "http://" + proxy.host()}})["reader"], "model");
  EXPECT_EQ(read_page({"--engine", url}, {{"http_proxy", "http://" + proxy.host()}})["reader"], "model");
  EXPECT_EQ(requests(engine), 2);
  EXPECT_GE(proxy.connections(), 2);
  EXPECT_EQ(proxy.tunnels(), 0);
}

TEST_F(EngineSettingsTest, TlsGoesThroughAProxyUnread) {
  const SelfSigned certificate;
  const SimEngine engine;
  const Relay tls({.to = engine.port(), .certificate = &certificate});
  const Relay proxy({.to = tls.port()});
  const Variables variables{{"LECTERN_PROXY", "http://" + proxy.host()},
                            {"LECTERN_CA_FILE", put("ca.pem", certificate.pem())}};
  EXPECT_EQ(read_page({"--engine", "https://engine.test"}, variables)["reader"], "model");
  EXPECT_EQ(requests(engine), 1);
  EXPECT_GE(proxy.tunnels(), 1);
}

TEST_F(EngineSettingsTest, TheEnvironmentsProxyIsNotForThisMachine) {
  const SimEngine engine;
  const Relay proxy({.to = engine.port()});
  const Variables variables{{"http_proxy", "http://" + proxy.host()}, {"https_proxy", "http://" + proxy.host()}};
  EXPECT_EQ(read_page({"--engine", engine.url()}, variables)["reader"], "model");
  EXPECT_EQ(proxy.connections(), 0);
}

// ---- what is asked

TEST_F(EngineSettingsTest, ExtraMembersJoinEveryRequestAndWin) {
  const SimEngine engine({"--words", "200"});
  const Variables variables{{"LECTERN_EXTRA_BODY", R"({"max_tokens": 7})"}, {"LECTERN_FALLBACK", "ocr"}};
  read(pdf("a.pdf", 3), {"--engine", engine.url()}, variables);
  EXPECT_GE(requests(engine), 3);
  EXPECT_EQ(figure(engine, "completion_tokens"), 7 * requests(engine)) << "Lectern itself asks for 4096";

  const SimEngine other({"--words", "200"});
  const std::string toml = put(
      "lectern.toml", fmt::format("[[engine]]\nurl = '{}'\nextra_body = '{}'\n", other.url(), R"({"max_tokens": 9})"));
  read(pdf("a.pdf", 1), {"--config", toml});
  EXPECT_EQ(figure(other, "completion_tokens"), 9 * requests(other));
}

TEST_F(EngineSettingsTest, PixelsFollowThePagesClass) {
  // Many lines far apart make a drawing; words a text page.
  std::string drawing = "1 w\n";
  for (int i = 0; i < 60; ++i) drawing += fmt::format("{} 60 m {} 740 l S\n", 50 + 8 * i, 540 - 7 * i);
  const std::string diagram = put("diagram.pdf", document::pdf_of_pages({{.content = drawing}}));
  std::string lines = "BT /F1 24 Tf 30 TL 72 700 Td\n";
  for (int i = 0; i < 16; ++i) lines += fmt::format("(Line {} of a page in large letters.) Tj T*\n", i);
  const std::string text = put("text.pdf", document::pdf_of_pages({{.content = lines + "ET"}}));

  const SimEngine engine;  // a prompt token for 28 x 28 pixels
  const auto tokens = [&](const std::string& file, const std::string& by_class) {
    engine.reset();
    const Json pages = read(file, {"--engine", engine.url()}, {{"LECTERN_PIXELS_BY_CLASS", by_class}});
    EXPECT_EQ(requests(engine), 1) << pages.dump();
    return figure(engine, "prompt_tokens");
  };
  const int same = tokens(diagram, "false");
  EXPECT_EQ(tokens(text, "false"), same) << "one rule for all pages, unless told otherwise";
  EXPECT_GT(tokens(diagram, "true"), same);
  EXPECT_GT(tokens(diagram, "true"), tokens(text, "true"));
}

// ---- how far it is believed

// What the page says, so that an engine that answers with it agrees with the page's own words.
constexpr std::string_view page_text = "Page 1 of the one.pdf report.\n";

TEST_F(EngineSettingsTest, TokenProbabilitiesGiveConfidence) {
  const SimEngine engine({"--text", put("answer.md", std::string(page_text)), "--probability", "0.6"});
  const Json silent = read_page({"--engine", engine.url()});
  EXPECT_THAT(silent["confidence_why"].get<std::string>(), HasSubstr("no token probabilities"));
  const Json told = read_page({"--engine", engine.url()}, {{"LECTERN_LOGPROBS", "true"}});
  EXPECT_THAT(told["confidence_why"].get<std::string>(), StartsWith("mean token probability 0."));
  EXPECT_LT(told["confidence"].get<double>(), 0.85);

  engine.control(R"({"probability": 0.99})");
  const Json sure = read_page({"--engine", engine.url()}, {{"LECTERN_LOGPROBS", "true"}});
  EXPECT_GT(sure["confidence"].get<double>(), 0.95);
}

TEST_F(EngineSettingsTest, LittleConfidenceLeadsToTheNextModel) {
  const std::string answer = put("answer.md", std::string(page_text));
  const SimEngine unsure({"--model", "small", "--text", answer, "--probability", "0.5"});
  const SimEngine sure({"--model", "large", "--text", answer, "--probability", "0.99"});
  const std::vector<std::string> arguments = {"--engine", unsure.url(), "--fallback-engine", sure.url()};

  const Json doubted = read_page(arguments, {{"LECTERN_LOGPROBS", "true"}});
  EXPECT_EQ(doubted["model"], "large");
  EXPECT_GT(doubted["confidence"].get<double>(), 0.95);
  EXPECT_THAT(doubted["attempts"].dump(), HasSubstr("small"));
  EXPECT_EQ(requests(sure), 1);

  const Json believed = read_page(arguments, {{"LECTERN_LOGPROBS", "true"}, {"LECTERN_CONFIDENCE_MIN", "0.3"}});
  EXPECT_EQ(believed["model"], "small");
  EXPECT_EQ(requests(sure), 1) << "nobody else is asked about a page that is believed";
}

TEST_F(EngineSettingsTest, AnAnswerThatThePageContradictsLeadsToTheNextModelToo) {
  const SimEngine wrong({"--model", "small"});
  const SimEngine right({"--model", "large", "--text", put("answer.md", std::string(page_text))});
  const std::vector<std::string> arguments = {"--engine", wrong.url(), "--fallback-engine", right.url()};
  EXPECT_EQ(read_page(arguments)["model"], "large");
  EXPECT_EQ(read_page(arguments, {{"LECTERN_CONFIDENCE_MIN", "0"}})["model"], "small");
}

// ---- the slowest pages. The first words of an answer come long before its end, so that only what hangs is hedged.

TEST_F(EngineSettingsTest, TheSlowestPagesAreHedged) {
  const SimEngine quick({"--latency", "fixed:0.2s"});
  const SimEngine slow({"--latency", "fixed:0.2s", "--fault", "hang:after=20:first=1"});
  const std::vector<std::string> arguments = {"--engine", quick.url(), "--engine", slow.url(), "--parallel", "4"};
  const Json pages =
      read(pdf("a.pdf", 60), arguments, {{"LECTERN_HEDGE", "true"}, {"LECTERN_FALLBACK", "placeholder"}});
  ASSERT_EQ(pages.size(), 60U);
  for (const Json& page : pages) EXPECT_FALSE(page.contains("error")) << page;
  EXPECT_EQ(Json::parse(slow.stats())["faults"]["hang"], 1) << "one page would have waited for ever";
  EXPECT_THAT(requests(quick) + requests(slow), AllOf(Ge(61), Le(63)));
  slow.await("running=0");  // whoever lost was told so
}

TEST_F(EngineSettingsTest, HedgesAreAFewOfAll) {
  const SimEngine quick({"--latency", "fixed:0.04s"});
  const SimEngine slow({"--latency", "fixed:0.04s", "--fault", "hang:after=20"});
  const std::vector<std::string> arguments = {"--engine", quick.url(), "--engine", slow.url(), "--parallel", "4"};
  const Variables variables{{"LECTERN_HEDGE", "true"}, {"VLM_CONCURRENT_TIMEOUT", "0.5"}, {"VLM_RETRY_COUNT", "1"}};
  const Json pages = read(pdf("a.pdf", 100), arguments, variables);
  ASSERT_EQ(pages.size(), 100U);
  EXPECT_THAT(requests(quick) + requests(slow), AllOf(Ge(101), Le(115)))
      << "five, and a few probes of the engine that hangs; 40 pages would have been hedged";
}

// ---- what engines say of their load

TEST_F(EngineSettingsTest, AnEngineWithOneSlotHasNoQueue) {
  const SimEngine engine({"--as", "llama-server", "--slots", "1", "--latency", "fixed:0.01s"});
  const Json pages = read(pdf("a.pdf", 40), {"--engine", engine.url()});
  ASSERT_EQ(pages.size(), 40U);
  for (const Json& page : pages) EXPECT_EQ(page["reader"], "model");
  EXPECT_EQ(figure(engine, "waiting_max"), 0);
}

TEST_F(EngineSettingsTest, AnEngineThatIsBusyWithOthersIsSpared) {
  const SimEngine busy({"--latency", "fixed:1000s"});
  const SimEngine idle({"--latency", "fixed:0.005s"});
  std::list<testing_sim::RawClient> others;
  for (int i = 0; i < 8; ++i) {
    const std::string body = R"({"model":"sim-vl","messages":[{"role":"user","content":"Hello"}]})";
    others.emplace_back(busy.port())
        .send(fmt::format("POST /v1/chat/completions HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: "
                          "{}\r\n\r\n{}",
                          body.size(), body));
  }
  busy.await("running=8");
  const Json pages = read(pdf("a.pdf", 20), {"--engine", busy.url(), "--engine", idle.url(), "--parallel", "2"},
                          {{"VLM_CONCURRENT_TIMEOUT", "10"}});
  ASSERT_EQ(pages.size(), 20U);
  EXPECT_EQ(requests(idle), 20);
  EXPECT_EQ(requests(busy), 8);
}

}  // namespace
}  // namespace lectern::e2e
