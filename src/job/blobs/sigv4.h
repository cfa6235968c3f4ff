// AWS Signature Version 4 for S3, as pure functions. libcurl 7.88 has it too, but cannot sign query strings, which
// listing and uploads in parts need.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"

namespace lectern::job {

struct S3Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // of temporary ones; else empty
};

using NameValues = std::vector<std::pair<std::string, std::string>>;

struct SignedParts {
  std::string method;
  std::string path;    // as it is sent: percent-encoded
  NameValues query;    // as they are, not encoded; any order
  NameValues headers;  // all that are to be signed: names in lower case, `host` among them; any order
  std::string payload_sha256;
};

struct SigningScope {
  WallTime time;
  std::string region;
  std::string service = "s3";
};

// RFC 3986: all but A-Z a-z 0-9 - . _ ~ become %XX; with `keep_slash` '/' stays.
std::string percent_encode(std::string_view text, bool keep_slash);
// Sorted and encoded: what is signed, and also what is sent.
std::string canonical_query(NameValues query);
std::string canonical_request(const SignedParts& parts);
// "20130524T000000Z"
std::string amz_date(WallTime time);
std::string string_to_sign(const SigningScope& scope, std::string_view canonical_request);
// In hex.
std::string signature(const S3Credentials& credentials, const SigningScope& scope, std::string_view string_to_sign);
// The value of the Authorization header.
std::string authorization(const S3Credentials& credentials, const SigningScope& scope, const SignedParts& parts);

}  // namespace lectern::job
