// split: what is in the document, and which of its pages are to be read.
#pragma once

#include <filesystem>
#include <memory>

#include "job/handlers/job_documents.h"
#include "job/handlers/reader_source.h"
#include "job/worker.h"

namespace lectern {
class CpuPool;
}

namespace lectern::job {

// All borrowed; they must outlive the handler.
struct SplitParts {
  Blobs& blobs;
  JobDocuments& documents;
  ReaderSource& readers;
  CpuPool& cpu;
  std::filesystem::path scratch;
  int pages_max = 100'000;  // a document of which more are wanted is refused
};

// A document that cannot be opened, an option that cannot be fulfilled: the job fails, with the words of `lectern
// read`.
std::unique_ptr<Handler> make_split_handler(SplitParts parts);

}  // namespace lectern::job
