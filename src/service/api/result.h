// Results and pages.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <expected>
#include <string_view>

#include "service/api/context.h"

namespace lectern::service {

struct ResultFormat {
  std::string_view name;  // of ?format= and of the blob in Job::result
  std::string_view type;  // of Accept
  std::string_view content_type;
};
// By ?format=, else by Accept, else markdown. Errors: invalid_parameter, not_acceptable.
std::expected<ResultFormat, Problem> format_of(const http::Request& request);
// A job that is over as a response. Errors: not_ready, no_result.
boost::asio::awaitable<Answer> result_response(ApiContext* api, http::ExchangePtr exchange, job::JobView view,
                                               ResultFormat format);

// GET /v1/jobs/{id}/result
boost::asio::awaitable<Answer> get_result(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// GET /v1/jobs/{id}/pages/{page}: as soon as the page is done
boost::asio::awaitable<Answer> get_page(ApiContext* api, Caller caller, http::ExchangePtr exchange);
// GET /v1/jobs/{id}/pages/{page}/image
boost::asio::awaitable<Answer> get_page_image(ApiContext* api, Caller caller, http::ExchangePtr exchange);

}  // namespace lectern::service
