// What a client sent, as far as a model server cares: the head of an HTTP/1.1 request and the size of its body.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace lectern::sim {

// Views into the bytes that were parsed.
struct RequestHead {
  std::string_view method;
  std::string_view path;   // without the query
  std::string_view query;  // without the question mark
  std::size_t size = 0;    // bytes of the head, the blank line included
  std::size_t content_length = 0;
  bool chunked = false;
  bool keep_alive = true;
  bool expects_continue = false;
  std::string_view bearer;       // of Authorization
  std::string_view api_key;      // of X-Api-Key
  std::string_view load_format;  // of endpoint-load-metrics-format
};

// nullopt while the head is not complete; an error when it never will be a request.
Result<std::optional<RequestHead>> parse_head(std::string_view bytes);

struct ChunkedBody {
  std::string bytes;
  std::size_t size = 0;  // of the encoded body on the wire
};
// The same for a body with Transfer-Encoding: chunked; `bytes` begin after the head.
Result<std::optional<ChunkedBody>> parse_chunked(std::string_view bytes);

}  // namespace lectern::sim
