// The target of a request taken apart: "/v1/jobs/a%20b?x=1&y" → segments "v1", "jobs", "a b" and pairs x=1, y=.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "service/problem.h"

namespace lectern::service::http {

struct Query {
  std::vector<std::pair<std::string, std::string>> pairs;

  // The first of that name.
  std::optional<std::string_view> find(std::string_view name) const;
};

struct Target {
  std::string path;                   // as it was sent
  std::vector<std::string> segments;  // decoded; "/" has none, "/a/" has "a" and ""
  Query query;
};

// Errors: bad_request (escapes that are none, control characters, text that is not UTF-8).
std::expected<Target, Problem> parse_target(std::string_view text);

// "%41+b" → "A+b", in queries "A b". Nothing: an escape is broken.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);
bool is_utf8(std::string_view text);

}  // namespace lectern::service::http
