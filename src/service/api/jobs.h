// Looking at jobs, ending them, trying them again.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "service/api/context.h"

namespace lectern::service {

// GET /v1/jobs?status=&limit=&cursor=&tenant=: newest first.
boost::asio::awaitable<Answer> get_jobs(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// GET /v1/jobs/{id}
boost::asio::awaitable<Answer> get_job(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// DELETE /v1/jobs/{id}: cancels a job that is not over (200, the job); removes one that is, with everything that was
// stored for it (204).
boost::asio::awaitable<Answer> delete_job(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// POST /v1/jobs/{id}/retry: its failed pages again (202, the job).
boost::asio::awaitable<Answer> retry_job(ApiContext* api, Caller caller, http::ExchangePtr exchange);

}  // namespace lectern::service
