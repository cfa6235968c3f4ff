// New jobs: from an upload, from a URL, from a blob.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <expected>
#include <optional>
#include <string>

#include "job/operations.h"
#include "service/api/context.h"

namespace lectern::service {

// POST /v1/jobs
boost::asio::awaitable<Answer> post_job(ApiContext* api, Caller caller, http::ExchangePtr exchange);

// The request as a job that is stored. `operation`: what the path says it is; nothing = the form says it.
boost::asio::awaitable<std::expected<job::Submitted, Problem>> submit_job(ApiContext* api, Caller caller,
                                                                          http::ExchangePtr exchange,
                                                                          std::optional<std::string> operation);

}  // namespace lectern::service
