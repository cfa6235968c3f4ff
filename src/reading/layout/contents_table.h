// Lines of a table of contents: text, leaders, page number → rows of a table without the dots.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "reading/layout/paragraphs.h"
#include "reading/page_result.h"

namespace lectern::reading::layout {

// `entries` are groups with `toc` set, one after the other.
Block contents_table(std::span<const Group> entries);

// "1.1 Roles . . . . 8" → {"1.1 Roles", "8"}.
struct ContentsEntry {
  std::string title;
  std::string page;
};
ContentsEntry split_leaders(std::u32string_view text);

}  // namespace lectern::reading::layout
