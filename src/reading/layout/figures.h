// Pictures and drawings worth keeping, and the text that belongs to them rather than to the flow.
#pragma once

#include <vector>

#include "document/page_content.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/lines.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

struct FoundFigures {
  std::vector<Block> apart;   // with the words that stand in them as their text
  std::vector<Block> behind;  // they hold most of the page's words, which therefore stay in the flow: no text
};

// Labels inside drawings are taken out of `segments` and become the figure's text, as long as they are few or leave the
// page most of its `page_chars` characters: what reads the page as text does not see a figure's words. `tables` are
// boxes of tables already found: their lines are no drawing. Over pictures only text smaller than `body_size` is a
// label.
FoundFigures take_figures(std::vector<Line>& segments, const document::PageContent& content,
                          const std::vector<RectPt>& tables, float body_size, std::size_t page_chars);

// Puts the figures of `behind` before the first block that stands in them. One that a table fills is the table's lines.
void place_behind(std::vector<Block>& blocks, std::vector<Block> behind);

}  // namespace lectern::reading::layout
