// Settings with provenance: each value remembers where it came from. Precedence: flag, environment, lectern.toml,
// default. The table of settings belongs to whoever has them (cli/settings.cpp); this is the mechanism. One table feeds
// flags, environment, file, help and `lectern config`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace lectern {

enum class SettingType {
  text,
  integer,
  number,
  boolean,
  secret,  // printed as "(set)"
  list,    // several texts, one a line; in the file also an array of strings
};

struct Setting {
  std::string_view key;  // its name everywhere, dotted as in lectern.toml: "read.lang"
  SettingType type = SettingType::text;
  std::string_view default_value;  // as text; empty = unset
  std::string_view environment;    // variable name; empty = none; of "A|B" the first that is set counts
  std::string_view help;           // one line
  std::optional<double> minimum;   // for integer and number
  std::optional<double> maximum;
  std::string_view choices;  // "md|json|text|html"; empty = anything
};

// [[name]] entries of the file, each with settings of its own.
struct SettingEntries {
  std::string_view name;
  std::span<const Setting> table;
};

enum class Origin { default_value, file, environment, flag };
std::string_view to_string(Origin origin);

struct ConfigValue {
  std::string text;
  Origin origin = Origin::default_value;
  std::string where;  // "--lang", "LECTERN_LANG", "/home/me/lectern.toml:3"
  bool operator==(const ConfigValue&) const = default;
};

class Config {
 public:
  using Environment = std::function<std::optional<std::string>(const std::string& name)>;

  // The tables must outlive the Config (they are usually static).
  explicit Config(std::span<const Setting> table, std::span<const SettingEntries> entries = {});

  // Each checks type, range and choices, and names key, value and place when they do not fit. Unknown keys in the file
  // are errors that suggest the nearest known one: a misspelt setting must not be ignored.
  Status load_environment(const Environment& environment);
  Status load_file(const std::filesystem::path& file);
  Status load_toml(std::string_view toml, const std::string& name);
  Status set_flag(std::string_view key, std::string_view value, std::string_view flag);

  // REQUIRES: the key is in the table and of that type.
  std::string text(std::string_view key) const;
  std::int64_t integer(std::string_view key) const;
  double number(std::string_view key) const;
  bool boolean(std::string_view key) const;
  std::vector<std::string> list(std::string_view key) const;
  const ConfigValue& value(std::string_view key) const;
  bool is_set(std::string_view key) const { return !value(key).text.empty(); }
  std::span<const Setting> table() const { return table_; }

  // The [[name]] entries of the file, in its order; each is a Config over its own table.
  std::span<const Config> entries(std::string_view name) const;
  // Of an entry: where it begins, "/home/me/lectern.toml:12".
  const std::string& place() const { return place_; }

 private:
  struct Leaf;
  Status take(const Leaf& leaf);
  Status unknown(std::string_view key, std::string_view where) const;
  Status set(const Setting& setting, ConfigValue value);
  const Setting* find(std::string_view key) const;

  std::span<const Setting> table_;
  std::span<const SettingEntries> entry_tables_;
  std::map<std::string, ConfigValue, std::less<>> values_;
  std::map<std::string, std::vector<Config>, std::less<>> entries_;
  std::string place_;
};

// The process's own environment.
Config::Environment process_environment();

// The known word nearest to a misspelt one (edit distance at most a third of its length); empty if none is near.
std::string nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace lectern
