// What is stored of a page that was read: JSON with page number, prompt and response, and beside them the record and
// the whole result, from which the job's output is assembled; and what clients are shown of it. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "reading/page_record.h"
#include "reading/page_result.h"

namespace lectern::job {

struct PageBlob {
  std::string prompt;  // what a model was told; empty = no model was asked
  reading::PageRecord record;
  reading::PageResult result;
  bool operator==(const PageBlob&) const = default;
};

// {"page_number":3,"prompt":"…","response":"…","record":{…},"result":{…}}. The response is the page's markdown, or the
// placeholder of a page that could not be read.
std::string to_json(const PageBlob& page);
// Errors: corrupt.
Result<PageBlob> page_blob_from_json(std::string_view json);

// {"page_number":3,"prompt":"…","response":"…","result":{…}}: the result as `lectern read --stream --format json` gives
// it (docs/page-result.md).
std::string page_for_clients(PageBlob page);

}  // namespace lectern::job
