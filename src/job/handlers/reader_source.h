// Who reads the pages of a job: made by those who know the engines (cli/), used by the handlers.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

#include "base/error.h"
#include "job/request.h"
#include "reading/page_reader.h"

namespace lectern::job {

struct JobReader {
  std::shared_ptr<reading::PageReader> reader;  // shared with the source, which keeps it for the next page
  std::string prompt;                           // what a model is told; empty = no model is asked
};

// Calls may overlap, on one event loop.
class ReaderSource {
 public:
  virtual ~ReaderSource() = default;
  // `operation` is NewJob::operation. Equal wishes get the same reader. Errors: invalid_input and not_found = what is
  // asked for (a language, a model) cannot be had here, and waiting does not mend it; others may pass.
  virtual boost::asio::awaitable<Result<JobReader>> reader(std::string operation, JobOptions options) = 0;
};

}  // namespace lectern::job
