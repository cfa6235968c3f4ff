// What a client asks for, as a value: from the fields of a form or from JSON to a job. Pure functions; every field is
// checked here, once, and nothing that is wrong becomes a default.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "job/model.h"
#include "job/request.h"
#include "service/problem.h"

namespace lectern::service {

struct Submission {
  std::string operation;  // empty = not said: read
  std::string name;       // of the document; empty = as the upload calls it
  job::JobOptions options;
  job::JobSecret secret;
  int priority = 0;
  std::optional<job::Millis> deadline;  // a moment, or
  std::optional<job::Millis> timeout;   // a time from now
  std::string webhook;
  std::string url;   // JSON only: where to fetch the document
  std::string blob;  // JSON only: the key of a blob that is there already
};

// One field of a form. Errors: invalid_parameter, which names the field and says what it should be.
std::expected<void, Problem> set_field(Submission& submission, std::string_view name, std::string_view value);
// The fields that a form has; for messages and for the test that compares them with api/openapi.yaml.
std::string field_names();

// Errors: invalid_body (not a JSON object), invalid_parameter.
std::expected<Submission, Problem> submission_from_json(std::string_view json);

// Tells requests apart that use the same Idempotency-Key. `content`: the SHA-256 of the document, or what stands for
// it.
std::string fingerprint_of(const Submission& submission, std::string_view content);

// The job without what only the upload knows (source, sha256, bytes).
job::NewJob job_of(const Submission& submission, std::string id, std::string tenant, job::Millis now);

// "2026-08-06T12:00:00Z", with fractions and offsets; nothing = it is not one.
std::optional<job::Millis> parse_rfc3339(std::string_view text);
std::string to_rfc3339(job::Millis time);

}  // namespace lectern::service
