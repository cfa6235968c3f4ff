// Where a PostgreSQL server is, taken from its URL; and how to speak of it without giving the password away.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace lectern::job {

struct PostgresAddress {
  std::vector<std::pair<std::string, std::string>> settings;  // for libpq, ours added where the URL has none
  std::string description;                                    // "PostgreSQL, user@host:port/database"
  std::string password;                                       // empty = none in the URL

  // `text` without the password.
  std::string discreet(std::string text) const;
};

// Errors (invalid_input): libpq does not understand it. They repeat nothing of the URL.
Result<PostgresAddress> parse_postgres_url(const std::string& url);

}  // namespace lectern::job
