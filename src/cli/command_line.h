// The command line as values: which command, which flags. No command is run here.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/settings.h"

namespace lectern::cli {

enum class Command { read, ocr, serve, work, jobs, keys, bench, config, doctor, version };

struct BenchLine {
  int requests = 0;  // 0 = as many as make sense
  std::string parallel = "auto";
  bool tiny = false;
  int slots = 8;
  std::string latency = "fixed:0.5s";
};

struct JobsLine {
  std::string action;  // list, show, watch, retry, cancel
  std::vector<std::string> ids;
  std::string status;  // only jobs in this state; empty = all
  std::string tenant;  // only its jobs; empty = all
  int limit = 20;
};

struct KeysLine {
  std::string action;  // create, list, revoke
  std::string id;      // to revoke
  std::string name;
  std::string tenant = "default";
  std::string scopes = "submit read";
};

struct CommandLine {
  Command command = Command::read;
  std::vector<FlagValue> settings;  // flags that stand for settings
  std::string config_file;
  bool json = false;

  BenchLine bench;
  JobsLine jobs;
  KeysLine keys;

  // read, ocr and bench
  std::vector<std::string> inputs;
  std::string output_folder;
  std::string pages;
  bool retry_failed = false;
  bool no_cache = false;
  bool quiet = false;
  bool stream = false;
};

// Help, or a usage error: something to print, and the exit code.
struct EarlyExit {
  int code = 0;
  std::string text;  // to standard output when code is 0, else to standard error
};

// `arguments` without the program's name. Misspelt commands and flags get a suggestion.
std::variant<CommandLine, EarlyExit> parse_command_line(const std::vector<std::string>& arguments);

// The help of a command ("read"), or of the program (""), for documentation and tests.
std::string help_text(const std::string& command);
std::vector<std::string> command_names();

}  // namespace lectern::cli
