// Pictures and drawings worth keeping, and the text that belongs to them rather than to the flow.
#pragma once

#include <vector>

#include "document/page_content.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/words.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

// Figures in the frame. Labels inside drawings are taken out of `words` and become the figure's text. `tables` are
// boxes of tables already found: their lines are no drawing.
std::vector<Block> take_figures(std::vector<Word>& words, const document::PageContent& content, const Frame& frame,
                                const std::vector<RectPt>& tables);

}  // namespace lectern::reading::layout
