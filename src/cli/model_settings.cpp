#include "cli/model_settings.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "base/disk.h"
#include "provider/openai_address.h"

namespace lectern::cli {
namespace {

constexpr std::size_t text_file_max = std::size_t{1} << 20;
constexpr double million = 1e6;

std::string trimmed(std::string text) {
  const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && is_blank(text.back())) text.pop_back();
  text.erase(text.begin(), std::ranges::find_if_not(text, is_blank));
  return text;
}

// Where a setting came from, for messages: "--prompt", "VLM_MODEL_NAME", "lectern.toml:3".
std::string where(const Config& config, std::string_view key) {
  const ConfigValue& value = config.value(key);
  return value.where.empty() ? std::string(key) : value.where;
}

Result<std::string> text_of_file(const std::string& place, const std::string& file) {
  auto text = read_file(file, text_file_max);
  if (!text) return fail(ErrorKind::invalid_input, "{}: {}", place, text.error().for_caller);
  return text;
}

// The text of the file that a setting names; empty when it names none.
Result<std::string> named_text(const Config& config, std::string_view key) {
  if (!config.is_set(key)) return std::string();
  return text_of_file(where(config, key), config.text(key));
}

Status check_object(const std::string& place, const std::string& text) {
  if (text.empty() || nlohmann::json::parse(text, nullptr, false).is_object()) return {};
  return fail(ErrorKind::invalid_input, R"({}: '{}' is not a JSON object such as {{"top_k": 20}})", place, text);
}

Result<std::string> key_of_file(const std::string& place, const std::string& file) {
  auto text = text_of_file(place, file);
  if (!text) return text;
  std::string key = trimmed(std::move(*text));
  if (key.empty()) return fail(ErrorKind::invalid_input, "{}: {} is empty", place, file);
  return key;
}

Result<std::string> common_key(const Config& config) {
  if (config.is_set("engines.api_key")) return config.text("engines.api_key");
  if (!config.is_set("engines.api_key_file")) return std::string();
  return key_of_file(where(config, "engines.api_key_file"), config.text("engines.api_key_file"));
}

std::unexpected<Error> no_url(const Config& entry) {
  return fail(ErrorKind::invalid_input, "{}: [[engine]] needs a url, such as url = \"http://gpu:8000\"", entry.place());
}

Status check_address(const std::string& place, const std::string& address) {
  if (address.starts_with(process_prefix)) {
    const auto words = split_command(std::string_view(address).substr(process_prefix.size()));
    if (!words) return fail(ErrorKind::invalid_input, "{}: {}", place, words.error().for_caller);
    return {};
  }
  if (const auto parsed = provider::parse_engine_address(address); !parsed) {
    return fail(ErrorKind::invalid_input, "{}: {}", place, without_passwords(parsed.error().for_caller));
  }
  return {};
}

// An [[engine]] entry of the file.
Result<EngineSettings> engine_of(const Config& entry, const std::string& common_key,
                                 const Config::Environment& environment) {
  EngineSettings engine{entry.text("url"), entry.text("model"), common_key, entry.text("extra_body")};
  if (engine.address.empty()) return no_url(entry);
  if (auto sound = check_object(entry.value("extra_body").where, engine.extra_body); !sound) {
    return std::unexpected(sound.error());
  }
  if (entry.is_set("api_key_env")) {
    const auto key = environment(entry.text("api_key_env"));
    if (!key || key->empty()) {
      return fail(ErrorKind::invalid_input, "{}: the environment variable {} is not set",
                  entry.value("api_key_env").where, entry.text("api_key_env"));
    }
    engine.api_key = *key;
  } else if (entry.is_set("api_key_file")) {
    auto key = key_of_file(entry.value("api_key_file").where, entry.text("api_key_file"));
    if (!key) return std::unexpected(key.error());
    engine.api_key = std::move(*key);
  }
  return engine;
}

struct KnownEngines {
  std::vector<EngineSettings> entries;  // of the file
  std::string common_key;
};

Result<KnownEngines> known_engines(const Config& config, const Config::Environment& environment) {
  auto key = common_key(config);
  if (!key) return std::unexpected(key.error());
  KnownEngines known{{}, *key};
  for (const Config& entry : config.entries("engine")) {
    auto engine = engine_of(entry, *key, environment);
    if (!engine) return std::unexpected(engine.error());
    known.entries.push_back(std::move(*engine));
  }
  return known;
}

// Addresses with what the file says about them.
std::vector<EngineSettings> engines_at(const std::vector<std::string>& addresses, const KnownEngines& known) {
  std::vector<EngineSettings> engines;
  for (const std::string& address : addresses) {
    if (std::ranges::find(engines, address, &EngineSettings::address) != engines.end()) continue;
    const auto entry = std::ranges::find(known.entries, address, &EngineSettings::address);
    engines.push_back(entry != known.entries.end() ? *entry : EngineSettings{address, "", known.common_key, ""});
  }
  return engines;
}

// Addresses of a flag or variable stand in for the file's entries; those of the file stand beside them.
std::vector<EngineSettings> first_engines(const Config& config, const KnownEngines& known) {
  std::vector<std::string> addresses = split_addresses(config.list("engines.urls"));
  if (addresses.empty() || config.value("engines.urls").origin == Origin::file) {
    for (const EngineSettings& entry : known.entries) addresses.push_back(entry.address);
  }
  return engines_at(addresses, known);
}

// A flag that means nothing without a model would be ignored: better to say so.
Status check_flags_without_engine(const Config& config) {
  for (const Setting& setting : config.table()) {
    const bool about_models = setting.key.starts_with("model.") || setting.key.starts_with("engines.") ||
                              setting.key == "read.tokens_max" || setting.key == "read.cost_max";
    if (!about_models || setting.key == "model.parallel" || setting.key == "model.use") continue;
    const ConfigValue& value = config.value(setting.key);
    if (value.origin != Origin::flag) continue;
    return fail(ErrorKind::invalid_input,
                "{} needs a model to read with: give --engine URL, set VLLM_SERVER_URL, or add [[engine]] to "
                "lectern.toml",
                value.where == "--set" ? fmt::format("--set {}", setting.key) : value.where);
  }
  return {};
}

Status fill_fleets(const Config& config, const Config::Environment& environment, ModelSettings& settings) {
  const auto known = known_engines(config, environment);
  if (!known) return std::unexpected(known.error());
  settings.first = {first_engines(config, *known), config.text("model.name")};
  const auto second = split_addresses(config.list("model.fallback_urls"));
  if (second.empty() && !config.is_set("model.fallback_name")) return {};
  settings.second = {second.empty() ? settings.first.engines : engines_at(second, *known),
                     config.text("model.fallback_name")};
  // An engine's own name for the first model is not its name for the second.
  if (second.empty()) {
    for (EngineSettings& engine : settings.second->engines) engine.model.clear();
  }
  return {};
}

Status fill_prompt(const Config& config, ModelSettings& settings) {
  auto prompt = named_text(config, "model.prompt_file");
  if (!prompt) return std::unexpected(prompt.error());
  auto system = named_text(config, "model.system_prompt_file");
  if (!system) return std::unexpected(system.error());
  settings.prompt = trimmed(std::move(*prompt));
  settings.system = trimmed(std::move(*system));
  if (config.is_set("model.prompt_file") && settings.prompt.empty()) {
    return fail(ErrorKind::invalid_input, "{}: {} is empty", where(config, "model.prompt_file"),
                config.text("model.prompt_file"));
  }
  settings.parameters.tokens_max = static_cast<int>(config.integer("model.reply_tokens_max"));
  settings.parameters.temperature = config.number("model.temperature");
  settings.parameters.logprobs = config.boolean("model.logprobs");
  settings.parameters.extra_body = config.text("model.extra_body");
  return check_object(where(config, "model.extra_body"), settings.parameters.extra_body);
}

Status fill_pictures(const Config& config, ModelSettings& settings) {
  settings.family = reading::family_from_name(config.text("model.family"));
  settings.size.factor = static_cast<int>(config.integer("model.resize_factor"));
  settings.size.side_max = static_cast<int>(config.integer("model.side_max"));
  settings.size.pixels_min = config.integer("model.pixels_min");
  settings.size.pixels_max = config.integer("model.pixels_max");
  settings.size.by_class = config.boolean("model.pixels_by_class");
  settings.picture_format =
      config.text("model.picture") == "png" ? reading::PictureFormat::png : reading::PictureFormat::jpeg;
  settings.jpeg_quality = static_cast<int>(config.integer("model.jpeg_quality"));
  if (settings.size.pixels_max > 0 && settings.size.pixels_min > settings.size.pixels_max) {
    return fail(ErrorKind::invalid_input, "{}: {} pixels are more than model.pixels_max, {}",
                where(config, "model.pixels_min"), settings.size.pixels_min, settings.size.pixels_max);
  }
  return {};
}

Status fill_limits(const Config& config, ModelSettings& settings) {
  settings.parallel = config.text("model.parallel") == "auto" ? 0 : static_cast<int>(config.integer("model.parallel"));
  settings.attempts_max = static_cast<int>(config.integer("model.attempts_max"));
  settings.page_timeout = std::chrono::milliseconds(std::llround(config.number("model.timeout_s") * 1000));
  settings.patience = std::chrono::milliseconds(std::llround(config.number("engines.patience_s") * 1000));
  settings.hedge = config.boolean("engines.hedge");
  settings.proxy = config.text("engines.proxy");
  settings.ca_file = config.text("engines.ca_file");
  settings.verify_tls = !config.boolean("engines.insecure");
  settings.confidence_min = config.number("model.confidence_min");
  settings.builtin_fallback = config.text("model.fallback") == "ocr";
  settings.cache_folder = config.text("model.cache_folder");
  if (config.is_set("model.price_prompt")) settings.price_prompt = config.number("model.price_prompt");
  if (config.is_set("model.price_completion")) settings.price_completion = config.number("model.price_completion");
  if (config.is_set("read.tokens_max")) settings.budget.tokens_max = config.integer("read.tokens_max");
  if (config.is_set("read.cost_max")) settings.budget.cost_max = config.number("read.cost_max");
  if (settings.budget.cost_max && !cost_of(settings, {})) {
    return fail(ErrorKind::invalid_input,
                "{} needs prices: set model.price_prompt and model.price_completion, the price of a million tokens",
                where(config, "read.cost_max"));
  }
  return {};
}

}  // namespace

Result<std::optional<ModelSettings>> model_settings(const Config& config, const Config::Environment& environment) {
  const bool forced = config.is_set("model.use") && config.boolean("model.use");
  if (config.is_set("model.use") && !forced) return std::nullopt;
  ModelSettings settings;
  if (auto filled = fill_fleets(config, environment, settings); !filled) return std::unexpected(filled.error());
  if (settings.first.engines.empty()) {
    if (forced) {
      return fail(ErrorKind::invalid_input,
                  "{} is true, but no engine is configured: give --engine URL, set VLLM_SERVER_URL, or add [[engine]] "
                  "to lectern.toml",
                  where(config, "model.use"));
    }
    if (auto sound = check_flags_without_engine(config); !sound) return std::unexpected(sound.error());
    return std::nullopt;
  }
  for (const auto fill : {fill_prompt, fill_pictures, fill_limits}) {
    if (auto filled = fill(config, settings); !filled) return std::unexpected(filled.error());
  }
  return settings;
}

Status check_engine_addresses(const Config& config) {
  for (const Config& entry : config.entries("engine")) {
    if (!entry.is_set("url")) return no_url(entry);
    if (auto sound = check_address(entry.value("url").where, entry.text("url")); !sound) return sound;
    if (auto sound = check_object(entry.value("extra_body").where, entry.text("extra_body")); !sound) return sound;
  }
  for (const std::string_view key : {"engines.urls", "model.fallback_urls"}) {
    for (const std::string& address : split_addresses(config.list(key))) {
      if (auto sound = check_address(where(config, key), address); !sound) return sound;
    }
  }
  return {};
}

std::string without_passwords(std::string_view addresses) {
  constexpr std::string_view separators = ", \t\n\"";
  std::string shown;
  while (!addresses.empty()) {
    const std::size_t end = std::min(addresses.find_first_of(separators), addresses.size());
    const std::string_view word = addresses.substr(0, end);
    const std::size_t scheme = word.find("://");
    const std::size_t start = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t host = word.substr(0, word.find_first_of("/?#", start)).rfind('@');
    const std::size_t colon = word.find(':', start);
    if (host == std::string_view::npos || host < start || (scheme == std::string_view::npos && colon > host)) {
      shown += word;
    } else {
      shown += word.substr(0, start);
      if (colon < host) shown += std::string(word.substr(start, colon - start)) + ":";
      shown += "***";
      shown += word.substr(host);
    }
    if (end < addresses.size()) shown += addresses[end];
    addresses.remove_prefix(std::min(end + 1, addresses.size()));
  }
  return shown;
}

std::vector<std::string> split_addresses(const std::vector<std::string>& lines) {
  constexpr std::string_view separators = ", \t";
  std::vector<std::string> addresses;
  for (const std::string& line : lines) {
    if (line.starts_with(process_prefix)) {
      addresses.push_back(line);
      continue;
    }
    for (std::size_t start = line.find_first_not_of(separators); start != std::string::npos;) {
      const std::size_t end = std::min(line.find_first_of(separators, start), line.size());
      addresses.push_back(line.substr(start, end - start));
      start = line.find_first_not_of(separators, end);
    }
  }
  return addresses;
}

Result<std::vector<std::string>> split_command(std::string_view command) {
  std::vector<std::string> words;
  std::optional<std::string> word;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    const bool escapes = c == '\\' && quote != '\'' && i + 1 < command.size();
    if (escapes) {
      word = word.value_or("") + command[++i];
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      word = word.value_or("");
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
    } else {
      word = word.value_or("") + c;
    }
  }
  if (quote != 0) return fail(ErrorKind::invalid_input, "process:{}: a quote is not closed", command);
  if (word) words.push_back(*word);
  if (words.empty()) {
    return fail(ErrorKind::invalid_input,
                "process: needs a command, such as process:plugins/transformers_provider.py --model NAME");
  }
  return words;
}

std::optional<double> cost_of(const ModelSettings& settings, const reading::Tokens& tokens) {
  if (!settings.price_prompt && !settings.price_completion) return std::nullopt;
  return (static_cast<double>(tokens.prompt) * settings.price_prompt.value_or(0) +
          static_cast<double>(tokens.completion) * settings.price_completion.value_or(0)) /
         million;
}

}  // namespace lectern::cli
