#include "reading/layout/contents_table.h"

#include "reading/layout/unicode.h"
#include "reading/output/escape.h"

namespace lectern::reading::layout {

ContentsEntry split_leaders(std::u32string_view text) {
  const auto dot = [](char32_t c) { return c == '.' || c == 0x2026 || c == 0x22EF || c == ' '; };
  // The last run of at least five dots or blanks with three dots among them.
  std::size_t end = text.size();
  while (end > 0) {
    while (end > 0 && !dot(text[end - 1])) --end;
    std::size_t start = end;
    int dots = 0;
    while (start > 0 && dot(text[start - 1])) dots += text[--start] == ' ' ? 0 : text[start] == '.' ? 1 : 3;
    if (dots >= 3) {
      std::u32string_view page = text.substr(end);
      return {to_utf8(text.substr(0, start)), to_utf8(page)};
    }
    if (start == end) break;
    end = start;
  }
  return {to_utf8(text), {}};
}

Block contents_table(std::span<const Group> entries) {
  Block block;
  block.kind = BlockKind::table;
  block.table.columns = 2;
  block.bbox = entries.front().box();
  block.font_size_pt = entries.front().size();
  for (const Group& group : entries) {
    std::u32string text;
    for (const Line& l : group.lines) text += (text.empty() ? U"" : U" ") + text_of(l);
    ContentsEntry entry = split_leaders(text);
    block.bbox = union_of(block.bbox, group.box());
    block.text += (block.text.empty() ? "" : "\n") + entry.title + "\t" + entry.page;
    const int row = block.table.rows++;
    block.table.cells.push_back({row, 0, 1, 1, row == 0, escape_markdown(entry.title)});
    block.table.cells.push_back({row, 1, 1, 1, row == 0, escape_markdown(entry.page)});
  }
  return block;
}

}  // namespace lectern::reading::layout
