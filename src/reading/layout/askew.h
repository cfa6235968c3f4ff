// Text that runs in another direction than the page: stamps in the margin, watermarks, labels set sideways.
#pragma once

#include <vector>

#include "document/page_content.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

// One block for each stretch of such text, in page coordinates. Slanted text and text in the outer margins is
// decoration that a reader skips: it comes as page_header. The rest is a paragraph.
std::vector<Block> askew_blocks(const std::vector<document::Char>& chars, const std::vector<document::Font>& fonts,
                                SizePt page);

}  // namespace lectern::reading::layout
