// The inline markdown that layout writes → HTML: for cells of HTML tables, where markdown is not read, and for to_html.
#pragma once

#include <string>
#include <string_view>

namespace lectern::reading {

// Knows **, *, ***, ~~, <sup>, <sub>, [text](link) and backslash escapes; everything else is text and is escaped. Only
// safe links survive. Unbalanced marks are text.
std::string inline_html(std::string_view markdown);

}  // namespace lectern::reading
