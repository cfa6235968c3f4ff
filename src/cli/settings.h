// The settings of Lectern: one table feeds flags, environment, lectern.toml, help and `lectern config`.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"

namespace lectern::cli {

std::span<const Setting> settings_table();
// What can stand in [[engine]] entries of lectern.toml.
std::span<const SettingEntries> settings_entries();

// A setting given by a flag.
struct FlagValue {
  std::string key;
  std::string value;
  std::string flag;
  bool operator==(const FlagValue&) const = default;
};

struct SettingSources {
  std::vector<FlagValue> flags;
  std::string config_file;  // from --config; must exist. Empty: the first of lectern_toml_places() that is there
  Config::Environment environment;
};

struct LoadedSettings {
  Config config;
  std::filesystem::path file;  // the lectern.toml in force; empty = none
};

// Errors (invalid_input) name setting, value and place.
Result<LoadedSettings> load_settings(const SettingSources& sources);

// ./lectern.toml, then lectern/lectern.toml in the user's configuration folder. LECTERN_CONFIG replaces both.
std::vector<std::filesystem::path> lectern_toml_places(const Config::Environment& environment);

}  // namespace lectern::cli
