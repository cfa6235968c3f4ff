#include <string>
#include <vector>

#include "reading/output/escape.h"
#include "reading/output/inline_markdown.h"
#include "reading/output/joined_blocks.h"
#include "reading/output/render.h"

namespace lectern::reading {
namespace {

std::string inline_of(const Block& block) {
  return block.markdown.empty() ? escape_markdown(block.text) : block.markdown;
}

// A fence longer than any run of backticks inside.
std::string fence_for(std::string_view code) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : code) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(std::max<std::size_t>(3, longest + 1), '`');
}

bool needs_html(const Table& table) {
  for (const TableCell& cell : table.cells) {
    if (cell.row_span > 1 || cell.column_span > 1) return true;
  }
  return table.rows < 1 || table.columns < 1;
}

std::string html_table(const Table& table) {
  std::string out = "<table>\n";
  std::size_t next = 0;
  for (int r = 0; r < table.rows; ++r) {
    out += "  <tr>";
    for (; next < table.cells.size() && table.cells[next].row <= r; ++next) {
      const TableCell& cell = table.cells[next];
      const std::string tag = cell.header ? "th" : "td";
      out += "<" + tag;
      if (cell.row_span > 1) out += " rowspan=\"" + std::to_string(cell.row_span) + "\"";
      if (cell.column_span > 1) out += " colspan=\"" + std::to_string(cell.column_span) + "\"";
      out += ">" + inline_html(cell.text) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table>";
}

std::string pipe_table(const Table& table) {
  std::vector<std::vector<std::string>> grid(static_cast<std::size_t>(table.rows),
                                             std::vector<std::string>(static_cast<std::size_t>(table.columns)));
  for (const TableCell& cell : table.cells) {
    if (cell.row < 0 || cell.row >= table.rows || cell.column < 0 || cell.column >= table.columns) continue;
    grid[static_cast<std::size_t>(cell.row)][static_cast<std::size_t>(cell.column)] = table_cell(cell.text);
  }
  std::string out;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    out += "|";
    for (const std::string& cell : grid[r]) out += " " + cell + (cell.empty() ? "|" : " |");
    out += "\n";
    if (r != 0) continue;
    out += "|";
    for (std::size_t c = 0; c < grid[r].size(); ++c) out += " --- |";
    out += "\n";
  }
  out.pop_back();
  return out;
}

std::string list_line(const Block& block) {
  const std::string indent(static_cast<std::size_t>(block.level) * 4, ' ');
  // Markdown knows "-" and "1."; other printed marks ("a)", "(iv)") stay visible as text of a bullet.
  const bool number = block.marker.size() > 1 && block.marker.size() < 11 && block.marker.back() == '.' &&
                      block.marker.find_first_not_of("0123456789") == block.marker.size() - 1;
  std::string text = inline_of(block);
  if (text.starts_with('[')) text = guard_block_start(std::move(text));
  if (block.marker == "-" || block.marker.empty()) return indent + "- " + text;
  if (number) return indent + block.marker + " " + text;
  return indent + "- " + escape_markdown(block.marker) + " " + text;
}

std::string figure(const Block& block) {
  std::string out = block.file.empty() ? "<!-- figure -->"
                                       : "![" + escape_markdown(block.text.substr(0, block.text.find('\n'))) + "](" +
                                             file_link(block.file) + ")";
  return out;
}

std::string block_markdown(const Block& block) {
  switch (block.kind) {
    case BlockKind::heading:
      return std::string(static_cast<std::size_t>(std::clamp(block.level, 1, 6)), '#') + " " + inline_of(block);
    case BlockKind::list_item:
      return list_line(block);
    case BlockKind::table:
      return needs_html(block.table) ? html_table(block.table) : pipe_table(block.table);
    case BlockKind::figure:
      return figure(block);
    case BlockKind::code: {
      const std::string fence = fence_for(block.text);
      return fence + block.language + "\n" + block.text + "\n" + fence;
    }
    case BlockKind::paragraph:
    case BlockKind::caption:
    case BlockKind::formula:
    case BlockKind::footnote:
      return guard_block_start(inline_of(block));
    case BlockKind::page_header:
    case BlockKind::page_footer:
      return {};
  }
  return {};
}

}  // namespace

std::string to_markdown(const PageResult& page) {
  std::string out;
  const Block* last = nullptr;
  const std::vector<Block> blocks = joined_blocks(page.blocks);
  for (const Block& block : blocks) {
    const std::string text = block_markdown(block);
    if (text.empty()) continue;
    if (last != nullptr)
      out += last->kind == BlockKind::list_item && block.kind == BlockKind::list_item ? "\n" : "\n\n";
    out += text;
    last = &block;
  }
  if (!out.empty()) out += '\n';
  return out;
}

}  // namespace lectern::reading
