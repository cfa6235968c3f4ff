// GET /v1/jobs/{id}/events: the story of a job, as it happens (server-sent events) or page by page (JSON).
#pragma once

#include <boost/asio/awaitable.hpp>

#include "service/api/context.h"

namespace lectern::service {

boost::asio::awaitable<Answer> get_events(ApiContext* api, Caller caller, http::ExchangePtr exchange);

}  // namespace lectern::service
