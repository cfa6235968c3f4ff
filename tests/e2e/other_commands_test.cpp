#include <gmock/gmock.h>

#include <fstream>

#include "program.h"
#include "temp_folder.h"

namespace lectern::e2e {
namespace {

using testing::HasSubstr;

TEST(Version, ForPeopleAndPrograms) {
  Program people = lectern({"version"});
  EXPECT_EQ(people.finish(), 0);
  EXPECT_THAT(people.output(), testing::StartsWith("lectern "));
  Program programs = lectern({"version", "--json"});
  EXPECT_EQ(programs.finish(), 0);
  const auto json = nlohmann::json::parse(programs.output());
  EXPECT_TRUE(json["tesseract"].is_string());
  EXPECT_THAT(people.output(), HasSubstr(json["lectern"].get<std::string>()));
}

TEST(ConfigCommand, ShowsWhereEachValueComesFrom) {
  const TempFolder folder;
  std::ofstream(folder.path() / "lectern.toml") << "[read]\nparallel = 3\n";
  const ProgramOptions options{.arguments = {"config", "--json"},
                               .environment = {{"LECTERN_LANG", "por"}, {"LECTERN_PASSWORD", "hush"}},
                               .folder = folder.path().string()};
  Program run(LECTERN_BIN_DIR "/lectern", options);
  EXPECT_EQ(run.finish(), 0) << run.errors();
  std::map<std::string, nlohmann::json> settings;
  for (const auto& setting : nlohmann::json::parse(run.output())["settings"]) settings[setting["key"]] = setting;
  EXPECT_EQ(settings["read.lang"]["value"], "por");
  EXPECT_EQ(settings["read.lang"]["where"], "LECTERN_LANG");
  EXPECT_EQ(settings["read.parallel"]["value"], "3");
  EXPECT_EQ(settings["read.parallel"]["where"], "lectern.toml:2");
  EXPECT_EQ(settings["read.format"]["origin"], "default");
  EXPECT_EQ(run.output().find("hush"), std::string::npos) << "secrets are not shown";
  EXPECT_EQ(settings["read.password"]["value"], "(set)");
}

TEST(ConfigCommand, ShowsNoPasswordOfAnEngine) {
  const TempFolder folder;
  std::ofstream(folder.path() / "lectern.toml") << "[[engine]]\nurl = \"http://u:hush@gpu:1\"\n";
  for (const std::vector<std::string>& words : {std::vector<std::string>{"config"}, {"config", "--json"}}) {
    Program run(LECTERN_BIN_DIR "/lectern", {.arguments = words,
                                             .environment = {{"VLLM_SERVER_URL", "http://u:hush@h:1"}},
                                             .folder = folder.path().string()});
    EXPECT_EQ(run.finish(), 0) << run.errors();
    EXPECT_EQ(run.output().find("hush"), std::string::npos) << run.output();
    EXPECT_THAT(run.output(), HasSubstr("http://u:***@h:1"));
    EXPECT_THAT(run.output(), HasSubstr("http://u:***@gpu:1"));
  }
}

TEST(ConfigCommand, AValueThatDoesNotFitIsAnError) {
  const TempFolder folder;
  for (const auto& [toml, says] : std::map<std::string, std::string>{
           {"[read]\nlang = 5\n", "lectern.toml:2: 'read.lang' must be a text in quotes"},
           {"[[engine]]\nmodel = \"m\"\n", "[[engine]] needs a url"},
           {"[[engine]]\nurl = \"ftp://x\"\n", "lectern.toml:2: engine address \"ftp://x\" is not one"}}) {
    std::ofstream(folder.path() / "lectern.toml") << toml;
    Program run(LECTERN_BIN_DIR "/lectern", {.arguments = {"config"}, .folder = folder.path().string()});
    EXPECT_EQ(run.finish(), 2) << toml;
    EXPECT_THAT(run.errors(), HasSubstr(says));
  }
}

TEST(DoctorCommand, FindsABrokenInstallation) {
  Program run(LECTERN_BIN_DIR "/lectern",
              {.arguments = {"doctor", "--json"}, .environment = {{"LECTERN_RENDERER", "/none/lectern-render"}}});
  EXPECT_EQ(run.finish(), 1);
  const auto json = nlohmann::json::parse(run.output());
  EXPECT_EQ(json["healthy"], false);
  bool found = false;
  for (const auto& finding : json["findings"]) {
    if (finding["name"] != "renderer") continue;
    found = true;
    EXPECT_EQ(finding["state"], "broken");
    EXPECT_THAT(finding["detail"].get<std::string>(), HasSubstr("/none/lectern-render"));
    EXPECT_NE(finding["mend"], "");
  }
  EXPECT_TRUE(found);
}

TEST(DoctorCommand, FindsASoundOne) {
  Program run = lectern({"doctor"});
  EXPECT_EQ(run.finish(), 0) << run.output();
  EXPECT_THAT(run.output(), HasSubstr("lectern-render starts"));
  EXPECT_THAT(run.output(), HasSubstr("Lectern is ready to read."));
}

}  // namespace
}  // namespace lectern::e2e
