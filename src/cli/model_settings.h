// From settings to what is needed to ask models: whom, how, and within which limits. Files that settings name are read,
// nothing else is touched.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "provider/provider.h"
#include "reading/model/model_reader.h"
#include "reading/read_run.h"

namespace lectern::cli {

struct EngineSettings {
  std::string address;  // "http://gpu:8000", or "process:COMMAND"
  std::string model;    // what this engine calls the model; empty = the fleet's name for it
  std::string api_key;
  std::string extra_body;
  bool operator==(const EngineSettings&) const = default;
};

// The engines that serve one model.
struct FleetSettings {
  std::vector<EngineSettings> engines;
  std::string model;  // empty = the engines' only one
  bool operator==(const FleetSettings&) const = default;
};

struct ModelSettings {
  FleetSettings first;
  std::optional<FleetSettings> second;  // asked about what the first cannot read

  int parallel = 0;  // requests in flight; 0 = found while working
  int attempts_max = 2;
  bool hedge = false;
  std::chrono::milliseconds patience{30'000};  // with engines that are all away
  std::string proxy;
  std::string ca_file;
  bool verify_tls = true;

  std::string system;
  std::string prompt;
  provider::Parameters parameters;
  std::optional<reading::ModelFamily> family;  // nullopt = told by the model's name
  reading::SizePolicy size;                    // but for the family
  reading::PictureFormat picture_format = reading::PictureFormat::jpeg;
  int jpeg_quality = 90;
  std::chrono::milliseconds page_timeout{300'000};
  double confidence_min = 0.85;
  bool builtin_fallback = true;
  std::filesystem::path cache_folder;  // empty = wherever the run keeps its results

  std::optional<double> price_prompt;  // of a million tokens
  std::optional<double> price_completion;
  reading::Budget budget;
};

// nullopt: no engine is configured, or model.use says that none be asked. Errors (invalid_input) say which setting is
// wrong and what to do.
Result<std::optional<ModelSettings>> model_settings(const Config& config, const Config::Environment& environment);

// Whether all engines of the settings have an address that can be one, also where no model is used now. Touches
// nothing.
Status check_engine_addresses(const Config& config);

// Addresses as they may be shown: without the passwords in them.
std::string without_passwords(std::string_view addresses);

// What `engines.urls` and its like hold: addresses separated by commas or blanks; process:COMMAND has a line of its
// own.
std::vector<std::string> split_addresses(const std::vector<std::string>& lines);
// The command of process:COMMAND as words; quotes and backslashes as a shell takes them. Errors: an open quote, no
// word.
Result<std::vector<std::string>> split_command(std::string_view command);
inline constexpr std::string_view process_prefix = "process:";

// What tokens cost; nullopt where no price is known.
std::optional<double> cost_of(const ModelSettings& settings, const reading::Tokens& tokens);

}  // namespace lectern::cli
