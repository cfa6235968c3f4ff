// Which model each engine was last heard to serve, kept beside what was read with it: an engine that is away when the
// same command runs again must not look like another model, or everything would be thrown away and read anew.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/disk.h"

namespace lectern::cli {

using KnownModels = std::map<std::string, std::string>;  // by engine_name()

// Nothing when there is no such file or it is damaged.
KnownModels read_known_models(const std::filesystem::path& file);
Status write_known_models(Disk& disk, const std::filesystem::path& file, const KnownModels& models);

}  // namespace lectern::cli
