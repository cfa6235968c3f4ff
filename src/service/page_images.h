// Pictures of pages that are not among the blobs: whoever can render makes them when they are asked for.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>

#include "base/cancellation.h"
#include "base/error.h"
#include "job/model.h"

namespace lectern::service {

struct PageImage {
  std::string bytes;
  std::string content_type = "image/jpeg";
};

// Calls may overlap; implementations bound how many run at once.
class PageImages {
 public:
  virtual ~PageImages() = default;
  // Errors: not_found (no such page, or the document is gone), invalid_input (the document cannot be rendered),
  // overloaded, unavailable, cancelled.
  virtual boost::asio::awaitable<Result<PageImage>> image(job::Job job, int page, Cancellation cancellation) = 0;
};

}  // namespace lectern::service
