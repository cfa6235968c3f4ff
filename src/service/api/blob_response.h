// Blobs as responses: with their tag, in whole or in part, streamed.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <string>

#include "service/api/context.h"

namespace lectern::service {

struct BlobDress {
  std::string content_type;
  std::string disposition;  // empty = none
  std::string missing;      // what to say when the blob is not there
};
// 200, 206 or 304. Errors: not_found, range_not_satisfiable, unavailable.
boost::asio::awaitable<Answer> blob_response(ApiContext* api, http::ExchangePtr exchange, std::string key,
                                             BlobDress dress);

}  // namespace lectern::service
