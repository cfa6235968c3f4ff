// Whether the service lives, and whether it can do its work.
#pragma once

#include "job/blobs.h"
#include "job/store.h"
#include "service/http/message.h"

namespace lectern::service {

boost::asio::awaitable<http::Response> live(http::ExchangePtr exchange);
// 503 while the store or the blobs do not answer, or the server stops: nothing should be sent here then.
boost::asio::awaitable<http::Response> ready(job::Store* store, job::Blobs* blobs, http::ExchangePtr exchange);

}  // namespace lectern::service
