// Addresses of the web, taken apart by the library that will connect to them: whoever checks one sees the same host.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::provider {

struct WebAddress {
  std::string url;     // without user, password and fragment
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; an IPv6 address without brackets
  int port = 0;
  std::string path;          // percent-encoded; at least "/"
  bool credentials = false;  // it had a user or a password
};

// Errors (invalid_input): it is none, or of another scheme.
Result<WebAddress> parse_web_address(const std::string& text);
// Where "Location: `location`" leads from there.
Result<WebAddress> redirected(const WebAddress& from, const std::string& location);

// "%20" → " ". Broken escapes stay as they are.
std::string percent_decoded(std::string_view text);

}  // namespace lectern::provider
