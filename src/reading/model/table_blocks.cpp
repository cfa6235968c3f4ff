#include "reading/model/table_blocks.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "reading/model/inline_plain.h"
#include "reading/model/text_pieces.h"

namespace lectern::reading {
namespace {

using namespace std::string_view_literals;

constexpr int columns_max = 1000;
constexpr std::size_t tag_bytes_max = 300;

bool has_bar(std::string_view line) {
  return line.find('|') != std::string_view::npos;
}

bool is_dashes(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.find_first_not_of("|-: \t") == std::string_view::npos && text.find('-') != std::string_view::npos &&
         has_bar(text);
}

bool between_bars(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.size() > 1 && text.front() == '|' && text.back() == '|';
}

// Cells of a line: bars that are escaped or stand in `code` or $math$ separate nothing.
std::vector<std::string> cells_of(std::string_view line) {
  std::string_view text = trimmed(line);
  if (text.starts_with('|')) text.remove_prefix(1);
  std::vector<std::string> cells(1);
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) {
      if (text[i + 1] != '|') cells.back() += '\\';
      cells.back() += text[++i];
      continue;
    }
    if (text[i] == '`') code = !code && text.find('`', i + 1) != std::string_view::npos;
    if (text[i] == '|' && !code) {
      if (i + 1 < text.size()) cells.emplace_back();
      continue;
    }
    cells.back() += text[i];
  }
  return cells;
}

std::string cell_text(std::string_view markdown) {
  return std::string(trimmed(inline_text_of(trimmed(markdown)).markdown));
}

// Puts cells where the rows above leave room.
class Grid {
 public:
  void next_row() {
    ++row_;
    column_ = 0;
    for (int& rows : covered_) rows = std::max(0, rows - 1);
  }
  void add(TableCell cell) {
    if (row_ < 0) next_row();
    while (column_ < static_cast<int>(covered_.size()) && covered_[static_cast<std::size_t>(column_)] > 0) ++column_;
    if (column_ >= columns_max) {  // no table of a page: keep the words
      if (!table_.cells.empty()) table_.cells.back().text += " " + cell.text;
      return;
    }
    cell.row = row_;
    cell.column = column_;
    cell.column_span = std::clamp(cell.column_span, 1, columns_max - column_);
    cell.row_span = std::clamp(cell.row_span, 1, columns_max);
    const int end = column_ + cell.column_span;
    if (static_cast<int>(covered_.size()) < end) covered_.resize(static_cast<std::size_t>(end));
    for (int c = column_; c < end; ++c) {
      int& rows = covered_[static_cast<std::size_t>(c)];
      if (rows > 0) {  // a cell from above stands in the way: this one ends before it
        cell.column_span = c - cell.column;
        break;
      }
      rows = cell.row_span;
    }
    column_ = cell.column + cell.column_span;
    table_.cells.push_back(std::move(cell));
  }
  Table finish() {
    table_.rows = row_ + 1;
    table_.columns = static_cast<int>(covered_.size());
    for (TableCell& cell : table_.cells) cell.row_span = std::min(cell.row_span, table_.rows - cell.row);
    return std::move(table_);
  }

 private:
  Table table_;
  std::vector<int> covered_;  // for each column: rows that are taken, this one included
  int row_ = -1;
  int column_ = 0;
};

int span_of(std::string_view tag, std::string_view name) {
  const std::string text = lower(tag);
  std::size_t at = text.find(name);
  if (at == std::string::npos) return 1;
  at = text.find_first_not_of(" =\"'", at + name.size());
  int value = 1;
  if (at != std::string::npos) std::from_chars(text.data() + at, text.data() + text.size(), value);
  return std::clamp(value, 1, columns_max);
}

std::string tag_name(std::string_view tag) {
  std::size_t end = tag.starts_with('/') ? 1 : 0;
  while (end < tag.size() && std::isalnum(static_cast<unsigned char>(tag[end])) != 0) ++end;
  return lower(tag.substr(0, end));
}

constexpr std::array table_tags = {"table"sv,    "/table"sv, "thead"sv,    "/thead"sv,   "tbody"sv,
                                   "/tbody"sv,   "tfoot"sv,  "/tfoot"sv,   "tr"sv,       "/tr"sv,
                                   "td"sv,       "/td"sv,    "th"sv,       "/th"sv,      "caption"sv,
                                   "/caption"sv, "col"sv,    "colgroup"sv, "/colgroup"sv};

}  // namespace

std::size_t pipe_table_lines(std::span<const std::string_view> lines) {
  std::size_t count = 0;
  if (lines.size() >= 2 && has_bar(lines[0]) && !is_dashes(lines[0]) && is_dashes(lines[1])) {
    count = 2;
    while (count < lines.size() && has_bar(lines[count])) ++count;
    return count;
  }
  while (count < lines.size() && between_bars(lines[count])) ++count;
  return count >= 2 ? count : 0;
}

Table pipe_table(std::span<const std::string_view> lines) {
  std::vector<std::vector<std::string>> rows;
  bool header = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_dashes(lines[i])) {
      header = header || (i == 1);
      if (i < 2) continue;
      if (cells_of(lines[i]).size() > 1 || between_bars(lines[i])) continue;  // models draw more of them
    }
    rows.push_back(cells_of(lines[i]));
  }
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  Table table{.rows = static_cast<int>(rows.size()), .columns = static_cast<int>(columns), .cells = {}};
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      table.cells.push_back({.row = static_cast<int>(r),
                             .column = static_cast<int>(c),
                             .header = header && r == 0,
                             .text = c < rows[r].size() ? cell_text(rows[r][c]) : std::string{}});
    }
  }
  return table;
}

HtmlTable html_table(std::string_view text) {
  HtmlTable out;
  Grid grid;
  std::string content;  // of the open cell, or what stands in none
  bool in_cell = false;
  bool in_head = false;
  bool row_open = false;
  TableCell cell;
  int depth = 0;
  const auto close_cell = [&] {
    const std::string inner = cell_text(content);
    content.clear();
    if (in_cell) {
      cell.text = inner;
      if (!row_open) grid.next_row(), row_open = true;
      grid.add(cell);
    } else if (!inner.empty()) {
      if (!out.stray.empty()) out.stray += '\n';
      out.stray += inner;
    }
    in_cell = false;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = text[i] == '<' ? text.substr(i, tag_bytes_max).find('>') : std::string_view::npos;
    const std::size_t end = length == std::string_view::npos ? length : i + length;
    const std::string_view tag = end == std::string_view::npos ? ""sv : text.substr(i + 1, length - 1);
    const std::string name = end == std::string_view::npos ? "" : tag_name(tag);
    if (std::ranges::find(table_tags, name) == table_tags.end()) {
      content += text[i] == '\n' ? ' ' : text[i];
      ++i;
      continue;
    }
    i = end + 1;
    if (name == "table") {
      if (++depth > 1) content += ' ';  // a table in a cell: its words stay in the cell
    } else if (name == "/table") {
      if (--depth <= 0) break;
      content += ' ';
    } else if (depth > 1) {
      content += ' ';
    } else if (name == "tr" || name == "/tr" || name == "/thead" || name == "/tbody") {
      close_cell();
      if (name == "tr") grid.next_row();
      row_open = name == "tr";
      if (name == "/thead") in_head = false;
    } else if (name == "td" || name == "th") {
      close_cell();
      in_cell = true;
      cell = {.row_span = span_of(tag, "rowspan"),
              .column_span = span_of(tag, "colspan"),
              .header = name == "th" || in_head,
              .text = {}};
    } else {
      close_cell();
      if (name == "thead") in_head = true;
    }
  }
  close_cell();
  out.table = grid.finish();
  out.length = i;
  return out;
}

}  // namespace lectern::reading
