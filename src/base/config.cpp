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
    case SettingType::list:
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

std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* s = node.as_string()) return s->get();
  if (const auto* i = node.as_integer()) return fmt::format("{}", i->get());
  if (const auto* f = node.as_floating_point()) return fmt::format("{}", f->get());
  if (const auto* b = node.as_boolean()) return b->get() ? "true" : "false";
  return std::nullopt;
}

std::string place_of(const toml::node& node, const std::string& file) {
  return fmt::format("{}:{}", file, node.source().begin.line);
}

}  // namespace

// A value of the file, with its dotted key.
struct Config::Leaf {
  std::string key;
  std::string where;
  std::optional<std::string> text;  // nullopt: nothing that a setting could hold
  bool is_list = false;
  bool quoted = false;  // a text, not a number or a boolean

  static void collect(const toml::table& table, const std::string& prefix, const std::string& file,
                      std::vector<Leaf>& out) {
    for (const auto& [key, node] : table) {
      const std::string name = prefix.empty() ? std::string(key.str()) : prefix + "." + std::string(key.str());
      if (const auto* inner = node.as_table()) {
        collect(*inner, name, file, out);
      } else if (const auto* array = node.as_array()) {
        out.push_back({name, place_of(node, file), joined(*array), true, true});
      } else {
        out.push_back({name, place_of(node, file), scalar_text(node), false, node.is_string()});
      }
    }
  }
  static std::optional<std::string> joined(const toml::array& array) {
    std::string text;
    for (const toml::node& node : array) {
      const auto* one = node.as_string();
      if (one == nullptr) return std::nullopt;
      text += (text.empty() ? "" : "\n") + one->get();
    }
    return text;
  }
};

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

Config::Config(std::span<const Setting> table, std::span<const SettingEntries> entries)
    : table_(table), entry_tables_(entries) {
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
    for (std::string_view names = setting.environment; !names.empty();) {
      const std::string name(names.substr(0, names.find('|')));
      names.remove_prefix(std::min(names.size(), name.size() + 1));
      auto text = environment(name);
      // A variable set to nothing counts as unset: that is how shells and compose files "remove" one.
      if (!text || text->empty()) continue;
      if (auto status = set(setting, {std::move(*text), Origin::environment, name}); !status) return status;
      break;
    }
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
  for (const SettingEntries& kind : entry_tables_) {
    const auto node = table[kind.name];
    if (!node || !node.is_array_of_tables()) continue;  // anything else is not known under this name
    std::vector<Config>& list = entries_[std::string(kind.name)];
    for (const toml::node& item : *node.as_array()) {
      Config entry(kind.table);
      entry.place_ = place_of(item, name);
      std::vector<Leaf> leaves;
      Leaf::collect(*item.as_table(), "", name, leaves);
      for (const Leaf& leaf : leaves) {
        if (auto taken = entry.take(leaf); !taken) return taken;
      }
      list.push_back(std::move(entry));
    }
    table.erase(kind.name);
  }
  std::vector<Leaf> leaves;
  Leaf::collect(table, "", name, leaves);
  for (const Leaf& leaf : leaves) {
    if (auto taken = take(leaf); !taken) return taken;
  }
  return {};
}

Status Config::unknown(std::string_view key, std::string_view where) const {
  std::vector<std::string_view> known;
  for (const Setting& s : table_) known.push_back(s.key);
  const std::string near = nearest_word(key, known);
  return fail(ErrorKind::invalid_input, "{}: unknown setting '{}'{}", where, key,
              near.empty() ? "; `lectern config` lists all" : fmt::format("; did you mean '{}'?", near));
}

Status Config::take(const Leaf& leaf) {
  const Setting* setting = find(leaf.key);
  if (setting == nullptr) return unknown(leaf.key, leaf.where);
  if (!leaf.text || (leaf.is_list && setting->type != SettingType::list)) {
    return fail(ErrorKind::invalid_input, "{}: '{}' must be a {}", leaf.where, leaf.key,
                setting->type == SettingType::list ? "text or a list of texts" : "single value");
  }
  // 5 is no language and 0123 no password: what was meant cannot be told from what TOML made of it.
  const bool is_text =
      setting->type == SettingType::text || setting->type == SettingType::secret || setting->type == SettingType::list;
  if (is_text && !leaf.quoted) {
    return fail(ErrorKind::invalid_input, "{}: '{}' must be a text in quotes ({})", leaf.where, leaf.key,
                setting->help);
  }
  return set(*setting, {*leaf.text, Origin::file, leaf.where});
}

Status Config::set_flag(std::string_view key, std::string_view value, std::string_view flag) {
  const Setting* setting = find(key);
  if (setting == nullptr) return unknown(key, flag);
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

std::vector<std::string> Config::list(std::string_view key) const {
  std::vector<std::string> items;
  const std::string& text = value(key).text;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    if (end > start) items.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return items;
}

std::span<const Config> Config::entries(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? std::span<const Config>() : found->second;
}

Config::Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

}  // namespace lectern
