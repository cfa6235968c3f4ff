// read: one page of a document, and its result among the blobs.
#pragma once

#include <memory>

#include "base/clock.h"
#include "job/handlers/job_documents.h"
#include "job/handlers/reader_source.h"
#include "job/worker.h"

namespace lectern {
class CpuPool;
}

namespace lectern::job {

// All borrowed; they must outlive the handler.
struct ReadParts {
  Blobs& blobs;
  JobDocuments& documents;
  ReaderSource& readers;
  CpuPool& cpu;
  const Clock& clock;
};

// A page that cannot be read is a result like any other (outcome `failed`, with its reason). Only what is not the
// page's doing gives the task back, or fails it without a result.
std::unique_ptr<Handler> make_read_handler(ReadParts parts);

}  // namespace lectern::job
