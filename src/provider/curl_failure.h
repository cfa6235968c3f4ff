// libcurl's error codes as our failures: one table.
#pragma once

#include <curl/curl.h>

#include <string_view>

#include "provider/failure.h"

namespace lectern::provider {

struct CurlFacts {
  std::string_view peer;
  std::string_view detail;  // libcurl's own words; may be empty
  bool connected = false;   // the connection stood
  bool deadline_passed = false;
  int status = 0;  // of the response so far; 0 = none had begun
};

Failure failure_of_curl(CURLcode code, const CurlFacts& facts);

}  // namespace lectern::provider
