// What reading/ parses of its own files and flags: rows of journals and manifests, page results, page lists. Any bytes
// give a value or an error; a value that was accepted is written and read back the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reading/journal_rows.h"
#include "reading/output/json.h"
#include "reading/page_ranges.h"
#include "reading/page_record.h"
#include "reading/page_result.h"

namespace {

using namespace lectern;
using namespace lectern::reading;

template <class T>
void must_equal(const Result<T>& again, const T& value) {
  if (!again || !(*again == value)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      if (const auto page = from_journal_json(text)) must_equal(from_journal_json(to_journal_json(*page)), *page);
      break;
    case 1:
      if (const auto record = record_from_json(text)) {
        must_equal(record_from_json(to_json(record->record, record->document)), *record);
      }
      break;
    case 2:
      if (const auto row = parse_row(text); row && std::holds_alternative<JournalHeader>(*row)) {
        must_equal(parse_row(header_row(std::get<JournalHeader>(*row))), *row);
      }
      if (!result_in_row(text).empty()) std::ignore = from_journal_json(result_in_row(text));
      break;
    default:
      if (const auto pages = PageSelection::parse(text)) must_equal(PageSelection::parse(pages->to_string()), *pages);
  }
  return 0;
}
