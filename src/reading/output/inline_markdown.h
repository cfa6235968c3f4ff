// The inline markdown that layout writes → HTML (for cells of HTML tables, where markdown is not read, and for to_html)
// and → plain text.
#pragma once

#include <string>
#include <string_view>

namespace lectern::reading {

// Knows **, *, ***, ~~, `code`, <sup>, <sub>, [text](link) and backslash escapes; everything else is text and is
// escaped. Only safe links survive. Unbalanced marks are text.
std::string inline_html(std::string_view markdown);
// The same without marks and targets of links; line breaks stay '\n'. Undoes escape_markdown.
std::string inline_plain(std::string_view markdown);

}  // namespace lectern::reading
