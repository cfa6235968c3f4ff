#include "service/http/range.h"

#include <algorithm>
#include <charconv>

namespace lectern::service::http {
namespace {

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || error != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

}  // namespace

RangePlan plan_range(const Fields& request, std::int64_t bytes, std::string_view etag) {
  using Kind = RangePlan::Kind;
  const RangePlan whole;
  const auto range = request.find("range");
  if (!range || request.count("range") > 1) return whole;
  // Dates are not compared: results have tags.
  if (const auto if_range = request.find("if-range"); if_range && (*if_range != etag || etag.starts_with("W/")))
    return whole;
  if (!same_name(range->substr(0, 6), "bytes=")) return whole;
  const std::string_view spec = trimmed(range->substr(6));
  const std::size_t dash = spec.find('-');
  if (dash == std::string_view::npos || spec.contains(',')) return whole;
  const std::string_view left = spec.substr(0, dash);
  const std::string_view right = spec.substr(dash + 1);
  if (left.empty()) {  // the last so many bytes
    const auto last = number(right);
    if (!last) return whole;
    if (*last == 0 || bytes == 0) return {.kind = Kind::outside, .span = {}};
    const std::int64_t count = std::min(*last, bytes);
    return {.kind = Kind::part, .span = {bytes - count, count}};
  }
  const auto first = number(left);
  const auto last = right.empty() ? std::optional(bytes - 1) : number(right);
  if (!first || !last || (!right.empty() && *last < *first)) return whole;
  if (*first >= bytes) return {.kind = Kind::outside, .span = {}};
  return {.kind = Kind::part, .span = {*first, std::min(*last, bytes - 1) - *first + 1}};
}

bool has_version(const Fields& request, std::string_view etag) {
  const auto weak = [](std::string_view tag) { return tag.starts_with("W/") ? tag.substr(2) : tag; };
  for (const Field& field : request) {
    if (!same_name(field.name, "if-none-match")) continue;
    for (const std::string_view member : list_members(field.value)) {
      if (member == "*" || weak(member) == weak(etag)) return true;
    }
  }
  return false;
}

}  // namespace lectern::service::http
