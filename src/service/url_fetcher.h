// Documents by URL, for POST /v1/jobs with {"url": …}: fetched into the blobs before the job is submitted. Whoever
// implements it guards against addresses that a client must not reach through this server.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

#include "base/cancellation.h"
#include "base/error.h"

namespace lectern::service {

struct FetchRequest {
  std::string url;
  std::string key;  // of the blob to write (create_only)
  std::int64_t bytes_max = 0;
  Cancellation cancellation;
};

struct Fetched {
  std::int64_t bytes = 0;
  std::string sha256;  // of the bytes, lower-case hex
  std::string name;    // as the URL or the server calls it; may be empty
};

// Calls may overlap. Nothing is left under the key after an error.
class UrlFetcher {
 public:
  virtual ~UrlFetcher() = default;
  // Errors: invalid_input (the URL, its address or what the server said is refused; the text says why), overloaded (no
  // space left), unavailable (the blobs do not answer), timeout, cancelled.
  virtual boost::asio::awaitable<Result<Fetched>> fetch(FetchRequest request) = 0;
};

}  // namespace lectern::service
