#include "reading/output/joined_blocks.h"

#include "reading/layout/inline_text.h"
#include "reading/output/escape.h"

namespace lectern::reading {

std::vector<Block> joined_blocks(const std::vector<Block>& blocks) {
  std::vector<Block> out;
  out.reserve(blocks.size());
  std::vector<bool> taken(blocks.size(), false);
  const auto marked = [](const Block& b) { return b.markdown.empty() ? escape_markdown(b.text) : b.markdown; };
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (taken[i]) continue;
    Block block = blocks[i];
    for (std::size_t next = i + 1; block.continues && next < blocks.size(); ++next) {
      if (taken[next] || blocks[next].kind != block.kind) continue;
      taken[next] = true;
      if (!block.markdown.empty() || !blocks[next].markdown.empty())
        block.markdown = layout::join_texts(marked(block), marked(blocks[next]));
      block.text = layout::join_texts(block.text, blocks[next].text);
      block.bbox = union_of(block.bbox, blocks[next].bbox);
      block.continues = blocks[next].continues;
    }
    out.push_back(std::move(block));
  }
  return out;
}

}  // namespace lectern::reading
