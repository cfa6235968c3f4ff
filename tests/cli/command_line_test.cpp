#include "cli/command_line.h"

#include <gmock/gmock.h>

#include <fstream>

namespace lectern::cli {
namespace {

using testing::HasSubstr;

CommandLine parsed(const std::vector<std::string>& arguments) {
  auto result = parse_command_line(arguments);
  if (const auto* exit = std::get_if<EarlyExit>(&result)) {
    ADD_FAILURE() << exit->text;
    return {};
  }
  return std::get<CommandLine>(std::move(result));
}

TEST(CommandLine, EveryFlagOfRead) {
  const CommandLine line = parsed({"read",
                                   "a.pdf",
                                   "-o",
                                   "out",
                                   "b",
                                   "--pages",
                                   "1-3",
                                   "--format",
                                   "json",
                                   "--lang=por+eng",
                                   "--password",
                                   "s",
                                   "--retry-failed",
                                   "--no-cache",
                                   "--json",
                                   "-q",
                                   "--parallel",
                                   "4",
                                   "--auto-rotate",
                                   "off",
                                   "--config",
                                   "x.toml",
                                   "-"});
  EXPECT_EQ(line.command, Command::read);
  EXPECT_EQ(line.inputs, (std::vector<std::string>{"a.pdf", "b", "-"}));
  EXPECT_EQ(line.output_folder, "out");
  EXPECT_EQ(line.pages, "1-3");
  EXPECT_EQ(line.config_file, "x.toml");
  EXPECT_TRUE(line.retry_failed && line.no_cache && line.json && line.quiet);
  EXPECT_EQ(line.settings, (std::vector<FlagValue>{{"read.format", "json", "--format"},
                                                   {"read.lang", "por+eng", "--lang"},
                                                   {"read.password", "s", "--password"},
                                                   {"read.auto_rotate", "off", "--auto-rotate"},
                                                   {"read.parallel", "4", "--parallel"},
                                                   {"model.parallel", "4", "--parallel"}}));
}

TEST(CommandLine, EveryFlagAboutModels) {
  const CommandLine line = parsed({"read",
                                   "--engine",
                                   "http://a",
                                   "a.pdf",
                                   "--engine",
                                   "process:./p --x",
                                   "--model",
                                   "m",
                                   "--prompt",
                                   "p.txt",
                                   "--stream",
                                   "--fallback-model",
                                   "n",
                                   "--fallback",
                                   "placeholder",
                                   "--max-tokens",
                                   "9",
                                   "--max-cost",
                                   "1.5",
                                   "--fallback-engine",
                                   "http://c",
                                   "--set",
                                   "model.temperature=0.5",
                                   "--set",
                                   "model.extra_body={\"a\": 1, \"b\": \"=\"}"});
  EXPECT_EQ(line.inputs, std::vector<std::string>{"a.pdf"}) << "an address does not swallow the files after it";
  EXPECT_TRUE(line.stream);
  EXPECT_EQ(line.settings, (std::vector<FlagValue>{{"engines.urls", "http://a\nprocess:./p --x", "--engine"},
                                                   {"model.name", "m", "--model"},
                                                   {"model.prompt_file", "p.txt", "--prompt"},
                                                   {"model.fallback_name", "n", "--fallback-model"},
                                                   {"model.fallback_urls", "http://c", "--fallback-engine"},
                                                   {"model.fallback", "placeholder", "--fallback"},
                                                   {"read.tokens_max", "9", "--max-tokens"},
                                                   {"read.cost_max", "1.5", "--max-cost"},
                                                   {"model.temperature", "0.5", "--set"},
                                                   {"model.extra_body", "{\"a\": 1, \"b\": \"=\"}", "--set"}}));
}

TEST(CommandLine, FlagsThatAreNotGivenSetNothing) {
  const CommandLine line = parsed({"ocr", "a.pdf"});
  EXPECT_EQ(line.command, Command::ocr);
  EXPECT_TRUE(line.settings.empty());
  EXPECT_FALSE(line.retry_failed || line.no_cache || line.json || line.quiet);
}

TEST(CommandLine, EverySettingFlagIsInTheTable) {
  for (const FlagValue& flag :
       parsed({"read", "a", "--format", "x", "--lang", "x", "--password", "x", "--parallel", "x", "--auto-rotate", "x"})
           .settings) {
    EXPECT_NE(std::ranges::find(settings_table(), flag.key, &Setting::key), settings_table().end()) << flag.key;
  }
}

TEST(CommandLine, JobsAndKeysSayWhatToDoAndToWhom) {
  const CommandLine jobs = parsed({"jobs", "retry", "job_1", "job_2", "--server", "http://a", "--key", "k", "--json"});
  EXPECT_EQ(jobs.command, Command::jobs);
  EXPECT_EQ(jobs.jobs.action, "retry");
  EXPECT_EQ(jobs.jobs.ids, (std::vector<std::string>{"job_1", "job_2"}));
  EXPECT_TRUE(jobs.json);
  EXPECT_EQ(jobs.settings,
            (std::vector<FlagValue>{{"jobs.server", "http://a", "--server"}, {"jobs.key", "k", "--key"}}));
  const CommandLine keys = parsed({"keys", "create", "--name", "intake", "--scopes", "read"});
  EXPECT_EQ(keys.keys.action, "create");
  EXPECT_EQ(keys.keys.name, "intake");
  EXPECT_EQ(keys.keys.scopes, "read");
  EXPECT_EQ(parsed({"keys", "revoke", "1f"}).keys.id, "1f");
}

TEST(CommandLine, ServersAreSetUpByFlags) {
  const CommandLine serve = parsed({"serve", "--listen", "0.0.0.0:80", "--workers", "none", "--engine", "http://a",
                                    "--engine", "http://b", "--data", "d"});
  EXPECT_EQ(serve.command, Command::serve);
  EXPECT_EQ(serve.settings, (std::vector<FlagValue>{{"serve.listen", "0.0.0.0:80", "--listen"},
                                                    {"serve.workers", "none", "--workers"},
                                                    {"jobs.data", "d", "--data"},
                                                    {"engines.urls", "http://a\nhttp://b", "--engine"}}));
  EXPECT_EQ(parsed({"work", "--metrics-port", "9000"}).settings.front().key, "work.metrics_port");
  EXPECT_EQ(parsed({"work", "--metrics-address", "::"}).settings.front().key, "work.metrics_address");
}

TEST(CommandLine, FilesThatBeginWithADashComeAfterTwo) {
  EXPECT_EQ(parsed({"read", "--", "-strange.pdf"}).inputs, std::vector<std::string>{"-strange.pdf"});
}

TEST(CommandLine, UsageErrorsSayWhatToDo) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view says;
  };
  const Case cases[] = {
      {{"raed", "a.pdf"}, "unknown command 'raed'; did you mean read?"},
      {{"docter"}, "did you mean doctor?"},
      {{"xyzzy"}, "unknown command 'xyzzy'\n"},
      {{"report.pdf"}, "did you mean: lectern read report.pdf"},
      {{"my report.pdf"}, "did you mean: lectern read 'my report.pdf'"},
      {{"--jsn"}, "unknown option --jsn before the command"},
      {{"read"}, "name at least one file or folder"},
      {{"read", "a.pdf", "--fromat", "json"}, "unknown option --fromat; did you mean --format?"},
      {{"read", "a.pdf", "--fromat=json"}, "did you mean --format?"},
      {{"read", "a.pdf", "--retry-faild"}, "did you mean --retry-failed?"},
      {{"read", "a.pdf", "--frobnicate"}, "unknown option --frobnicate\n"},
      {{"read", "a.pdf", "-z"}, "unknown option -z"},
      {{"read", "a.pdf", "--pages"}, "--pages"},
      {{"read", "a.pdf", "--pages", ""}, "--pages: the list is empty"},
      {{"read", "a.pdf", "-o", ""}, "-o: the name of the folder is empty"},
      {{"ocr", "a.pdf", "--output", ""}, "-o: the name of the folder is empty"},
      {{"read", "-dash.pdf"}, "unknown option -dash.pdf; if it is a file, write ./-dash.pdf"},
      {{"read", "a.pdf", "-dash.pdf"}, "unknown option -dash.pdf; if it is a file, write ./-dash.pdf"},
      {{"read", "--fromat=json"}, "unknown option --fromat=json; did you mean --format?"},
      {{"read", "a.pdf", "--x\x1b[2J"}, "unknown option --x?[2J"},
      {{"version", "a.pdf"}, "unexpected 'a.pdf'"},
      {{"read", "a.pdf", "--set", "model.name"}, "--set model.name: write KEY=VALUE"},
      {{"ocr", "a.pdf", "--engine", "http://a"}, "--engine: ocr reads with the builtin reader and asks no model"},
      {{"ocr", "a.pdf", "--max-tokens=5"}, "ocr reads with the builtin reader"},
      {{"jobs"}, "say what to do: list, show, watch, retry or cancel"},
      {{"jobs", "lsit"}, "lsit"},
      {{"jobs", "list", "--status", "done"}, "--status"},
      {{"keys"}, "say what to do: create, list or revoke"},
      {{"jobs", "list", "extra"}, "unexpected 'extra'"},
      {{"keys", "list", "extra"}, "unexpected 'extra'"},
      {{"keys", "create", "extra"}, "unexpected 'extra'"},
      {{"bench", "--requests", "0"}, "--requests: '0' must be a whole number of at least 1\n"},
      {{"bench", "--slots", "many"}, "--slots: 'many' must be a whole number of at least 1\n"},
      {{"serve", "--lisen", "a:1"}, "did you mean --listen?"},
      {{"work", "--max-tokens", "5"}, "unknown option --max-tokens"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.arguments.back());
    const auto result = parse_command_line(c.arguments);
    const auto* exit = std::get_if<EarlyExit>(&result);
    ASSERT_NE(exit, nullptr);
    EXPECT_EQ(exit->code, 2);
    EXPECT_THAT(exit->text, HasSubstr(c.says));
    EXPECT_THAT(exit->text, HasSubstr("--help'"));
  }
}

TEST(CommandLine, HelpIsNoError) {
  struct Case {
    std::vector<std::string> arguments;
    std::string_view says;
  };
  const Case cases[] = {{{"--help"}, "Commands:"},      {{"-h"}, "Commands:"},
                        {{"help"}, "Commands:"},        {{"help", "read"}, "lectern read FILE..."},
                        {{"read", "--help"}, "Usage:"}, {{"doctor", "-h"}, "lectern doctor"}};
  for (const Case& c : cases) {
    const auto result = parse_command_line(c.arguments);
    const auto* exit = std::get_if<EarlyExit>(&result);
    ASSERT_NE(exit, nullptr);
    EXPECT_EQ(exit->code, 0);
    EXPECT_THAT(exit->text, HasSubstr(c.says));
  }
  EXPECT_EQ(parsed({"--version"}).command, Command::version);
}

TEST(CommandLine, HelpShowsOnlyCommandsThatExist) {
  const std::string help = help_text("");
  for (const std::string& name : command_names()) EXPECT_THAT(help, HasSubstr("\n  " + name + " "));
  for (const std::string_view planned : {"extract", "classify", "summarize", "infer"}) {
    EXPECT_EQ(help.find(planned), std::string::npos) << planned;
  }
}

TEST(CommandLine, HelpFitsATerminal) {
  for (std::string name : command_names()) {
    std::istringstream lines(help_text(name));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 104U) << line;
  }
}

// docs/commands.md holds each help page word for word, so that the two cannot drift apart.
TEST(CommandLine, TheManualQuotesTheHelp) {
  std::ifstream in(std::string(LECTERN_SOURCE_DIR) + "/docs/commands.md");
  const std::string manual((std::istreambuf_iterator<char>(in)), {});
  for (const std::string name : {"", "read", "serve", "work", "jobs", "keys", "bench"}) {
    EXPECT_NE(manual.find("```\n" + help_text(name) + "```"), std::string::npos) << "lectern " << name << " --help";
  }
  for (const Setting& setting : settings_table()) {
    EXPECT_NE(manual.find(fmt::format("`{}`", setting.key)), std::string::npos) << setting.key;
  }
}

}  // namespace
}  // namespace lectern::cli
