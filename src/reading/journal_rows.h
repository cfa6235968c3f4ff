// The rows of a journal as JSON text, without checksum and line end. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "reading/journal.h"

namespace lectern::reading {

std::string header_row(const JournalHeader& header);
// `result_json` is to_journal_json() of the page.
std::string page_row(const PageRecord& record, std::string_view result_json);
std::string assembled_row(const Assembled& assembled);

// A page row gives its record only: results are read one at a time, when they are needed.
using Row = std::variant<JournalHeader, PageRecord, Assembled>;
Result<Row> parse_row(std::string_view payload);

// The part of a page row that from_journal_json() reads.
std::string_view result_in_row(std::string_view payload);

}  // namespace lectern::reading
