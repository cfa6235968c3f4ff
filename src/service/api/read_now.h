// POST /v1/read and /v1/ocr: the document's result in the response, where that does not take too long. The same job
// underneath: when the time is over the client gets the job instead (202), and asks for the result later.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "service/api/context.h"

namespace lectern::service {

boost::asio::awaitable<Answer> post_read(ApiContext* api, Caller caller, http::ExchangePtr exchange);
boost::asio::awaitable<Answer> post_ocr(ApiContext* api, Caller caller, http::ExchangePtr exchange);

}  // namespace lectern::service
