// Where things lie in an output folder (docs/output-folder.md), and the lock that keeps two runs from sharing it.
#pragma once

#include <filesystem>
#include <string>

#include "base/disk.h"
#include "base/error.h"
#include "base/unique_fd.h"
#include "reading/output/render.h"

namespace lectern::reading {

// The folder inside an output folder that holds what runs remember. Its presence marks an output folder.
inline constexpr const char* state_folder_name = ".lectern";

// Holds the lock as long as it lives; the kernel lets go of it when the process dies, however it dies.
class OutputFolder {
 public:
  // Creates the folder if need be. Errors: conflict, when another run is writing to it; invalid_input, when it is a
  // file.
  static Result<OutputFolder> open(Disk& disk, std::filesystem::path folder);
  ~OutputFolder();
  OutputFolder(OutputFolder&&) noexcept = default;
  OutputFolder& operator=(OutputFolder&&) = delete;

  const std::filesystem::path& path() const { return folder_; }
  std::filesystem::path manifest() const;
  std::filesystem::path owners() const;
  // `document` is the document's name in this folder ("sub/a.pdf").
  std::filesystem::path journal(const std::string& document) const;
  // `stem` is the output's name without extension ("sub/a"); relative to the folder.
  static std::filesystem::path output(const std::string& stem, OutputFormat format);
  std::filesystem::path figures(const std::string& stem) const;

 private:
  OutputFolder(std::filesystem::path folder, UniqueFd lock);

  std::filesystem::path folder_;
  UniqueFd lock_;
};

}  // namespace lectern::reading
