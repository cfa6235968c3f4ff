#include <string>

#include "reading/output/escape.h"
#include "reading/output/html_lists.h"
#include "reading/output/inline_markdown.h"
#include "reading/output/joined_blocks.h"
#include "reading/output/render.h"

namespace lectern::reading {
namespace {

std::string with_breaks(const std::string& text) {
  std::string out;
  for (const char c : escape_html(text)) {
    if (c == '\n')
      out += "<br>";
    else
      out += c;
  }
  return out;
}

std::string table_html(const Table& table) {
  std::string out = "<table>\n";
  std::size_t next = 0;
  for (int r = 0; r < table.rows; ++r) {
    out += "<tr>";
    for (; next < table.cells.size() && table.cells[next].row <= r; ++next) {
      const TableCell& cell = table.cells[next];
      const std::string tag = cell.header ? "th" : "td";
      out += "<" + tag;
      if (cell.row_span > 1) out += fmt::format(" rowspan=\"{}\"", cell.row_span);
      if (cell.column_span > 1) out += fmt::format(" colspan=\"{}\"", cell.column_span);
      out += ">" + inline_html(cell.text) + "</" + tag + ">";
    }
    out += "</tr>\n";
  }
  return out + "</table>";
}

std::string element(std::string_view tag, std::string_view kind, const std::string& inner) {
  return kind.empty() ? fmt::format("<{0}>{1}</{0}>", tag, inner)
                      : fmt::format("<{0} class=\"{1}\">{2}</{0}>", tag, kind, inner);
}

std::string block_html(const Block& block) {
  const std::string text = block.markdown.empty() ? with_breaks(block.text) : inline_html(block.markdown);
  switch (block.kind) {
    case BlockKind::heading:
      return element("h" + std::to_string(std::clamp(block.level, 1, 6)), "", text);
    case BlockKind::paragraph:
      return element("p", "", text);
    case BlockKind::list_item:
      return text;
    case BlockKind::table:
      return table_html(block.table);
    case BlockKind::figure:
      return block.file.empty() ? "<figure></figure>"
                                : fmt::format("<figure><img src=\"{}\" alt=\"{}\"></figure>",
                                              escape_html(file_link(block.file)), escape_html(block.text));
    case BlockKind::caption:
      return element("p", "caption", text);
    case BlockKind::code:
      return "<pre><code>" + escape_html(block.text) + "</code></pre>";
    case BlockKind::formula:
      return element("p", "formula", text);
    case BlockKind::footnote:
      return element("p", "footnote", text);
    case BlockKind::page_header:
    case BlockKind::page_footer:
      return {};
  }
  return {};
}

}  // namespace

std::string to_html(const PageResult& page) {
  std::string out = fmt::format("<section data-page=\"{}\">\n", page.page);
  HtmlLists lists(out);
  for (const Block& block : joined_blocks(page.blocks)) {
    const std::string html = block_html(block);
    if (block.kind == BlockKind::list_item) {
      lists.add(block, html);
    } else if (!html.empty()) {
      lists.close();
      out += html + "\n";
    }
  }
  lists.close();
  return out + "</section>\n";
}

}  // namespace lectern::reading
