// What stands where a document's outputs would go: files of people, and the documents of the run themselves.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "reading/output_folder.h"
#include "reading/owners.h"
#include "reading/read_run.h"

namespace lectern::reading {

// The files that a run reads, whatever they are called.
class InputFiles {
 public:
  explicit InputFiles(std::span<const RunDocument> documents);
  bool has(const std::filesystem::path& file) const;
  // Whether one of them lies in this folder.
  bool has_some_in(const std::filesystem::path& folder) const;

 private:
  using Identity = std::pair<dev_t, ino_t>;
  static std::optional<Identity> identity_of(const std::filesystem::path& file);
  std::set<Identity> files_;
  std::set<Identity> folders_;
};

// Why the document's outputs cannot be written; nullopt: they can. `owner` says what is the document's own already;
// `known` is unset when it has just been given its name, and nothing is.
std::optional<std::string> find_obstacle(const OutputFolder& folder, const Owner& owner, bool known,
                                         const std::string& output, const InputFiles& inputs);

}  // namespace lectern::reading
