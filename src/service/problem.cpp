#include "service/problem.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace lectern::service {
namespace {

using enum ProblemCode;
constexpr std::array kinds = {
    ProblemKind{bad_request, "bad_request", 400, "The request is not valid HTTP"},
    ProblemKind{invalid_parameter, "invalid_parameter", 400, "A parameter or field is not valid"},
    ProblemKind{invalid_body, "invalid_body", 400, "The body could not be understood"},
    ProblemKind{unauthorized, "unauthorized", 401, "A valid key is needed"},
    ProblemKind{forbidden, "forbidden", 403, "The key does not allow this"},
    ProblemKind{url_not_allowed, "url_not_allowed", 403, "Documents by URL are not allowed here"},
    ProblemKind{not_found, "not_found", 404, "There is no such thing"},
    ProblemKind{method_not_allowed, "method_not_allowed", 405, "The method is not allowed here"},
    ProblemKind{not_acceptable, "not_acceptable", 406, "None of the accepted formats can be given"},
    ProblemKind{request_timeout, "request_timeout", 408, "The request came too slowly"},
    ProblemKind{idempotency_conflict, "idempotency_conflict", 409, "The idempotency key was used for another request"},
    ProblemKind{not_ready, "not_ready", 409, "The result is not ready yet"},
    ProblemKind{no_result, "no_result", 409, "The job ended without a result"},
    ProblemKind{nothing_to_retry, "nothing_to_retry", 409, "There is nothing to retry"},
    ProblemKind{payload_too_large, "payload_too_large", 413, "The body is too large"},
    ProblemKind{uri_too_long, "uri_too_long", 414, "The target is too long"},
    ProblemKind{unsupported_media_type, "unsupported_media_type", 415, "The type of the body is not supported"},
    ProblemKind{range_not_satisfiable, "range_not_satisfiable", 416, "The range is outside of the result"},
    ProblemKind{expectation_failed, "expectation_failed", 417, "The expectation is not supported"},
    ProblemKind{deadline_passed, "deadline_passed", 422, "The deadline has passed already"},
    ProblemKind{blob_not_found, "blob_not_found", 422, "There is no such blob"},
    ProblemKind{url_refused, "url_refused", 422, "The document could not be fetched from its URL"},
    ProblemKind{job_failed, "job_failed", 422, "The document could not be read"},
    ProblemKind{too_many_pages, "too_many_pages", 422, "The document has more pages than are read here"},
    ProblemKind{rate_limited, "rate_limited", 429, "Too many requests"},
    ProblemKind{too_many_uploads, "too_many_uploads", 429, "Too many uploads at the same time"},
    ProblemKind{queue_full, "queue_full", 429, "Too many jobs are waiting"},
    ProblemKind{headers_too_large, "headers_too_large", 431, "The header section is too large"},
    ProblemKind{internal_error, "internal_error", 500, "Something went wrong on this side"},
    ProblemKind{unavailable, "unavailable", 503, "Something that is needed does not answer now"},
    ProblemKind{http_version, "http_version", 505, "Only HTTP/1.1 and HTTP/1.0 are spoken here"},
    ProblemKind{insufficient_storage, "insufficient_storage", 507, "There is no space left to store this"},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (static_cast<std::size_t>(kinds[i].code) != i) return false;
  }
  return true;
}
static_assert(in_order(), "about() looks codes up by their number");

ProblemCode code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_input:
      return invalid_parameter;
    case ErrorKind::not_found:
      return not_found;
    case ErrorKind::conflict:
      return idempotency_conflict;
    case ErrorKind::overloaded:
      return insufficient_storage;
    case ErrorKind::timeout:
    case ErrorKind::cancelled:
    case ErrorKind::unavailable:
      return unavailable;
    case ErrorKind::corrupt:
    case ErrorKind::internal:
      return internal_error;
  }
  return internal_error;
}

}  // namespace

std::span<const ProblemKind> problem_kinds() {
  return kinds;
}

const ProblemKind& about(ProblemCode code) {
  return kinds.at(static_cast<std::size_t>(code));
}

ProblemCode code_of_failure(std::string_view error_code) {
  const auto kind = std::ranges::find(kinds, error_code, &ProblemKind::name);
  return kind == kinds.end() ? job_failed : kind->code;
}

std::string to_json(const Problem& problem, std::string_view request_id) {
  const ProblemKind& kind = about(problem.code);
  nlohmann::ordered_json json{{"type", "urn:lectern:problem:" + std::string(kind.name)},
                              {"title", kind.title},
                              {"status", kind.status},
                              {"code", kind.name}};
  if (!problem.detail.empty()) json["detail"] = problem.detail;
  if (!request_id.empty()) json["request_id"] = request_id;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Problem problem_of(const Error& error) {
  Problem problem{.code = code_of(error.kind)};
  if (problem.code == unavailable) {
    problem.retry_after = 2;
  } else if (problem.code != internal_error) {
    problem.detail = error.for_caller;
  }
  return problem;
}

}  // namespace lectern::service
