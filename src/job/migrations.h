// Schemas have versions. A program brings an older one up to date when it starts, in a transaction, and refuses a newer
// one: it would not know what it breaks. Pure functions; each database runs what they name.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"

namespace lectern::job {

struct Migration {
  int version = 0;       // 1, 2, 3…: what the schema is after it
  std::string_view sql;  // one or more statements
};

// What is to be run on a schema of version `found` (0 = there is none yet), in order. `known` is ascending.
// Errors (conflict): the schema is newer than the newest one known. `where` names the database for people.
Result<std::span<const Migration>> migrations_after(int found, std::span<const Migration> known,
                                                    std::string_view where);

}  // namespace lectern::job
