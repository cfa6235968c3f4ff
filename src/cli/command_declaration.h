// How commands and their flags are declared with CLI11. Private to the files that declare them.
#pragma once

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace lectern::cli {

struct Declared {
  CLI::App app{"Lectern reads documents: PDFs, scans and photos become markdown, text, HTML or JSON."};
  CommandLine line;
  std::map<std::string, std::vector<std::string>> values;  // flag → values, filled by CLI11; nodes stay where they are
  struct SettingFlag {
    CLI::Option* option;
    std::vector<std::string> keys;
    std::string flag;
  };
  std::vector<SettingFlag> setting_flags;
  std::vector<CLI::Option*> set_flags;  // --set KEY=VALUE of each command
  std::map<const CLI::App*, Command> commands;
};

struct SettingFlagText {
  std::string flag;
  std::vector<std::string> keys;  // usually one
  std::string value_name;
  std::string group;
  std::string help;
};

CLI::Option* add_setting(Declared& declared, CLI::App& command, const SettingFlagText& text);
// A flag that may come several times; all of its values count.
void add_list_setting(Declared& declared, CLI::App& command, const SettingFlagText& text);
CLI::App& add_command(Declared& declared, Command command, const std::string& name, const std::string& description);

void add_reading_flags(Declared& declared, CLI::App& app, bool models);  // --lang, --parallel…
void add_engine_flags(Declared& declared, CLI::App& app);                // --engine, --model
void add_model_flags(Declared& declared, CLI::App& app);                 // these, prompt and fallbacks
void add_budget_flags(Declared& declared, CLI::App& app);                // of a run

// serve, work, jobs, keys
void add_job_commands(Declared& declared);

}  // namespace lectern::cli
