// assemble: the pages of a job as one result, in every format. Pages go through a private journal on the disk, so that
// a long document needs no more memory than a short one, and come out as `lectern read` would print them.
#pragma once

#include <filesystem>
#include <memory>

#include "base/clock.h"
#include "base/disk.h"
#include "job/blobs.h"
#include "job/worker.h"

namespace lectern {
class CpuPool;
}

namespace lectern::job {

// All borrowed; they must outlive the handler.
struct AssembleParts {
  Store& store;
  Blobs& blobs;
  CpuPool& cpu;
  Disk& disk;
  const Clock& clock;
  std::filesystem::path scratch;
};

// Outcome::job_result is {"md": key, "json": key, "text": key, "html": key}.
std::unique_ptr<Handler> make_assemble_handler(AssembleParts parts);

}  // namespace lectern::job
