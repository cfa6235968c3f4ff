// GET /metrics, and what is counted about requests.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "service/api/context.h"
#include "service/http/connection.h"

namespace lectern::service {

boost::asio::awaitable<Answer> get_metrics(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// Every request, once, in one place.
void count_exchange(telemetry::Metrics& metrics, const http::ExchangeRecord& record);

}  // namespace lectern::service
