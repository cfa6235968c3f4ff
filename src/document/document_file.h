// Opens a document's file for reading, and refuses what is none (folders, pipes, devices, empty files) with a text for
// people that names it.
#pragma once

#include <filesystem>

#include "base/error.h"
#include "base/unique_fd.h"

namespace lectern::document {

// Never blocks on a pipe and never follows up on a terminal. The descriptor is close-on-exec and read-only.
Result<UniqueFd> open_document_file(const std::filesystem::path& file);

// The same refusals for a file that is open already; `name` is what the text calls it.
Status check_document_file(int fd, const std::filesystem::path& name);

}  // namespace lectern::document
