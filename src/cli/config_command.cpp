// lectern config: every setting, its value and where it comes from.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "cli/commands.h"
#include "cli/model_settings.h"

namespace lectern::cli {
namespace {

std::string shown(const Setting& setting, const ConfigValue& value) {
  if (value.text.empty()) return "(unset)";
  if (setting.type == SettingType::secret) return "(set)";
  std::string text = without_passwords(value.text);
  std::ranges::replace(text, '\n', ' ');  // lists
  return text;
}

// "url = http://gpu:8000, model = qwen"
std::string entry_text(const Config& entry) {
  std::string text;
  for (const Setting& setting : entry.table()) {
    if (!entry.is_set(setting.key)) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", setting.key, without_passwords(entry.text(setting.key)));
  }
  return text;
}

std::string origin(const ConfigValue& value) {
  if (value.origin == Origin::default_value) return "default";
  return fmt::format("{} {}", to_string(value.origin), value.where);
}

void print_json(const LoadedSettings& settings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Setting& setting : settings.config.table()) {
    const ConfigValue& value = settings.config.value(setting.key);
    nlohmann::ordered_json one{{"key", setting.key}, {"value", nullptr}, {"origin", to_string(value.origin)}};
    if (!value.text.empty()) one["value"] = shown(setting, value);
    if (!value.where.empty()) one["where"] = value.where;
    if (!setting.environment.empty()) one["environment"] = setting.environment;
    one["help"] = setting.help;
    list.push_back(std::move(one));
  }
  nlohmann::ordered_json json{{"file", nullptr}, {"settings", std::move(list)}};
  if (!settings.file.empty()) json["file"] = settings.file.string();
  for (const Config& entry : settings.config.entries("engine")) {
    nlohmann::ordered_json one{{"where", entry.place()}};
    for (const Setting& setting : entry.table()) {
      if (entry.is_set(setting.key)) one[std::string(setting.key)] = without_passwords(entry.text(setting.key));
    }
    json["engines"].push_back(std::move(one));
  }
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void print_table(const LoadedSettings& settings) {
  struct Row {
    std::string key, value, from, environment;
  };
  std::vector<Row> rows = {{"SETTING", "VALUE", "FROM", "ENVIRONMENT"}};
  for (const Setting& setting : settings.config.table()) {
    const ConfigValue& value = settings.config.value(setting.key);
    rows.push_back({std::string(setting.key), shown(setting, value), origin(value), std::string(setting.environment)});
  }
  const auto width = [&rows](std::string Row::* column) {
    std::size_t most = 0;
    for (const Row& row : rows) most = std::max(most, (row.*column).size());
    return most;
  };
  const std::size_t key = width(&Row::key);
  const std::size_t value = width(&Row::value);
  const std::size_t from = width(&Row::from);
  for (const Row& row : rows) {
    fmt::print("{:<{}}  {:<{}}  {:<{}}  {}\n", row.key, key, row.value, value, row.from, from, row.environment);
  }
  for (const Config& entry : settings.config.entries("engine")) {
    fmt::print("{}[[engine]]  {}  file {}\n", &entry == settings.config.entries("engine").data() ? "\n" : "",
               entry_text(entry), entry.place());
  }
  fmt::print("\n{}\n", settings.file.empty() ? "No lectern.toml: looked in this folder and in ~/.config/lectern/."
                                             : fmt::format("Settings file: {}", settings.file.string()));
}

}  // namespace

int config_command(const CommandLine& line, const LoadedSettings& settings) {
  if (auto sound = check_engine_addresses(settings.config); !sound) return fail_with(sound.error());
  if (line.json) {
    print_json(settings);
  } else {
    print_table(settings);
  }
  return 0;
}

}  // namespace lectern::cli
