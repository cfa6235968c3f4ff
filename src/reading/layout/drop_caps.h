// Large initials that span several lines: the letter goes back to the word it begins.
#pragma once

#include <vector>

#include "reading/layout/words.h"

namespace lectern::reading::layout {

void join_drop_caps(std::vector<Word>& words, float body_size);

}  // namespace lectern::reading::layout
