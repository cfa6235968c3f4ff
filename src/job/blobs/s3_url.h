// "s3://BUCKET/PREFIX?endpoint=…&region=…" and the environment as a value. Pure.
#pragma once

#include <string>

#include "base/config.h"
#include "base/error.h"
#include "job/blobs/sigv4.h"

namespace lectern::job {

struct S3Place {
  std::string endpoint;  // "http://host:port" or "https://host", without a slash at its end
  std::string host;      // as the Host header has it
  std::string region;
  std::string bucket;
  std::string prefix;   // empty, or ends with '/'
  std::string ca_file;  // empty = the system's
  S3Credentials credentials;
};

// Errors (invalid_input) name what is wrong and what to do; they never hold a secret.
Result<S3Place> s3_place_from(const std::string& url, const Config::Environment& environment);

// "s3://bucket/prefix at http://host:port"
std::string to_string(const S3Place& place);

}  // namespace lectern::job
