// Errors as clients see them: application/problem+json (RFC 9457) with a `code` that stays the same whatever the text
// says. One table; api/openapi.yaml and docs/api.md list the same codes, and a test compares the three.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::service {

enum class ProblemCode : std::uint8_t {
  bad_request,
  invalid_parameter,
  invalid_body,
  unauthorized,
  forbidden,
  url_not_allowed,
  not_found,
  method_not_allowed,
  not_acceptable,
  request_timeout,
  idempotency_conflict,
  not_ready,
  no_result,
  nothing_to_retry,
  payload_too_large,
  uri_too_long,
  unsupported_media_type,
  range_not_satisfiable,
  expectation_failed,
  deadline_passed,
  blob_not_found,
  url_refused,
  job_failed,
  too_many_pages,
  rate_limited,
  too_many_uploads,
  queue_full,
  headers_too_large,
  internal_error,
  unavailable,
  http_version,
  insufficient_storage,
};

struct ProblemKind {
  ProblemCode code;
  std::string_view name;  // the `code` of the JSON
  int status;
  std::string_view title;
};
std::span<const ProblemKind> problem_kinds();  // in the order of ProblemCode
const ProblemKind& about(ProblemCode code);

struct Problem {
  ProblemCode code = ProblemCode::internal_error;
  std::string detail;   // what is wrong and what to do, for whoever sent the request; empty = the title says it all
  int retry_after = 0;  // seconds; 0 = no such header
};

// {"type":"urn:lectern:problem:not_found","title":…,"status":404,"code":"not_found","detail":…,"request_id":…}
std::string to_json(const Problem& problem, std::string_view request_id);

// What a job that failed is to whoever waits for it: by its Job::error_code, or job_failed.
ProblemCode code_of_failure(std::string_view error_code);

// An error of a room below as a problem. What is for the log alone stays out of it.
Problem problem_of(const Error& error);

}  // namespace lectern::service
