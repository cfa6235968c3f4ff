// Pictures of pages, made when somebody first wants to see one and kept among the blobs from then on.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/places.h"
#include "job/blobs.h"
#include "job/handlers/job_documents.h"
#include "job/model.h"

namespace lectern {
class CpuPool;
}

namespace lectern::job {

// Calls may overlap; few are rendered at once. All parts are borrowed.
class PageImages {
 public:
  PageImages(Blobs& blobs, JobDocuments& documents, CpuPool& cpu);

  // A JPEG of at most 1600 pixels a side. Errors: not_found (no such page), invalid_input (the document cannot be
  // rendered), unavailable, cancelled.
  boost::asio::awaitable<Result<std::string>> image(Job job, int page, Cancellation cancellation);

 private:
  boost::asio::awaitable<Result<std::string>> render(Job job, int page);

  Blobs& blobs_;
  JobDocuments& documents_;
  CpuPool& cpu_;
  Places places_;  // for rendering
};

}  // namespace lectern::job
