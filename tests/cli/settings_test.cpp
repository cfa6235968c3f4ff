#include "cli/settings.h"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "cli/run_setup.h"
#include "temp_folder.h"

namespace lectern::cli {
namespace {

Config::Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

TEST(Settings, FlagBeatsEnvironmentBeatsFileBeatsDefault) {
  const TempFolder folder;
  const auto file = (folder.path() / "lectern.toml").string();
  std::ofstream(file) << "[read]\nlang = \"por\"\nformat = \"text\"\nparallel = 3\n";
  const auto loaded =
      load_settings({.flags = {{"read.lang", "deu", "--lang"}},
                     .config_file = file,
                     .environment = environment({{"LECTERN_LANG", "fra"}, {"LECTERN_FORMAT", "html"}})});
  ASSERT_TRUE(loaded) << loaded.error().for_log;
  EXPECT_EQ(loaded->file, file);
  const Config& config = loaded->config;
  EXPECT_EQ(config.value("read.lang"), (ConfigValue{"deu", Origin::flag, "--lang"}));
  EXPECT_EQ(config.value("read.format"), (ConfigValue{"html", Origin::environment, "LECTERN_FORMAT"}));
  EXPECT_EQ(config.value("read.parallel"), (ConfigValue{"3", Origin::file, file + ":4"}));
  EXPECT_EQ(config.value("log.level"), (ConfigValue{"warning", Origin::default_value, ""}));
}

TEST(Settings, QuietLogsErrorsUnlessToldOtherwise) {
  using telemetry::LogLevel;
  const auto level = [](std::map<std::string, std::string> variables, bool quiet) {
    return log_level(load_settings({.environment = environment(std::move(variables))})->config, quiet);
  };
  EXPECT_EQ(level({}, false), LogLevel::warning);
  EXPECT_EQ(level({}, true), LogLevel::error);
  EXPECT_EQ(level({{"LECTERN_LOG", "warning"}}, true), LogLevel::warning);
  EXPECT_EQ(level({{"LECTERN_LOG", "debug"}}, true), LogLevel::debug);
  EXPECT_EQ(level({{"LECTERN_LOG", "off"}}, false), LogLevel::off);
}

TEST(Settings, TheFileIsFoundInTheUsersFolder) {
  const TempFolder folder;
  std::filesystem::create_directories(folder.path() / "lectern");
  const auto file = folder.path() / "lectern/lectern.toml";
  std::ofstream(file) << "read.lang = \"por\"\n";
  const auto loaded = load_settings({.environment = environment({{"XDG_CONFIG_HOME", folder.path().string()}})});
  ASSERT_TRUE(loaded) << loaded.error().for_log;
  EXPECT_EQ(loaded->file, file);
  const auto by_name = load_settings({.environment = environment({{"LECTERN_CONFIG", file.string()}})});
  ASSERT_TRUE(by_name);
  EXPECT_EQ(by_name->config.text("read.lang"), "por");
}

TEST(Settings, ErrorsNameThePlace) {
  const TempFolder folder;
  const auto file = (folder.path() / "lectern.toml").string();
  std::ofstream(file) << "[read]\nlanguage = \"por\"\n";
  struct Case {
    SettingSources sources;
    std::string_view says;
  };
  const Case cases[] = {
      {{.config_file = file, .environment = environment({})}, "unknown setting 'read.language'"},
      {{.config_file = "/none.toml", .environment = environment({})}, "--config /none.toml: there is no such file"},
      {{.environment = environment({{"LECTERN_CONFIG", "/none.toml"}})}, "LECTERN_CONFIG=/none.toml"},
      {{.environment = environment({{"LECTERN_FORMAT", "pdf"}})}, "LECTERN_FORMAT: 'pdf' must be one of"},
      {{.flags = {{"read.parallel", "0", "--parallel"}}, .environment = environment({})}, "--parallel: '0' must be"},
      {{.flags = {{"read.parallel", "many", "--parallel"}}, .environment = environment({})}, "--parallel: 'many'"},
  };
  for (const Case& c : cases) {
    const auto loaded = load_settings(c.sources);
    ASSERT_FALSE(loaded) << c.says;
    EXPECT_EQ(loaded.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(loaded.error().for_caller, testing::HasSubstr(c.says));
  }
}

TEST(Settings, DefaultsAreValidAndNamesAreUnique) {
  std::set<std::string_view> keys;
  std::set<std::string_view> variables;
  for (const Setting& setting : settings_table()) {
    EXPECT_TRUE(keys.insert(setting.key).second) << setting.key;
    if (!setting.environment.empty()) EXPECT_TRUE(variables.insert(setting.environment).second) << setting.environment;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
    if (setting.default_value.empty()) continue;
    Config config(settings_table());
    EXPECT_TRUE(config.set_flag(setting.key, setting.default_value, "default")) << setting.key;
  }
}

TEST(RunSetup, SettingsReachTheParts) {
  const auto loaded = load_settings({.flags = {{"read.parallel", "3", "f"},
                                               {"render.memory_mib", "512", "f"},
                                               {"render.page_timeout_s", "1.5", "f"},
                                               {"render.megapixels_max", "9", "f"},
                                               {"read.lang", "por", "f"},
                                               {"read.auto_rotate", "off", "f"}},
                                     .environment = environment({})});
  ASSERT_TRUE(loaded);
  EXPECT_EQ(cpu_threads(loaded->config, false), 3);
  const auto renderers = renderer_options(loaded->config, 3);
  EXPECT_EQ(renderers.processes, 3);
  EXPECT_EQ(renderers.limits.memory_bytes, std::int64_t{512} << 20);
  EXPECT_EQ(renderers.limits.page_timeout, std::chrono::milliseconds{1500});
  EXPECT_EQ(renderers.limits.pixels_max, 9'000'000);
  const auto reader = reader_options(loaded->config, true);
  EXPECT_EQ(reader.languages, "por");
  EXPECT_TRUE(reader.force_ocr);
  EXPECT_FALSE(reader.auto_rotate);
}

}  // namespace
}  // namespace lectern::cli
