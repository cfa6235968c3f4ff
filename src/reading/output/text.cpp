#include <string>

#include "reading/output/inline_markdown.h"
#include "reading/output/joined_blocks.h"
#include "reading/output/render.h"

namespace lectern::reading {
namespace {

std::string table_text(const Table& table) {
  std::string out;
  int row = 0;
  bool first = true;
  for (const TableCell& cell : table.cells) {
    if (cell.row != row) out += '\n', row = cell.row, first = true;
    if (!first) out += '\t';
    for (const char c : inline_plain(cell.text)) out += c == '\n' || c == '\t' ? ' ' : c;
    first = false;
  }
  return out;
}

std::string block_text(const Block& block) {
  switch (block.kind) {
    case BlockKind::page_header:
    case BlockKind::page_footer:
    case BlockKind::figure:
      return {};
    case BlockKind::table:
      return table_text(block.table);
    case BlockKind::list_item:
      return std::string(static_cast<std::size_t>(block.level) * 2, ' ') + block.marker + " " + block.text;
    case BlockKind::heading:
    case BlockKind::paragraph:
    case BlockKind::caption:
    case BlockKind::code:
    case BlockKind::formula:
    case BlockKind::footnote:
      return block.text;
  }
  return {};
}

}  // namespace

std::string to_text(const PageResult& page) {
  std::string out;
  bool in_list = false;
  const auto blocks = joined_blocks(page.blocks);
  for (const Block& block : blocks) {
    const std::string text = block_text(block);
    if (text.empty()) continue;
    const bool item = block.kind == BlockKind::list_item;
    if (!out.empty()) out += in_list && item ? "\n" : "\n\n";
    out += text;
    in_list = item;
  }
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace lectern::reading
