// Words of a line as they stand from left to right → reading order, for lines with right-to-left text.
#pragma once

#include "reading/layout/words.h"

namespace lectern::reading::layout {

// True when the line as a whole runs from right to left.
bool runs_right_to_left(const std::vector<Word>& words);

// `words` sorted by their left edges. Numbers and Latin runs keep their own direction; brackets that would open with
// their closing half are mirrored.
void order_mixed_directions(std::vector<Word>& words, bool line_rtl);

}  // namespace lectern::reading::layout
