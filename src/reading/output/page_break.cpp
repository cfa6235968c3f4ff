#include "reading/output/page_break.h"

#include <algorithm>
#include <ranges>

#include "reading/layout/inline_text.h"
#include "reading/output/escape.h"
#include "reading/output/joined_blocks.h"

namespace lectern::reading {
namespace {

bool flows(const Block& block) {
  return block.kind == BlockKind::paragraph || block.kind == BlockKind::list_item || block.kind == BlockKind::heading;
}

std::string marked(const Block& block) {
  return block.markdown.empty() ? escape_markdown(block.text) : block.markdown;
}

}  // namespace

void join_over_break(PageResult& page, PageResult& next) {
  if (next.page != page.page + 1) return;
  auto backwards = page.blocks | std::views::reverse;
  const auto torn = std::ranges::find_if(backwards, flows);
  if (torn == backwards.end() || torn->kind != BlockKind::paragraph || !torn->continues) return;
  torn->continues = false;
  // Columns first: the other part may itself be in two.
  next.blocks = joined_blocks(next.blocks);
  const auto rest = std::ranges::find_if(next.blocks, flows);
  if (rest == next.blocks.end() || rest->kind != BlockKind::paragraph) return;
  if (!torn->markdown.empty() || !rest->markdown.empty()) {
    torn->markdown = layout::join_texts(marked(*torn), marked(*rest));
  }
  torn->text = layout::join_texts(torn->text, rest->text);
  next.blocks.erase(rest);
}

}  // namespace lectern::reading
