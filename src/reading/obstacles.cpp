#include "reading/obstacles.h"

#include <sys/stat.h>

#include "reading/figure_files.h"

namespace lectern::reading {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& file) {
  std::error_code ignored;  // what cannot be looked at will be an error when it is written
  return fs::exists(fs::symlink_status(file, ignored));
}

std::string is_read(const fs::path& file) {
  return fmt::format("{} would be replaced, and this run reads it; choose another folder with -o", file.string());
}

std::string is_foreign(const fs::path& file) {
  return fmt::format(
      "{} is there already, and nothing in the folder says that Lectern wrote it; it was left as it is. Move it away, "
      "or choose another folder with -o",
      file.string());
}

}  // namespace

InputFiles::InputFiles(std::span<const RunDocument> documents) {
  for (const RunDocument& document : documents) {
    if (const auto identity = identity_of(document.file)) files_.insert(*identity);
    if (const auto identity = identity_of(fs::absolute(document.file).parent_path())) folders_.insert(*identity);
  }
}

std::optional<InputFiles::Identity> InputFiles::identity_of(const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return std::nullopt;
  return Identity{status.st_dev, status.st_ino};
}

bool InputFiles::has(const fs::path& file) const {
  const auto identity = identity_of(file);
  return identity && files_.contains(*identity);
}

bool InputFiles::has_some_in(const fs::path& folder) const {
  const auto identity = identity_of(folder);
  return identity && folders_.contains(*identity);
}

std::optional<std::string> find_obstacle(const OutputFolder& folder, const Owner& owner, bool known,
                                         const std::string& output, const InputFiles& inputs) {
  for (const fs::path& file : {folder.path() / output, folder.journal(owner.document)}) {
    if (inputs.has(file)) return is_read(file);
  }
  std::error_code ignored;  // as above
  const fs::path file = folder.path() / output;
  const bool ours = known && owner.outputs.contains(output);
  if (is_there(file) && (!ours || fs::is_directory(file, ignored))) return is_foreign(file);

  const fs::path figures = folder.figures(owner.stem);
  if (!is_there(figures)) return std::nullopt;
  if (!fs::is_directory(figures, ignored)) return is_foreign(figures);
  if (known && !inputs.has_some_in(figures)) return std::nullopt;
  for (const fs::path& figure : figure_files_in(figures)) {
    if (inputs.has(figure)) return is_read(figure);
    if (!known) return is_foreign(figure);
  }
  return std::nullopt;
}

}  // namespace lectern::reading
