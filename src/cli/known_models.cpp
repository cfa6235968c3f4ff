#include "cli/known_models.h"

#include <nlohmann/json.hpp>

namespace lectern::cli {

namespace {
constexpr std::size_t known_models_bytes_max = std::size_t{1} << 20;
}

KnownModels read_known_models(const std::filesystem::path& file) {
  KnownModels models;
  const auto bytes = read_file(file, known_models_bytes_max);
  if (!bytes) return models;
  const auto json = nlohmann::json::parse(*bytes, nullptr, false);
  if (!json.is_object()) return models;
  for (const auto& [engine, model] : json.items()) {
    if (model.is_string()) models[engine] = model.get<std::string>();
  }
  return models;
}

Status write_known_models(Disk& disk, const std::filesystem::path& file, const KnownModels& models) {
  if (auto made = disk.make_folders(file.parent_path()); !made) return made;
  const nlohmann::json json(models);
  return write_file_atomically(disk, file, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

}  // namespace lectern::cli
