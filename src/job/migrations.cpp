#include "job/migrations.h"

#include <algorithm>

namespace lectern::job {

Result<std::span<const Migration>> migrations_after(int found, std::span<const Migration> known,
                                                    std::string_view where) {
  const int newest = known.empty() ? 0 : known.back().version;
  if (found > newest) {
    return fail(ErrorKind::conflict,
                "the schema of {} has version {}, and this program knows versions up to {}: it was used by a newer "
                "lectern. Use that one, or another store",
                where, found, newest);
  }
  const auto next = std::ranges::find_if(known, [found](const Migration& one) { return one.version > found; });
  return known.subspan(static_cast<std::size_t>(next - known.begin()));
}

}  // namespace lectern::job
