// Pictures and drawings worth keeping, and the text that belongs to them rather than to the flow.
#pragma once

#include <vector>

#include "document/page_content.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/lines.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

// Labels inside drawings are taken out of `segments` and become the figure's text. `tables` are
// boxes of tables already found: their lines are no drawing. Over pictures only text smaller than `body_size` is a
// label.
std::vector<Block> take_figures(std::vector<Line>& segments, const document::PageContent& content,
                                const std::vector<RectPt>& tables, float body_size);

}  // namespace lectern::reading::layout
