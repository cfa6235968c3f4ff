#include "cli/help.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace lectern::cli {
namespace {

constexpr std::size_t width = 100;
constexpr std::size_t indent = 2;

// Breaks text at blanks; lines after the first are indented by `column`.
std::string wrapped(const std::string& text, std::size_t column) {
  std::string result;
  std::size_t at = column;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    const std::string word = text.substr(start, end - start);
    if (at > column && at + 1 + word.size() > width) {
      result += "\n" + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
    start = end + 1;
  }
  return result;
}

// "-o, --output DIR"
std::string left_column(const CLI::Option& option) {
  std::string text = option.get_positional() ? option.get_name() : "";
  if (option.get_positional()) return text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  if (text.empty()) text = "    ";
  for (const std::string& name : option.get_lnames())
    text += (text.find('-') == std::string::npos ? "--" : ", --") + name;
  const std::string value = option.get_option_text();
  return value.empty() ? text : text + " " + value;
}

struct Row {
  std::string left;
  std::string right;
};

std::string table(const std::string& title, const std::vector<Row>& rows) {
  std::size_t column = 0;
  for (const Row& row : rows) column = std::max(column, row.left.size());
  column += indent + 2;
  std::string text = title + ":\n";
  for (const Row& row : rows) {
    text += fmt::format("{:{}}{:<{}}{}\n", "", indent, row.left, column - indent, wrapped(row.right, column));
  }
  return text;
}

}  // namespace

std::string render_help(const CLI::App& command, const std::string& name) {
  std::string text = command.get_description() + "\n\nUsage:\n";
  const auto commands = command.get_subcommands([](const CLI::App*) { return true; });
  std::vector<Row> positionals;
  std::string usage = fmt::format("  {}", name);
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    usage += " " + option->get_name() + "...";
    positionals.push_back({left_column(*option), option->get_description()});
  }
  text += usage + (commands.empty() ? " [OPTIONS]\n" : " COMMAND [OPTIONS]\n");
  if (!commands.empty()) {
    std::vector<Row> rows;
    for (const CLI::App* one : commands) {
      const std::string& description = one->get_description();
      rows.push_back({one->get_name(), description.substr(0, description.find(". "))});
    }
    text += "\n" + table("Commands", rows);
  }
  if (!positionals.empty()) text += "\n" + table("Arguments", positionals);
  std::vector<std::string> groups = command.get_groups();
  if (std::erase(groups, "General") > 0) groups.emplace_back("General");  // last: it is the same everywhere
  for (const std::string& group : groups) {
    std::vector<Row> rows;
    for (const CLI::Option* option : command.get_options()) {
      if (option->get_positional() || option->get_group() != group) continue;
      rows.push_back({left_column(*option), option->get_description()});
    }
    if (!rows.empty()) text += "\n" + table(group, rows);
  }
  if (!command.get_footer().empty()) text += "\n" + command.get_footer() + "\n";
  return text;
}

}  // namespace lectern::cli
