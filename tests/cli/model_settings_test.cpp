#include "cli/model_settings.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "cli/engines.h"
#include "cli/known_models.h"
#include "cli/settings.h"
#include "temp_folder.h"

namespace lectern::cli {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Config::Environment environment(Variables variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

class ModelSettingsTest : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) {
    const auto file = folder_.path() / name;
    std::ofstream(file) << text;
    return file.string();
  }
  Result<std::optional<ModelSettings>> load(const std::vector<FlagValue>& flags, const Variables& variables = {},
                                            const std::string& toml = "") {
    SettingSources sources{.flags = flags, .environment = environment(variables)};
    sources.config_file = put("lectern.toml", toml);
    auto loaded = load_settings(sources);
    if (!loaded) return std::unexpected(loaded.error());
    return model_settings(loaded->config, environment(variables));
  }
  ModelSettings of(const std::vector<FlagValue>& flags, const Variables& variables = {}, const std::string& toml = "") {
    auto settings = load(flags, variables, toml);
    if (!settings || !*settings) {
      ADD_FAILURE() << (settings ? "no models" : settings.error().for_caller);
      return {};
    }
    return **settings;
  }

  TempFolder folder_;
};

TEST_F(ModelSettingsTest, WithoutAnEngineTheBuiltinReaderReads) {
  const auto settings = load({});
  ASSERT_TRUE(settings);
  EXPECT_FALSE(*settings);
}

TEST_F(ModelSettingsTest, TheRollbackSwitchWorksBothWays) {
  const FlagValue engine{"engines.urls", "http://a", "--engine"};
  const auto off = load({engine}, {{"USE_VLLM_OCR", "false"}});
  ASSERT_TRUE(off);
  EXPECT_FALSE(*off) << "the builtin reader, although an engine is configured";
  EXPECT_EQ(of({engine}, {{"USE_VLLM_OCR", "true"}}).first.engines.size(), 1U);
  const auto forced = load({}, {{"USE_VLLM_OCR", "true"}});
  ASSERT_FALSE(forced);
  EXPECT_THAT(forced.error().for_caller, HasSubstr("USE_VLLM_OCR is true, but no engine is configured: give --engine"));
}

TEST_F(ModelSettingsTest, TheOldVariablesMeanWhatTheyMeant) {
  const ModelSettings defaults = of({}, {{"VLLM_SERVER_URL", "http://a:8000"}});
  EXPECT_EQ(defaults.parallel, 0) << "auto";
  EXPECT_EQ(defaults.page_timeout, std::chrono::seconds{300});
  EXPECT_EQ(defaults.attempts_max, 2);
  EXPECT_EQ(defaults.size.factor, 32);
  EXPECT_EQ(defaults.first.model, "");
  const ModelSettings set = of({}, {{"VLLM_SERVER_URL", "http://a:8000, http://b:8000"},
                                    {"PARALLEL_VLM_REQUESTS", "4"},
                                    {"VLM_CONCURRENT_TIMEOUT", "60"},
                                    {"VLM_RETRY_COUNT", "3"},
                                    {"VLM_RESIZE_FACTOR", "28"},
                                    {"VLM_MODEL_NAME", "qwen"},
                                    {"OPENAI_API_KEY", "secret"}});
  ASSERT_EQ(set.first.engines.size(), 2U);
  EXPECT_EQ(set.first.engines[1], (EngineSettings{"http://b:8000", "", "secret", ""}));
  EXPECT_EQ(set.first.model, "qwen");
  EXPECT_EQ(set.parallel, 4);
  EXPECT_EQ(set.page_timeout, std::chrono::seconds{60});
  EXPECT_EQ(set.attempts_max, 3);
  EXPECT_EQ(set.size.factor, 28);
}

TEST_F(ModelSettingsTest, EverySettingReachesItsPart) {
  const ModelSettings set = of({{"engines.urls", "http://a", "--engine"}},
                               {{"LECTERN_PROMPT_FILE", put("prompt.txt", "Read this.\n")},
                                {"LECTERN_SYSTEM_PROMPT_FILE", put("system.txt", "You read.\n")}},
                               R"(
[model]
reply_tokens_max = 777
temperature = 0.5
logprobs = true
extra_body = '{"top_k": 3}'
family = "qwen2.5-vl"
side_max = 1536
pixels_min = 4096
pixels_max = 2000000
pixels_by_class = true
picture = "png"
jpeg_quality = 70
confidence_min = 0.5
fallback = "placeholder"
fallback_name = "bigger"
cache_folder = "/tmp/replies"
price_prompt = 2
price_completion = 10
[engines]
hedge = true
ca_file = "/etc/ca.pem"
insecure = true
proxy = "http://proxy:3128"
[read]
tokens_max = 100
cost_max = 1.5
)");
  EXPECT_EQ(set.prompt, "Read this.");
  EXPECT_EQ(set.system, "You read.");
  EXPECT_EQ(set.parameters.tokens_max, 777);
  EXPECT_EQ(set.parameters.temperature, 0.5);
  EXPECT_TRUE(set.parameters.logprobs);
  EXPECT_EQ(set.parameters.extra_body, R"({"top_k": 3})");
  EXPECT_EQ(set.family, reading::ModelFamily::qwen25_vl);
  EXPECT_EQ(set.size.side_max, 1536);
  EXPECT_EQ(set.size.pixels_min, 4096);
  EXPECT_EQ(set.size.pixels_max, 2'000'000);
  EXPECT_TRUE(set.size.by_class);
  EXPECT_EQ(set.picture_format, reading::PictureFormat::png);
  EXPECT_EQ(set.jpeg_quality, 70);
  EXPECT_EQ(set.confidence_min, 0.5);
  EXPECT_FALSE(set.builtin_fallback);
  ASSERT_TRUE(set.second);
  EXPECT_EQ(set.second->model, "bigger");
  EXPECT_EQ(set.second->engines, set.first.engines) << "the same engines, another model";
  EXPECT_EQ(set.cache_folder, "/tmp/replies");
  EXPECT_TRUE(set.hedge);
  EXPECT_EQ(set.ca_file, "/etc/ca.pem");
  EXPECT_FALSE(set.verify_tls);
  EXPECT_EQ(set.proxy, "http://proxy:3128");
  EXPECT_EQ(set.budget.tokens_max, 100);
  EXPECT_EQ(set.budget.cost_max, 1.5);
  EXPECT_DOUBLE_EQ(*cost_of(set, {1'000'000, 100'000}), 3.0);
}

TEST_F(ModelSettingsTest, EntriesOfTheFile) {
  const std::string toml = fmt::format(R"(
[[engine]]
url = "http://a"
api_key_env = "KEY_OF_A"
model = "a-name"
extra_body = '{{"x": 1}}'
[[engine]]
url = "http://b"
api_key_file = "{}"
)",
                                       put("key", "  from-file\n"));
  const Variables key{{"KEY_OF_A", "from-variable"}};
  const ModelSettings both = of({}, key, toml);
  ASSERT_EQ(both.first.engines.size(), 2U);
  EXPECT_EQ(both.first.engines[0], (EngineSettings{"http://a", "a-name", "from-variable", R"({"x": 1})"}));
  EXPECT_EQ(both.first.engines[1].api_key, "from-file");
  const ModelSettings one = of({{"engines.urls", "http://a", "--engine"}}, key, toml);
  ASSERT_EQ(one.first.engines.size(), 1U) << "a flag stands in for the file's engines";
  EXPECT_EQ(one.first.engines[0].model, "a-name") << "and takes what the file says about that address";
}

TEST_F(ModelSettingsTest, ErrorsSayWhatToDo) {
  struct Case {
    std::vector<FlagValue> flags;
    Variables variables;
    std::string toml;
    std::string_view says;
  };
  const FlagValue engine{"engines.urls", "http://a", "--engine"};
  const Case cases[] = {
      {{engine, {"model.extra_body", "[1]", "--set"}}, {}, "", "--set: '[1]' is not a JSON object"},
      {{engine, {"model.prompt_file", "/none.txt", "--prompt"}}, {}, "", "--prompt: "},
      {{engine, {"read.cost_max", "1", "--max-cost"}}, {}, "", "--max-cost needs prices"},
      {{engine, {"model.pixels_min", "5000", "--set"}, {"model.pixels_max", "4000", "--set"}}, {}, "", "more than"},
      {{{"model.name", "m", "--model"}}, {}, "", "--model needs a model to read with: give --engine URL"},
      {{{"model.temperature", "1", "--set"}}, {}, "", "--set model.temperature needs a model"},
      {{}, {}, "[[engine]]\nmodel = 'x'\n", "[[engine]] needs a url"},
      {{}, {}, "[[engine]]\nurl = 'http://a'\napi_key_env = 'NOPE'\n", "the environment variable NOPE is not set"},
      {{}, {}, "[[engine]]\nurl = 'http://a'\nurll = 'b'\n", "unknown setting 'urll'; did you mean 'url'?"},
      {{}, {}, "[engine]\nurls = 'http://a'\n", "did you mean 'engines.urls'?"},
      {{engine}, {{"VLM_RETRY_COUNT", "0"}}, "", "VLM_RETRY_COUNT: '0' must be at least 1"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.says);
    const auto settings = load(c.flags, c.variables, c.toml);
    ASSERT_FALSE(settings);
    EXPECT_EQ(settings.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(settings.error().for_caller, HasSubstr(c.says));
  }
}

TEST(Addresses, AreSplitButCommandsAreNot) {
  EXPECT_EQ(split_addresses({"http://a,http://b http://c", "process:./p --x 'a, b'"}),
            (std::vector<std::string>{"http://a", "http://b", "http://c", "process:./p --x 'a, b'"}));
  EXPECT_TRUE(split_addresses({" , "}).empty());
}

TEST(Commands, AreSplitAsAShellWould) {
  EXPECT_EQ(*split_command(R"(python3 "my plugin.py" --model 'a b' c\ d "" "x\"y")"),
            (std::vector<std::string>{"python3", "my plugin.py", "--model", "a b", "c d", "", "x\"y"}));
  EXPECT_THAT(split_command("a 'b").error().for_caller, HasSubstr("a quote is not closed"));
  EXPECT_THAT(split_command("  ").error().for_caller, HasSubstr("needs a command"));
}

TEST(ChooseModel, WhatAnOfferTells) {
  using provider::Failure;
  using provider::FailureReason;
  const EngineOffer one{.engine = "http://a", .models = {{"qwen", 32768}}};
  EXPECT_EQ(*choose_model(one, ""), (ModelChoice{.model = "qwen"}));
  EXPECT_EQ(*choose_model(one, "qwen"), (ModelChoice{.model = "qwen"}));
  EXPECT_EQ(*choose_model(one, "other"), (ModelChoice{.model = "other", .listed = false}));
  const EngineOffer ollama{.engine = "http://a", .models = {{"llava:latest"}, {"b"}}};
  EXPECT_TRUE(choose_model(ollama, "llava")->listed);
  EXPECT_THAT(choose_model(ollama, "").error().for_caller,
              HasSubstr("http://a: it offers llava:latest, b; choose with --model"));
  const auto failing = [](FailureReason reason) {
    return EngineOffer{.engine = "http://a", .failure = Failure{.reason = reason, .message = "http://a: said no"}};
  };
  EXPECT_EQ(choose_model(failing(FailureReason::unauthorized), "").error().kind, ErrorKind::invalid_input);
  EXPECT_THAT(choose_model(failing(FailureReason::unauthorized), "").error().for_caller, HasSubstr("LECTERN_API_KEY"));
  EXPECT_EQ(choose_model(failing(FailureReason::quota), "m").error().kind, ErrorKind::overloaded);
  const auto away = choose_model(failing(FailureReason::unreachable), "m");
  ASSERT_TRUE(away) << "waiting may mend it";
  EXPECT_EQ(away->warning, "engine http://a does not answer: said no");
  EXPECT_EQ(choose_model(failing(FailureReason::unknown_model), "m")->model, "m") << "a server without a list";
  EXPECT_THAT(choose_model(failing(FailureReason::unknown_model), "").error().for_caller, HasSubstr("--model"));
  EXPECT_EQ(choose_model({.engine = "process:x", .process = true}, "")->model, "");
}

TEST(NameIsMissing, WhenNobodyNamedTheModelAndNoEngineIsHeard) {
  const EngineOffer heard{.engine = "http://a", .models = {{"qwen"}}};
  const EngineOffer away{.engine = "http://b",
                         .failure = provider::Failure{.reason = provider::FailureReason::loading, .message = "503"}};
  const EngineOffer refused{
      .engine = "http://c",
      .failure = provider::Failure{.reason = provider::FailureReason::unauthorized, .message = "401"}};
  const EngineOffer process{.engine = "process:x", .process = true};
  const FleetSettings one{.engines = {{.address = "a"}}};
  const FleetSettings two{.engines = {{.address = "a"}, {.address = "b"}}};
  EXPECT_TRUE(name_is_missing(one, {away}));
  EXPECT_TRUE(name_is_missing(two, {process, away}));
  EXPECT_FALSE(name_is_missing(one, {heard}));
  EXPECT_FALSE(name_is_missing(two, {away, heard}));
  EXPECT_FALSE(name_is_missing(one, {process})) << "a program says nothing, and is asked under its own name";
  EXPECT_FALSE(name_is_missing(one, {refused})) << "no waiting mends that";
  EXPECT_FALSE(name_is_missing({.engines = one.engines, .model = "m"}, {away}));
  EXPECT_FALSE(name_is_missing({.engines = {{.address = "a", .model = "m"}}}, {away}));
}

TEST(KnownModels, AreRememberedAndDamageIsForgotten) {
  const TempFolder folder;
  const auto file = folder.path() / "out" / ".lectern" / "models.json";
  EXPECT_TRUE(read_known_models(file).empty());
  const KnownModels models{{"http://a:1", "qwen"}, {"http://b:2", "a \"quoted\" one"}};
  ASSERT_TRUE(write_known_models(real_disk(), file, models));
  EXPECT_EQ(read_known_models(file), models);
  ASSERT_TRUE(write_file_atomically(real_disk(), file, R"({"http://a:1": "qw)"));
  EXPECT_TRUE(read_known_models(file).empty());
}

TEST(WithoutPasswords, HidesThemAndNothingElse) {
  const std::pair<std::string, std::string> cases[] = {
      {"http://u:pw@h:1", "http://u:***@h:1"},
      {"http://u:p@w@h:1/v1?a=b@c", "http://u:***@h:1/v1?a=b@c"},
      {"https://token@h", "https://***@h"},
      {"u:pw@h:8000", "u:***@h:8000"},
      {"http://a:1, http://u:pw@b:2\nhttp://c/x@y", "http://a:1, http://u:***@b:2\nhttp://c/x@y"},
      {"engine address \"ftp://u:pw@h\" is not one", "engine address \"ftp://u:***@h\" is not one"},
      {"process:ssh me@gpu run", "process:ssh me@gpu run"},
      {"http://[::1]:8000", "http://[::1]:8000"},
      {R"({"top_k": 20})", R"({"top_k": 20})"},
      {"", ""},
  };
  for (const auto& [written, shown] : cases) EXPECT_EQ(without_passwords(written), shown);
}

TEST(CheckEngineAddresses, NamesThePlaceOfWhatCannotBeOne) {
  const std::pair<std::string, std::string> cases[] = {
      {"[[engine]]\nmodel = \"m\"\n", "x.toml:1: [[engine]] needs a url"},
      {"[[engine]]\nurl = \"ftp://u:pw@x\"\n", "x.toml:2: engine address \"ftp://u:***@x\" is not one"},
      {"[[engine]]\nurl = \"process:\"\n", "x.toml:2: process: needs a command"},
      {"[[engine]]\nurl = \"h\"\nextra_body = \"[]\"\n", "x.toml:3: '[]' is not a JSON object"},
      {"[engines]\nurls = [\"http://a\", \"ftp://b\"]\n", "x.toml:2: engine address \"ftp://b\""},
      {"[model]\nuse = false\nfallback_urls = \"ftp://b\"\n", "x.toml:3: engine address \"ftp://b\""},
  };
  for (const auto& [toml, says] : cases) {
    Config config(settings_table(), settings_entries());
    ASSERT_TRUE(config.load_toml(toml, "x.toml")) << toml;
    const auto sound = check_engine_addresses(config);
    ASSERT_FALSE(sound) << toml;
    EXPECT_EQ(sound.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(sound.error().for_caller, testing::StartsWith(says));
  }
  Config config(settings_table(), settings_entries());
  ASSERT_TRUE(
      config.load_toml("[[engine]]\nurl = \"http://u:pw@gpu:8000\"\n[[engine]]\nurl = \"unix:/run/x.sock\"\n"
                       "[[engine]]\nurl = \"process:run --it\"\n",
                       "x.toml"));
  EXPECT_TRUE(check_engine_addresses(config));
}

}  // namespace
}  // namespace lectern::cli
