// Tables as models write them → Table: pipes or HTML.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "reading/page_result.h"

namespace lectern::reading {

// How many of the lines at the beginning are a pipe table: a header with a line of dashes under it, or at least two
// lines that begin and end with a bar. 0 = none.
std::size_t pipe_table_lines(std::span<const std::string_view> lines);
Table pipe_table(std::span<const std::string_view> lines);

struct HtmlTable {
  Table table;
  std::string stray;       // text inside the table but in no cell: captions, mostly
  std::size_t length = 0;  // bytes of it, with </table>; one that is not closed ends with the text
};
// `text` begins with "<table".
HtmlTable html_table(std::string_view text);

}  // namespace lectern::reading
