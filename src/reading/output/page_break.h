// What a page break tears apart, put together again.
#pragma once

#include "reading/page_result.h"

namespace lectern::reading {

// When the last paragraph of `page` goes on (Block::continues, set by the document-wide pass) and `next` is the page
// after it, the paragraph's other part is moved over from the top of `next`. Both pages have been finished.
void join_over_break(PageResult& page, PageResult& next);

}  // namespace lectern::reading
