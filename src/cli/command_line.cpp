#include "cli/command_line.h"

#include <fmt/ranges.h>

#include <charconv>
#include <limits>

#include "base/config.h"
#include "cli/command_declaration.h"
#include "cli/help.h"
#include "cli/printable.h"
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
    "  lectern read scan.pdf --engine http://gpu:8000          a model on that server reads\n"
    "  lectern read papers/ -o out/ --engine http://gpu:8000 --engine http://gpu:8001 --max-tokens 1000000\n"
    "  curl -s URL | lectern read -                  a document from standard input\n"
    "\n"
    "Exit codes: 0 all pages read, 2 wrong usage, 3 some pages or documents failed, 4 none could be read,\n"
    "1 the run had to end (disk full, output folder in use, broken installation, the engine refuses),\n"
    "5 stopped at --max-tokens or --max-cost, 130 stopped by Ctrl-C.";

// CLI11's own check speaks of 1.79769e+308.
CLI::Validator at_least_one() {
  const auto check = [](std::string& text) -> std::string {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool fits = error == std::errc{} && end == text.data() + text.size() && number >= 1 &&
                      number <= std::numeric_limits<int>::max();
    return fits ? "" : fmt::format("'{}' must be a whole number of at least 1", text);
  };
  return {check, ""};
}

void add_output_flags(Declared& declared, CLI::App& app) {
  const std::string group = "Output";
  CommandLine& line = declared.line;
  app.add_option("-o,--output", line.output_folder,
                 "write results, figures and a manifest into this folder; the run can be resumed")
      ->option_text("DIR")
      ->group(group);
  add_setting(declared, app, {"--format", {"read.format"}, "FORMAT", group, "md (default), json, text or html"});
  app.add_flag("--stream", line.stream,
               "each page on standard output as soon as those before it are there (json: one page result a line); "
               "without what only the whole document tells: running headers stay, paragraphs end with their page")
      ->group(group);
  app.add_flag("--json", line.json, "progress as JSON lines on standard error, for programs")->group(group);
  app.add_flag("-q,--quiet", line.quiet, "no progress, only errors")->group(group);
}

void add_reading_command(Declared& declared, Command command, const std::string& name, const std::string& description) {
  CLI::App& app = add_command(declared, command, name, description);
  CommandLine& line = declared.line;
  app.add_option(
         "FILE", line.inputs,
         fmt::format("files, folders (searched for {}) or - for standard input", reading::document_extensions()))
      ->required();
  add_output_flags(declared, app);
  add_reading_flags(declared, app, command == Command::read);
  if (command == Command::read) {
    add_model_flags(declared, app);
    add_budget_flags(declared, app);
  }
  const std::string resuming = "Resuming (with -o)";
  app.add_flag("--retry-failed", line.retry_failed,
               command == Command::read ? "read pages again that failed or fell back in an earlier run"
                                        : "read pages again that failed in an earlier run")
      ->group(resuming);
  app.add_flag("--no-cache", line.no_cache, "read everything again, whatever earlier runs left")->group(resuming);
  app.footer(read_examples);
}

void add_bench_command(Declared& declared) {
  CLI::App& app = add_command(declared, Command::bench, "bench",
                              "Measure how fast pages go through an engine, or through the simulated one.");
  CommandLine& line = declared.line;
  app.add_option("FILE", line.inputs, "documents whose pages are asked about (default: samples/)");
  add_engine_flags(declared, app);
  const std::string group = "Measuring";
  app.add_option("--requests", line.bench.requests,
                 "pages to ask about, from the first again after the last (default 200)")
      ->option_text("N")
      ->group(group)
      ->check(at_least_one());
  app.add_option("--parallel", line.bench.parallel, "requests in flight; several give a row each (default auto)")
      ->option_text("N|auto|1,4,16")
      ->group(group);
  app.add_flag("--tiny", line.bench.tiny, "no documents: tiny pictures as fast as they go (default 5000 requests)")
      ->group(group);
  app.add_flag("--json", line.json, "as one JSON object")->group(group);
  const std::string simulated = "The simulated engine (without --engine)";
  app.add_option("--slots", line.bench.slots, "requests that it works on at once (default 8)")
      ->option_text("N")
      ->group(simulated)
      ->check(at_least_one());
  app.add_option("--latency", line.bench.latency,
                 "how long each takes: fixed:0.5s (default), lognormal:MEAN,SIGMA or tokens:IN/S,OUT/S")
      ->option_text("MODEL")
      ->group(simulated);
  app.footer(
      "Examples:\n"
      "  lectern bench                                          samples/ through a simulated engine of 8 slots\n"
      "  lectern bench papers/ --engine http://gpu:8000 --parallel 1,16,auto\n"
      "  lectern bench --tiny --slots 64 --parallel 64          how many requests a second");
}

std::unique_ptr<Declared> declare() {
  auto declared = std::make_unique<Declared>();
  CLI::App& app = declared->app;
  app.set_help_flag("-h,--help", "show this help")->group("General");
  app.require_subcommand(1);
  add_reading_command(
      *declared, Command::read, "read",
      "Read documents: the text layer where it can be trusted, OCR where it cannot, or a model with --engine.");
  add_reading_command(*declared, Command::ocr, "ocr",
                      "Read the pixels of documents, whatever their text layers say. Otherwise the same as read.");
  add_bench_command(*declared);
  add_job_commands(*declared);
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
      "  lectern serve                    the same for others, over HTTP\n"
      "  lectern read --help              all about reading");
  return declared;
}

EarlyExit wrong(const std::string& text, const std::string& command) {
  return {usage_error, fmt::format("lectern: {}\nTry 'lectern{}{} --help'.\n", printable(text),
                                   command.empty() ? "" : " ", command)};
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

// Flags of `read` that `ocr` has no use for.
bool is_model_flag(const std::string& argument) {
  Declared declared;
  CLI::App app;
  add_model_flags(declared, app);
  add_budget_flags(declared, app);
  return app.get_option_no_throw(argument.substr(0, argument.find('='))) != nullptr;
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

// The first argument that is neither a flag of the command nor a file; nothing when there is none.
std::optional<EarlyExit> unknown_option(const CLI::App& command) {
  const std::string& name = command.get_name();
  for (const std::string& argument : command.remaining()) {
    if (!argument.starts_with("-") || argument == "-") continue;
    if (name == "ocr" && is_model_flag(argument)) {
      return wrong(fmt::format("{}: ocr reads with the builtin reader and asks no model; use lectern read", argument),
                   name);
    }
    std::error_code error;
    if (reading::has_document_extension(argument) || std::filesystem::exists(argument, error)) {
      return wrong(fmt::format("unknown option {0}; if it is a file, write ./{0}, or -- before it", argument), name);
    }
    return wrong(fmt::format("unknown option {}{}", argument, suggestion(command, argument)), name);
  }
  return std::nullopt;
}

// Flags whose value is there, but empty: mostly a variable of a script that was not set.
std::optional<EarlyExit> empty_value(const CLI::App& command) {
  constexpr std::pair<const char*, const char*> flags[] = {
      {"--output", "-o: the name of the folder is empty"},
      {"--pages", "--pages: the list is empty; write page numbers and ranges, such as 1-10,15,20-"}};
  for (const auto& [flag, text] : flags) {
    const CLI::Option* option = command.get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0 && option->as<std::string>().empty()) {
      return wrong(text, command.get_name());
    }
  }
  return std::nullopt;
}

// A word where the action takes none; empty = there is none.
std::string stray_word(const CommandLine& line) {
  if (line.command == Command::jobs && line.jobs.action == "list" && !line.jobs.ids.empty()) return line.jobs.ids[0];
  if (line.command == Command::keys && line.keys.action != "revoke") return line.keys.id;
  return {};
}

EarlyExit explain(const CLI::ParseError& error, const CLI::App& command, const std::vector<std::string>& arguments) {
  const std::string& name = command.get_name();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    if (auto unknown = unknown_option(command)) return *unknown;
    return wrong(
        fmt::format("unexpected '{}'", command.remaining().empty() ? arguments.back() : command.remaining()[0]), name);
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (auto unknown = unknown_option(command)) return *unknown;
    if (name == "jobs") return wrong("say what to do: list, show, watch, retry or cancel", name);
    if (name == "keys") return wrong("say what to do: create, list or revoke", name);
    return wrong("name at least one file or folder, or - for standard input", name);
  }
  return wrong(error.what(), name);
}

}  // namespace

std::vector<std::string> command_names() {
  return {"read", "ocr", "serve", "work", "jobs", "keys", "bench", "config", "doctor", "version"};
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
  if (auto empty = empty_value(command)) return *empty;
  declared->line.command = declared->commands.at(&command);
  if (const std::string stray = stray_word(declared->line); !stray.empty()) {
    return wrong(fmt::format("unexpected '{}'", stray), first);
  }
  for (const auto& [option, keys, flag] : declared->setting_flags) {
    if (option->count() == 0) continue;
    const std::string value = fmt::format("{}", fmt::join(option->as<std::vector<std::string>>(), "\n"));
    for (const std::string& key : keys) declared->line.settings.push_back({key, value, flag});
  }
  for (const CLI::Option* option : declared->set_flags) {
    if (option->count() == 0) continue;
    for (const std::string& text : option->as<std::vector<std::string>>()) {
      const auto equals = text.find('=');
      if (equals == std::string::npos) return wrong(fmt::format("--set {}: write KEY=VALUE", text), first);
      declared->line.settings.push_back({text.substr(0, equals), text.substr(equals + 1), "--set"});
    }
  }
  return std::move(declared->line);
}

}  // namespace lectern::cli
