#include "service/http/message.h"

#include <fmt/format.h>

namespace lectern::service::http {

Response text_response(int status, std::string content_type, std::string body) {
  Response response{.status = status, .body = std::move(body)};
  response.fields.add("Content-Type", std::move(content_type));
  return response;
}

Response problem_response(const Problem& problem, std::string_view request_id) {
  Response response =
      text_response(about(problem.code).status, "application/problem+json", to_json(problem, request_id));
  response.fields.add("Cache-Control", "no-store");
  if (problem.retry_after > 0) response.fields.add("Retry-After", fmt::to_string(problem.retry_after));
  if (problem.code == ProblemCode::unauthorized) response.fields.add("WWW-Authenticate", "Bearer");
  return response;
}

}  // namespace lectern::service::http
