// Groups of lines → blocks: which is a heading, a list item, code, a caption, a footnote, a formula.
#pragma once

#include <vector>

#include "reading/layout/inline_text.h"
#include "reading/layout/paragraphs.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

struct BlockContext {
  const PageStyle& style;
  const Vocabulary& vocabulary;
  const std::vector<document::Link>& links;
};

// `groups` of one column, from top to bottom.
std::vector<Block> make_blocks(const std::vector<Group>& groups, const BlockContext& context);

// Blocks that break off at the end of a column and go on at the top of the next get `continues`.
void mark_continuations(std::vector<Block>& blocks, std::size_t column_start);

}  // namespace lectern::reading::layout
