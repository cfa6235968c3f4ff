// The folder store: blobs as files (folder_files.h), reached from the event loop through a few threads of its own, so
// that no disk is waited for on the loop.
#pragma once

#include <filesystem>
#include <memory>

#include "base/disk.h"
#include "job/blobs.h"

namespace lectern::job {

struct FolderBlobsOptions {
  std::filesystem::path folder;
  Disk* disk = &real_disk();  // borrowed: must outlive the store and its writers
  int threads = 4;            // a disk makes several blobs durable in about the time of one
};

// Makes the folder if it is not there and removes what killed writers left behind.
// Errors: invalid_input (not a folder that can be written to), overloaded (the disk is full).
Result<std::unique_ptr<Blobs>> open_folder_blobs(FolderBlobsOptions options);

}  // namespace lectern::job
