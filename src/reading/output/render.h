// output/: page results → markdown, HTML, plain text, JSON. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "reading/page_result.h"

namespace lectern::reading {

enum class OutputFormat { markdown, json, text, html };

// GitHub-flavoured markdown of one page, ending in one newline unless empty. Running headers and footers are left out.
// Tables whose cells span rows or columns, or hold several lines, come as HTML tables.
std::string to_markdown(const PageResult& page);
std::string to_text(const PageResult& page);
// An HTML fragment (no <html>): <section data-page="3">…</section>. All text is escaped; only http(s)/mailto links.
std::string to_html(const PageResult& page);

}  // namespace lectern::reading
