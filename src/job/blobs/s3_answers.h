// What S3 servers answer, as values. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "job/blobs.h"

namespace lectern::job {

// The <Error> of an answer; empty where it is none.
struct S3Complaint {
  std::string code;
  std::string message;
};
S3Complaint s3_complaint(std::string_view body);

// A page of ListObjectsV2. Keys come without `prefix`, the store's own; those that are no blob keys are left out: they
// are not ours. Errors: corrupt.
Result<Blobs::Page> s3_list_page(std::string_view body, std::string_view prefix);

// Errors: corrupt.
Result<std::string> s3_upload_id(std::string_view body);

struct S3Part {
  int number = 1;
  std::string etag;
};
std::string s3_complete_body(const std::vector<S3Part>& parts);

// "2009-10-12T17:50:30.000Z"
std::optional<Millis> millis_from_iso8601(std::string_view text);
// "Wed, 12 Oct 2009 17:50:00 GMT"
std::optional<Millis> millis_from_http_date(std::string_view text);

// What to make of an answer that is no success.
struct S3Verdict {
  enum class Then : std::uint8_t {
    fail,
    again,        // may succeed a little later
    look,         // create_only: there is a blob already; perhaps our own, of an attempt whose answer was lost
    unsupported,  // create_only: the server does not know of conditions
  };
  Then then = Then::fail;
  ErrorKind kind = ErrorKind::unavailable;
  std::string text;  // what happened and what to do, for the log
};
struct S3Question {
  int status = 0;
  S3Complaint complaint;
  std::string_view date;  // of the answer, as the header has it
  WallTime now;           // our own clock
  std::string_view key;
  std::string_view bucket;
  bool conditional = false;  // the request said If-None-Match
};
S3Verdict s3_verdict(const S3Question& question);

}  // namespace lectern::job
