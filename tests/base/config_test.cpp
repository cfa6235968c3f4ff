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
