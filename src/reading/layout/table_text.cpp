#include "reading/layout/table_text.h"

#include <algorithm>
#include <set>

#include "reading/layout/markers.h"
#include "reading/output/escape.h"

namespace lectern::reading::layout {
namespace {

// Renumbers rows or columns so that the empty ones vanish. `first` and `span` name the axis.
void squeeze(std::vector<CellLines>& cells, int GridCell::* first, int GridCell::* span) {
  std::set<int> used;
  for (const CellLines& c : cells) {
    if (!c.lines.empty()) used.insert(c.cell.*first);
  }
  std::erase_if(cells, [&](const CellLines& c) {
    const auto from = used.lower_bound(c.cell.*first);
    return from == used.end() || *from >= c.cell.*first + c.cell.*span;
  });
  for (CellLines& c : cells) {
    const auto from = used.lower_bound(c.cell.*first);
    const auto to = used.lower_bound(c.cell.*first + c.cell.*span);
    const auto at = static_cast<int>(std::distance(used.begin(), from));
    c.cell.*span = std::max(1, static_cast<int>(std::distance(from, to)));
    c.cell.*first = at;
  }
}

// Dots that lead the eye from one column to the next say nothing in a table.
std::string without_leaders(std::string text) {
  std::size_t end = text.size();
  int dots = 0;
  while (end > 0 && (text[end - 1] == '.' || text[end - 1] == ' ')) dots += text[--end] == '.' ? 1 : 0;
  if (dots >= 5 && end > 0) text.resize(end);
  return text;
}

bool whole_row_bold(const std::vector<CellLines>& cells, int row) {
  bool any = false;
  for (const CellLines& c : cells) {
    if (c.cell.row != row) continue;
    for (const Line& l : c.lines) {
      any = true;
      if (!l.bold) return false;
    }
  }
  return any;
}

}  // namespace

std::string cell_text(const std::vector<Line>& lines, const BlockContext& context, bool emphasis) {
  std::string out;
  std::size_t from = 0;
  const auto flush = [&](std::size_t to) {
    if (to <= from) return;
    const std::optional<ListMarker> marker = list_marker(lines[from]);
    const bool bullet = marker && marker->bullet;
    const InlineText text = inline_text(std::span(lines).subspan(from, to - from), context.links, context.vocabulary,
                                        {.emphasis = emphasis, .skip_words = bullet ? marker->words : 0});
    if (!out.empty()) out += '\n';
    if (bullet) out += "- ";
    out += text.markdown.empty() ? escape_markdown(text.text) : text.markdown;
    from = to;
  };
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const bool item = list_marker(lines[i]).has_value();
    const bool apart = lines[i].baseline - lines[i - 1].baseline > 1.7F * std::max(lines[i].size, lines[i - 1].size);
    if (item || apart) flush(i);
  }
  flush(lines.size());
  return without_leaders(std::move(out));
}

Block table_block(std::vector<CellLines> cells, const RectPt& box, const BlockContext& context) {
  squeeze(cells, &GridCell::row, &GridCell::row_span);
  squeeze(cells, &GridCell::column, &GridCell::column_span);
  // A table of right-to-left text begins with its rightmost column.
  std::ptrdiff_t rtl = 0;
  std::ptrdiff_t lines = 0;
  int columns = 0;
  for (const CellLines& c : cells) {
    rtl += std::ranges::count_if(c.lines, &Line::rtl);
    lines += std::ssize(c.lines);
    columns = std::max(columns, c.cell.column + c.cell.column_span);
  }
  if (rtl * 2 > lines) {
    for (CellLines& c : cells) c.cell.column = columns - c.cell.column - c.cell.column_span;
  }
  std::ranges::sort(cells, [](const CellLines& a, const CellLines& b) {
    return a.cell.row != b.cell.row ? a.cell.row < b.cell.row : a.cell.column < b.cell.column;
  });
  Block block;
  block.kind = BlockKind::table;
  block.bbox = box;
  const bool bold_header = whole_row_bold(cells, 0);
  int chars = 0;
  double size = 0;
  for (const CellLines& c : cells) {
    TableCell cell;
    cell.row = c.cell.row;
    cell.column = c.cell.column;
    cell.row_span = c.cell.row_span;
    cell.column_span = c.cell.column_span;
    cell.header = c.cell.row == 0;
    cell.text = cell_text(c.lines, context, !(bold_header && c.cell.row == 0));
    block.table.rows = std::max(block.table.rows, cell.row + cell.row_span);
    block.table.columns = std::max(block.table.columns, cell.column + cell.column_span);
    for (const Line& l : c.lines) {
      if (!block.text.empty())
        block.text += l.baseline == c.lines.front().baseline && &l == &c.lines.front() ? '\t' : ' ';
      block.text += inline_text({&l, 1}, context.links, context.vocabulary).text;
      chars += l.chars;
      size += static_cast<double>(l.size) * l.chars;
    }
    block.table.cells.push_back(std::move(cell));
  }
  block.font_size_pt = chars > 0 ? static_cast<float>(size / chars) : 0;
  return block;
}

}  // namespace lectern::reading::layout
