// Escaping for markdown and HTML: as much as is needed for the text to show as it is, and no more, because people read
// the markdown raw.
#pragma once

#include <string>
#include <string_view>

namespace lectern::reading {

// Inline text: what would be taken for emphasis, code, a link or a tag. Nothing about the beginnings of lines.
std::string escape_markdown(std::string_view text);
// The same between the brackets of a link: "![x](y)" there would be a picture, fetched from wherever the text says.
std::string escape_link_text(std::string_view text);
// The first characters of a block, where "#", "1." or "-" would make it something else. `markdown` is already inline
// markdown.
std::string guard_block_start(std::string markdown);
// A cell of a pipe table: one line, without a bare "|".
std::string table_cell(std::string_view markdown);
std::string escape_html(std::string_view text);
// Only links that are safe to click: http, https, mailto.
bool safe_link(std::string_view uri);
// A file's relative path as the target of a link: what markdown or a browser would take for something else is
// percent-encoded ("My report.figures/page-1-1.png" has a blank).
std::string file_link(std::string_view path);

}  // namespace lectern::reading
