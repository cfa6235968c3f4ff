// Running headers, footers and page numbers: lines in the margins that come again, give or take a number, on pages
// nearby.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reading/page_result.h"

namespace lectern::reading::layout {

// A line that stands near the top or bottom edge of its page.
struct MarginLine {
  int block = 0;  // index into the page's blocks
  bool top = false;
  std::string shape;  // the text with its numbers replaced, in lower case
  float y = 0;        // the middle, as a share of the page's height
  float size = 0;
  bool numbered = false;  // is, begins or ends with what may be a page number
  bool only_number = false;
  bool tall = false;  // more than one line
  bool note = false;  // looks like a footnote: numbered and small, but its own
};

std::vector<MarginLine> margin_lines(const PageResult& page);

// "page 12 of 30" → "page # of #". Roman numerals that stand alone count as numbers.
std::string shape_of(std::string_view text);

// For every page, which of its margin lines run.
std::vector<std::vector<bool>> find_running(const std::vector<std::vector<MarginLine>>& pages, float body_size);

}  // namespace lectern::reading::layout
