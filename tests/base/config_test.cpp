#include "base/config.h"

#include <gtest/gtest.h>

#include <array>

namespace lectern {
namespace {

constexpr std::array<Setting, 5> table{{
    {.key = "read.lang", .default_value = "eng", .environment = "LECTERN_LANG", .help = "languages"},
    {.key = "read.parallel",
     .type = SettingType::integer,
     .default_value = "auto",
     .environment = "PARALLEL_VLM_REQUESTS",
     .help = "pages at once",
     .minimum = 1,
     .maximum = 1024,
     .choices = "auto"},
    {.key = "read.format", .default_value = "md", .help = "output", .choices = "md|json"},
    {.key = "log.json",
     .type = SettingType::boolean,
     .default_value = "false",
     .environment = "LECTERN_LOG_JSON",
     .help = "logs"},
    {.key = "password",
     .type = SettingType::secret,
     .default_value = "",
     .environment = "LECTERN_PASSWORD",
     .help = "password"},
}};

Config::Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Config, TheStrongerSourceWinsWhateverTheOrder) {
  Config config(table);
  ASSERT_TRUE(config.set_flag("read.lang", "por", "--lang"));
  ASSERT_TRUE(config.load_environment(environment({{"LECTERN_LANG", "fra"}, {"PARALLEL_VLM_REQUESTS", "8"}})));
  ASSERT_TRUE(config.load_toml("[read]\nlang = 'deu'\nparallel = 2\nformat = 'json'\n", "lectern.toml"));
  EXPECT_EQ(config.value("read.lang"), (ConfigValue{"por", Origin::flag, "--lang"}));
  EXPECT_EQ(config.value("read.parallel"), (ConfigValue{"8", Origin::environment, "PARALLEL_VLM_REQUESTS"}));
  EXPECT_EQ(config.value("read.format"), (ConfigValue{"json", Origin::file, "lectern.toml:4"}));
  EXPECT_EQ(config.value("log.json"), (ConfigValue{"false", Origin::default_value, ""}));
  EXPECT_EQ(config.integer("read.parallel"), 8);
}

TEST(Config, WrongValuesNameThePlaceAndTheRule) {
  struct Case {
    std::string_view toml;
    std::string_view expected;
  };
  const Case cases[] = {
      {"[read]\nparallel = 0\n", "f.toml:2: '0' must be at least 1"},
      {"[read]\nparallel = 'many'\n", "f.toml:2: 'many' must be a whole number or auto"},
      {"[read]\nformat = 'pdf'\n", "f.toml:2: 'pdf' must be one of md|json"},
      {"[log]\njson = 'perhaps'\n", "f.toml:2: 'perhaps' must be true or false"},
      {"[read]\nlange = 'eng'\n", "f.toml:2: unknown setting 'read.lange'; did you mean 'read.lang'?"},
      {"[read]\nlang = ['eng']\n", "f.toml:2: 'read.lang' must be a single value"},
      {"[read\n", "f.toml:1: "},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.toml);
    Config config(table);
    const auto status = config.load_toml(c.toml, "f.toml");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().for_caller.substr(0, c.expected.size()), c.expected);
  }
}

TEST(Config, ASecretIsNeverRepeatedInAnError) {
  constexpr std::array<Setting, 1> secret{{{.key = "k", .type = SettingType::secret, .help = "h", .choices = "a|b"}}};
  Config config(secret);
  const auto status = config.set_flag("k", "hunter2", "--k");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().for_caller.find("hunter2"), std::string::npos);
}

constexpr std::array<Setting, 2> engine_table{{
    {.key = "url", .help = "address"},
    {.key = "slots", .type = SettingType::integer, .default_value = "4", .help = "slots", .minimum = 1},
}};
constexpr std::array<SettingEntries, 1> entry_tables{{{"engine", engine_table}}};

TEST(Config, EntriesHaveSettingsOfTheirOwn) {
  Config config(table, entry_tables);
  ASSERT_TRUE(
      config.load_toml("[[engine]]\nurl = 'a'\n\n[[engine]]\nurl = 'b'\nslots = 9\n[read]\nlang = 'por'\n", "f"));
  const auto engines = config.entries("engine");
  ASSERT_EQ(engines.size(), 2U);
  EXPECT_EQ(engines[0].text("url"), "a");
  EXPECT_EQ(engines[0].integer("slots"), 4) << "a default";
  EXPECT_EQ(engines[0].place(), "f:1");
  EXPECT_EQ(engines[1].value("slots"), (ConfigValue{"9", Origin::file, "f:6"}));
  EXPECT_EQ(config.text("read.lang"), "por");
  EXPECT_TRUE(config.entries("other").empty());
}

TEST(Config, EntriesAreCheckedLikeEverythingElse) {
  struct Case {
    std::string_view toml;
    std::string_view expected;
  };
  const Case cases[] = {
      {"[[engine]]\nulr = 'a'\n", "f.toml:2: unknown setting 'ulr'; did you mean 'url'?"},
      {"[[engine]]\nslots = 0\n", "f.toml:2: '0' must be at least 1"},
      {"[[engines]]\nurl = 'a'\n", "f.toml:1: unknown setting 'engines'"},
      {"[engine]\nurl = 'a'\n", "f.toml:2: unknown setting 'engine.url'"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.toml);
    Config config(table, entry_tables);
    const auto status = config.load_toml(c.toml, "f.toml");
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().for_caller.substr(0, c.expected.size()), c.expected);
  }
}

TEST(Config, ListsAreLinesOrArrays) {
  constexpr std::array<Setting, 1> lists{{{.key = "urls", .type = SettingType::list, .help = "h"}}};
  Config config(lists);
  EXPECT_TRUE(config.list("urls").empty());
  EXPECT_FALSE(config.is_set("urls"));
  ASSERT_TRUE(config.load_toml("urls = ['a', 'b c']", "f"));
  EXPECT_EQ(config.list("urls"), (std::vector<std::string>{"a", "b c"}));
  ASSERT_TRUE(config.set_flag("urls", "x\ny", "--url"));
  EXPECT_EQ(config.list("urls"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(config.load_toml("urls = ['a', 1]", "f").error().for_caller,
            "f:1: 'urls' must be a text or a list of texts");
}

TEST(Config, OfSeveralVariablesTheFirstThatIsSetCounts) {
  constexpr std::array<Setting, 1> keys{{{.key = "key", .environment = "OURS|THEIRS", .help = "h"}}};
  Config config(keys);
  ASSERT_TRUE(config.load_environment(environment({{"OURS", ""}, {"THEIRS", "t"}})));
  EXPECT_EQ(config.value("key"), (ConfigValue{"t", Origin::environment, "THEIRS"}));
  Config both(keys);
  ASSERT_TRUE(both.load_environment(environment({{"OURS", "o"}, {"THEIRS", "t"}})));
  EXPECT_EQ(both.text("key"), "o");
}

TEST(Config, AnUnknownKeyOfAFlagGetsASuggestion) {
  Config config(table);
  EXPECT_EQ(config.set_flag("read.lagn", "x", "--set").error().for_caller,
            "--set: unknown setting 'read.lagn'; did you mean 'read.lang'?");
}

TEST(Config, AnEmptyVariableCountsAsUnset) {
  Config config(table);
  ASSERT_TRUE(config.load_environment(environment({{"LECTERN_LANG", ""}})));
  EXPECT_EQ(config.value("read.lang").origin, Origin::default_value);
}

TEST(NearestWord, SuggestsOnlyWhatIsNear) {
  constexpr std::string_view known[] = {"read", "ocr", "doctor"};
  EXPECT_EQ(nearest_word("raed", known), "read") << "swapped letters are one slip";
  EXPECT_EQ(nearest_word("rood", known), "") << "two edits in four letters are a guess";
  EXPECT_EQ(nearest_word("reed", known), "read");
  EXPECT_EQ(nearest_word("docter", known), "doctor");
  EXPECT_EQ(nearest_word("zzz", known), "");
}

}  // namespace
}  // namespace lectern
