#include "reading/model/front_matter.h"

#include <algorithm>
#include <array>
#include <string>

#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr std::array known = {"primary_language"sv, "is_rotation_valid"sv, "rotation_correction"sv, "is_table"sv,
                              "is_diagram"sv};

struct Entry {
  std::string_view key;
  std::string value;
};
Entry entry_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view value = trimmed(line.substr(colon + 1));
  if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front())
    value = value.substr(1, value.size() - 2);
  return {.key = trimmed(line.substr(0, colon)), .value = lower(value)};
}

bool is_known(std::string_view line) {
  return std::ranges::find(known, entry_of(line).key) != known.end();
}

bool is_rule(std::string_view line) {
  return trimmed(line) == "---";
}

}  // namespace

FrontMatter read_front_matter(std::string_view lines) {
  FrontMatter out;
  std::optional<bool> valid;
  std::optional<int> correction;
  for (const std::string_view line : lines_of(lines)) {
    const Entry entry = entry_of(line);
    const bool yes = entry.value == "true" || entry.value == "yes";
    if (entry.key == "is_diagram") out.diagram = yes;
    if (entry.key == "is_rotation_valid") valid = yes;
    if (entry.key == "rotation_correction") {
      for (const auto& [value, turn] :
           {std::pair("0"sv, 0), {"90"sv, 90}, {"180"sv, 180}, {"270"sv, 270}, {"-90"sv, 270}}) {
        if (entry.value == value) correction = turn;
      }
    }
  }
  if (valid == true) out.rotation = 0;
  if (valid != true && correction) out.rotation = correction;
  return out;
}

std::optional<FrontMatterSplit> split_front_matter(std::string_view reply) {
  const std::string_view text = reply.substr(std::min(reply.size(), reply.find_first_not_of(" \t\n")));
  std::string_view rest = text;
  const auto take_line = [&] {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return line;
  };
  if (is_rule(rest.substr(0, rest.find('\n')))) take_line();
  const std::string_view entries = rest;
  int found = 0;
  std::size_t length = 0;
  while (!rest.empty()) {
    const std::string_view before = rest;
    const std::string_view line = take_line();
    if (is_known(line)) {
      ++found;
    } else if (is_rule(line) && found > 0) {
      break;  // its end
    } else {
      rest = before;  // what we do not know is the page's
      break;
    }
    length = entries.size() - rest.size();
  }
  // A single key may be a line of any page; two are none.
  if (found < 2) return std::nullopt;
  return FrontMatterSplit{.told = read_front_matter(entries.substr(0, length)), .text = rest};
}

}  // namespace lectern::reading
