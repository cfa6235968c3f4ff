// JSON of page results: the outward form (docs/page-result.md) and the journal form, which keeps everything and reads
// back.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "reading/page_result.h"

namespace lectern::reading {

// The outward page result, one line, keys in the order of docs/page-result.md; fields absent where unknown.
std::string to_json(const PageResult& page);

// For the journal: everything, including typographic evidence. from_journal_json(to_journal_json(p)) == p.
std::string to_journal_json(const PageResult& page);
Result<PageResult> from_journal_json(std::string_view json);

}  // namespace lectern::reading
