// Markdown of models → blocks: cells lie in their tables in reading order and do not overlap, lists and headings have
// levels that exist, and the blocks can be written in every format.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include "reading/model/reply_text.h"
#include "reading/output/render.h"

namespace {

void check(const lectern::reading::Table& table) {
  std::pair<int, int> last{-1, -1};
  std::set<std::pair<int, int>> taken;
  for (const auto& cell : table.cells) {
    if (cell.row < 0 || cell.column < 0 || cell.row_span < 1 || cell.column_span < 1) std::abort();
    if (cell.row + cell.row_span > table.rows || cell.column + cell.column_span > table.columns) std::abort();
    if (std::pair(cell.row, cell.column) <= last) std::abort();
    last = {cell.row, cell.column};
    if (table.cells.size() > 200 || cell.row_span * cell.column_span > 200) continue;
    for (int r = 0; r < cell.row_span; ++r) {
      for (int c = 0; c < cell.column_span; ++c) {
        if (!taken.emplace(cell.row + r, cell.column + c).second) std::abort();
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lectern::reading;
  const std::string_view markdown(reinterpret_cast<const char*>(data), size);
  PageResult page;
  page.blocks = blocks_of_markdown(markdown);
  for (const Block& block : page.blocks) {
    if (block.kind == BlockKind::heading && (block.level < 1 || block.level > 6)) std::abort();
    if (block.kind == BlockKind::list_item && (block.level < 0 || block.level > 8)) std::abort();
    if (block.kind == BlockKind::table) check(block.table);
  }
  // A word between blank lines at the beginning cannot be swallowed by anything.
  const std::string with_word = "Word\n\n" + std::string(markdown);
  const auto blocks = blocks_of_markdown(with_word);
  if (blocks.empty() || blocks.front().text != "Word") std::abort();
  (void)to_markdown(page);
  (void)to_text(page);
  (void)to_html(page);
  return 0;
}
