// The head of a response as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "service/http/message.h"

namespace lectern::service::http {

struct ResponseFraming {
  std::optional<std::int64_t> content_length;
  bool chunked = false;
  bool close = false;
  bool http10_keep_alive = false;  // an old client asked to go on: it must be told that we do
  std::string_view request_id;
  WallTime now{};
};
// Values of fields cannot break out of their line: control characters are left out.
std::string response_head(const Response& response, const ResponseFraming& framing);

std::string http_date(WallTime time);  // "Sun, 06 Nov 1994 08:49:37 GMT"
std::string_view reason_phrase(int status);

}  // namespace lectern::service::http
