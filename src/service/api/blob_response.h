// Blobs as responses: with their tag, in whole or in part, streamed.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

#include "base/clock.h"
#include "service/api/context.h"

namespace lectern::service {

struct BlobDress {
  std::string content_type;
  std::string disposition;                          // empty = none
  std::string missing;                              // what to say when the blob is not there
  std::optional<WallTime> modified = std::nullopt;  // blob_response() finds it out by itself
};
// 200, 206 or 304. Errors: not_found, range_not_satisfiable, unavailable.
boost::asio::awaitable<Answer> blob_response(ApiContext* api, http::ExchangePtr exchange, std::string key,
                                             BlobDress dress);
// The same for bytes that were made from a blob; their hash is their tag. CPU work: a hash over all of them.
http::Response made_response(const http::Request& request, std::string bytes, BlobDress dress);

}  // namespace lectern::service
