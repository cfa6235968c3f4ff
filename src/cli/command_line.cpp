#include "cli/command_line.h"

#include <CLI/CLI.hpp>

#include <map>

#include "base/config.h"
#include "cli/help.h"
#include "reading/document_type.h"

namespace lectern::cli {
namespace {

constexpr int usage_error = 2;

constexpr const char* read_examples =
    "Examples:\n"
    "  lectern read report.pdf                       markdown on standard output\n"
    "  lectern read papers/ -o out/                  every document of a folder, a .md for each\n"
    "  lectern read papers/ -o out/                  the same again: reads only what is new or changed\n"
    "  lectern read papers/ -o out/ --retry-failed   reads failed pages once more\n"
    "  lectern read scan.pdf --lang por+eng          OCR in Portuguese and English\n"
    "  lectern read book.pdf --pages 1-10,15,200-    some pages only\n"
    "  lectern read form.pdf --format json           blocks with boxes, for programs\n"
    "  curl -s URL | lectern read -                  a document from standard input\n"
    "\n"
    "Exit codes: 0 all pages read, 2 wrong usage, 3 some pages or documents failed, 4 none could be read,\n"
    "1 the run had to end (disk full, output folder in use), 130 stopped by Ctrl-C.";

struct Declared {
  CLI::App app{"Lectern reads documents: PDFs, scans and photos become markdown, text, HTML or JSON."};
  CommandLine line;
  std::map<std::string, std::string> setting_values;  // flag → value, filled by CLI11; nodes stay where they are
  std::vector<std::pair<CLI::Option*, FlagValue>> setting_flags;
  std::map<const CLI::App*, Command> commands;
};

void add_setting(Declared& declared, CLI::App& command, const std::string& flag, const std::string& key,
                 const std::string& value_name, const std::string& group, const std::string& help) {
  std::string& value = declared.setting_values[command.get_name() + flag];
  CLI::Option* option = command.add_option(flag, value, help)->option_text(value_name)->group(group);
  declared.setting_flags.emplace_back(option, FlagValue{key, "", flag});
}

CLI::App& add_command(Declared& declared, Command command, const std::string& name, const std::string& description) {
  CLI::App& app = *declared.app.add_subcommand(name, description);
  app.set_help_flag("-h,--help", "show this help")->group("General");
  app.add_option("--config", declared.line.config_file, "read settings from this lectern.toml")
      ->option_text("FILE")
      ->group("General");
  declared.commands[&app] = command;
  return app;
}

void add_reading_command(Declared& declared, Command command, const std::string& name, const std::string& description) {
  CLI::App& app = add_command(declared, command, name, description);
  CommandLine& line = declared.line;
  app.add_option(
         "FILE", line.inputs,
         fmt::format("files, folders (searched for {}) or - for standard input", reading::document_extensions()))
      ->required();
  const std::string output = "Output";
  app.add_option("-o,--output", line.output_folder,
                 "write results, figures and a manifest into this folder; the run can be resumed")
      ->option_text("DIR")
      ->group(output);
  add_setting(declared, app, "--format", "read.format", "FORMAT", output, "md (default), json, text or html");
  app.add_flag("--json", line.json, "progress as JSON lines on standard error, for programs")->group(output);
  app.add_flag("-q,--quiet", line.quiet, "no progress, only errors")->group(output);

  const std::string reading = "Reading";
  app.add_option("--pages", line.pages, "only these pages, such as 1-10,15,20-")->option_text("LIST")->group(reading);
  add_setting(declared, app, "--lang", "read.lang", "LANGS", reading,
              "languages for OCR: Tesseract names joined by '+' (default eng)");
  add_setting(declared, app, "--password", "read.password", "TEXT", reading,
              "password of encrypted PDFs; LECTERN_PASSWORD does not show in process lists");
  add_setting(declared, app, "--auto-rotate", "read.auto_rotate", "on|off", reading,
              "turn sideways and upside-down scans upright (default on)");
  add_setting(declared, app, "--parallel", "read.parallel", "N|auto", reading,
              "pages read at once (default auto: one a core); the output does not depend on it");

  const std::string resuming = "Resuming (with -o)";
  app.add_flag("--retry-failed", line.retry_failed, "read pages again that failed in an earlier run")->group(resuming);
  app.add_flag("--no-cache", line.no_cache, "read everything again, whatever earlier runs left")->group(resuming);
  app.footer(read_examples);
}

std::unique_ptr<Declared> declare() {
  auto declared = std::make_unique<Declared>();
  CLI::App& app = declared->app;
  app.set_help_flag("-h,--help", "show this help")->group("General");
  app.require_subcommand(1);
  add_reading_command(*declared, Command::read, "read",
                      "Read documents: the text layer where it can be trusted, OCR where it cannot.");
  add_reading_command(*declared, Command::ocr, "ocr",
                      "Read the pixels of documents, whatever their text layers say. Otherwise the same as read.");
  CommandLine& line = declared->line;
  add_command(*declared, Command::config, "config", "Show every setting, its value and where it comes from.")
      .add_flag("--json", line.json, "as one JSON object")
      ->group("General");
  add_command(*declared, Command::doctor, "doctor", "Check the installation and say how to mend what is missing.")
      .add_flag("--json", line.json, "as one JSON object")
      ->group("General");
  add_command(*declared, Command::version, "version", "Show the version of Lectern and of what it stands on.")
      .add_flag("--json", line.json, "as one JSON object")
      ->group("General");
  app.footer(
      "Try:\n"
      "  lectern read report.pdf          markdown on standard output\n"
      "  lectern read papers/ -o out/     a folder of documents, resumable\n"
      "  lectern read --help              all about reading");
  return declared;
}

EarlyExit wrong(const std::string& text, const std::string& command) {
  return {usage_error,
          fmt::format("lectern: {}\nTry 'lectern{}{} --help'.\n", text, command.empty() ? "" : " ", command)};
}

// "--fromat=json" → "; did you mean --format?"
std::string suggestion(const CLI::App& command, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const std::string near = nearest_word(flag.substr(0, flag.find('=')), known);
  return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

std::string quoted_if_needed(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "'" + text + "'";
}

// The first word is no command: a misspelt one, or a document.
EarlyExit unknown_command(const std::string& word) {
  if (word.starts_with("-")) return wrong(fmt::format("unknown option {} before the command", word), "");
  const std::vector<std::string> names = command_names();
  const std::vector<std::string_view> known(names.begin(), names.end());
  std::error_code error;
  if (reading::has_document_extension(word) || std::filesystem::exists(word, error)) {
    return wrong(fmt::format("'{}' is not a command; did you mean: lectern read {}", word, quoted_if_needed(word)), "");
  }
  const std::string near = nearest_word(word, known);
  return wrong(fmt::format("unknown command '{}'{}", word, near.empty() ? "" : fmt::format("; did you mean {}?", near)),
               "");
}

EarlyExit explain(const CLI::ParseError& error, const CLI::App& command, const std::vector<std::string>& arguments) {
  const std::string& name = command.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& argument : command.remaining()) {
      if (argument.starts_with("-") && argument != "-") {
        return wrong(fmt::format("unknown option {}{}", argument, suggestion(command, argument)), name);
      }
    }
    return wrong(
        fmt::format("unexpected '{}'", command.remaining().empty() ? arguments.back() : command.remaining()[0]), name);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    return wrong("name at least one file or folder, or - for standard input", name);
  }
  return wrong(error.what(), name);
}

}  // namespace

std::vector<std::string> command_names() {
  return {"read", "ocr", "config", "doctor", "version"};
}

std::string help_text(const std::string& command) {
  const auto declared = declare();
  if (command.empty()) return render_help(declared->app, "lectern");
  return render_help(*declared->app.get_subcommand(command), "lectern " + command);
}

std::variant<CommandLine, EarlyExit> parse_command_line(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return EarlyExit{usage_error, help_text("")};
  const std::vector<std::string> names = command_names();
  std::string first = arguments.front();
  if (first == "-h" || first == "--help" || first == "help") {
    const bool of_command = arguments.size() > 1 && std::ranges::find(names, arguments[1]) != names.end();
    return EarlyExit{0, help_text(of_command ? arguments[1] : "")};
  }
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants it
  if (first == "--version" || first == "-V") reversed.back() = first = "version";
  if (std::ranges::find(names, first) == names.end()) return unknown_command(first);

  const auto declared = declare();
  const CLI::App& command = *declared->app.get_subcommand(first);
  try {
    declared->app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return EarlyExit{0, help_text(first)};
  } catch (const CLI::ParseError& error) {
    return explain(error, command, arguments);
  }
  declared->line.command = declared->commands.at(&command);
  for (auto& [option, flag] : declared->setting_flags) {
    if (option->count() == 0) continue;
    flag.value = option->as<std::string>();
    declared->line.settings.push_back(flag);
  }
  return std::move(declared->line);
}

}  // namespace lectern::cli
