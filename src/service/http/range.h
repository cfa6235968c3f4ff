// Parts of a response and whether the client has it already: Range, If-Range, If-None-Match (RFC 9110, 13 and 14).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "service/http/fields.h"

namespace lectern::service::http {

struct ByteSpan {
  std::int64_t first = 0;
  std::int64_t bytes = 0;
  bool operator==(const ByteSpan&) const = default;
};

struct RangePlan {
  enum class Kind : std::uint8_t { whole, part, outside } kind = Kind::whole;
  ByteSpan span;  // of a part
  bool operator==(const RangePlan&) const = default;
};

// Several ranges, other units and nonsense are answered with the whole, as the standard allows.
RangePlan plan_range(const Fields& request, std::int64_t bytes, std::string_view etag);

// If-None-Match: the client has this version.
bool has_version(const Fields& request, std::string_view etag);

}  // namespace lectern::service::http
