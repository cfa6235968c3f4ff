#include "base/config.h"

#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/disk.h"

namespace lectern {
namespace {

std::optional<bool> parse_boolean(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") return false;
  return std::nullopt;
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_choice(std::string_view text, std::string_view choices) {
  while (!choices.empty()) {
    const auto bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) break;
    choices.remove_prefix(bar + 1);
  }
  return false;
}

// Empty when the text fits the setting; else what is wrong with it.
std::string complaint(const Setting& setting, std::string_view text) {
  const auto in_range = [&](double value) -> std::string {
    if (setting.minimum && value < *setting.minimum) return fmt::format("must be at least {}", *setting.minimum);
    if (setting.maximum && value > *setting.maximum) return fmt::format("must be at most {}", *setting.maximum);
    return {};
  };
  if (!setting.choices.empty()) {
    if (is_choice(text, setting.choices)) return {};
    // "auto|…" beside a number: "parallel = auto" or "parallel = 8".
    if (setting.type != SettingType::integer) return fmt::format("must be one of {}", setting.choices);
  }
  switch (setting.type) {
    case SettingType::text:
    case SettingType::secret:
      return {};
    case SettingType::boolean:
      return parse_boolean(text) ? "" : "must be true or false";
    case SettingType::integer: {
      const auto value = parse_number<std::int64_t>(text);
      if (!value)
        return setting.choices.empty() ? "must be a whole number"
                                       : fmt::format("must be a whole number or {}", setting.choices);
      return in_range(static_cast<double>(*value));
    }
    case SettingType::number: {
      const auto value = parse_number<double>(text);
      return value ? in_range(*value) : "must be a number";
    }
  }
  return {};
}

// Insertions, deletions, substitutions and swaps of neighbours: the ways in which people mistype.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last[b.size()];
}

// Leaf values of a table with their dotted keys. Arrays of tables ([[engine]]) are left to those who know them.
void flatten(const toml::table& table, const std::string& prefix,
             std::vector<std::pair<std::string, const toml::node*>>& out) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
    if (const auto* inner = node.as_table()) {
      flatten(*inner, name, out);
    } else {
      out.emplace_back(name, &node);
    }
  }
}

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* s = node.as_string()) return s->get();
  if (const auto* i = node.as_integer()) return fmt::format("{}", i->get());
  if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::default_value:
      return "default";
    case Origin::file:
      return "file";
    case Origin::environment:
      return "environment";
    case Origin::flag:
      return "flag";
  }
  return "default";
}

std::string nearest_word(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return std::string(best);
}

Config::Config(std::span<const Setting> table) : table_(table) {
  for (const Setting& setting : table_) {
    values_.emplace(setting.key, ConfigValue{std::string(setting.default_value), Origin::default_value, ""});
  }
}

const Setting* Config::find(std::string_view key) const {
  const auto found = std::ranges::find(table_, key, &Setting::key);
  return found == table_.end() ? nullptr : &*found;
}

Status Config::set(const Setting& setting, ConfigValue value) {
  if (const std::string wrong = complaint(setting, value.text); !wrong.empty()) {
    const std::string shown = setting.type == SettingType::secret ? "(secret)" : value.text;
    return fail(ErrorKind::invalid_input, "{}: '{}' {} ({})", value.where, shown, wrong, setting.help);
  }
  ConfigValue& current = values_.find(setting.key)->second;
  // Sources may be loaded in any order; the stronger one wins.
  if (value.origin >= current.origin) current = std::move(value);
  return {};
}

Status Config::load_environment(const Environment& environment) {
  for (const Setting& setting : table_) {
    if (setting.environment.empty()) continue;
    const std::string name(setting.environment);
    auto text = environment(name);
    // A variable set to nothing counts as unset: that is how shells and compose files "remove" one.
    if (!text || text->empty()) continue;
    if (auto status = set(setting, {std::move(*text), Origin::environment, name}); !status) return status;
  }
  return {};
}

Status Config::load_file(const std::filesystem::path& file) {
  const auto text = read_file(file, std::size_t{1} << 20);
  if (!text) return std::unexpected(text.error());
  return load_toml(*text, file.string());
}

Status Config::load_toml(std::string_view text, const std::string& name) {
  toml::table table;
  try {
    table = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return fail(ErrorKind::invalid_input, "{}:{}: {}", name, error.source().begin.line, error.description());
  }
  std::vector<std::pair<std::string, const toml::node*>> leaves;
  flatten(table, "", leaves);
  for (const auto& [key, node] : leaves) {
    const std::string where = fmt::format("{}:{}", name, node->source().begin.line);
    const Setting* setting = find(key);
    if (setting == nullptr) {
      std::vector<std::string_view> known;
      for (const Setting& s : table_) known.push_back(s.key);
      const std::string near = nearest_word(key, known);
      return fail(ErrorKind::invalid_input, "{}: unknown setting '{}'{}", where, key,
                  near.empty() ? "; `lectern config` lists all" : fmt::format("; did you mean '{}'?", near));
    }
    auto value = scalar_text(*node);
    if (!value) return fail(ErrorKind::invalid_input, "{}: '{}' must be a single value", where, key);
    if (auto status = set(*setting, {std::move(*value), Origin::file, where}); !status) return status;
  }
  return {};
}

Status Config::set_flag(std::string_view key, std::string_view value, std::string_view flag) {
  const Setting* setting = find(key);
  if (setting == nullptr) return fail(ErrorKind::internal, "no setting '{}' behind {}", key, flag);
  return set(*setting, {std::string(value), Origin::flag, std::string(flag)});
}

const ConfigValue& Config::value(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    fmt::print(stderr, "bug: setting '{}' is not in the table\n", key);
    std::abort();
  }
  return found->second;
}

std::string Config::text(std::string_view key) const {
  return value(key).text;
}
std::int64_t Config::integer(std::string_view key) const {
  return parse_number<std::int64_t>(value(key).text).value_or(0);
}
double Config::number(std::string_view key) const {
  return parse_number<double>(value(key).text).value_or(0);
}
bool Config::boolean(std::string_view key) const {
  return parse_boolean(value(key).text).value_or(false);
}

Config::Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

}  // namespace lectern
