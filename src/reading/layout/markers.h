// The signs that open things: list items, captions, footnotes, numbered headings. Judged by text alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reading/layout/lines.h"

namespace lectern::reading::layout {

struct ListMarker {
  std::size_t words = 0;  // how many words of the line it takes
  std::string text;       // "-" for bullets, "1." "a)" "iv." as printed
  bool bullet = false;
  float content_x = 0;  // where the item's text starts
};

// The marker that opens `line`, when there is one with text after it (or alone, as the column of bullets of some
// files).
std::optional<ListMarker> list_marker(const Line& line);

// True for text that is nothing but a marker: "•", "3.", "[12]", "(a)".
bool is_marker_text(std::u32string_view text);
bool is_numeric_text(std::u32string_view text);

// "Figure 3:", "Table 2.1", "Listing 4", and the same in the languages we meet most.
bool opens_caption(std::u32string_view text);
// The same, and so written that it cannot be a sentence such as "Table 2 shows that…".
bool opens_caption_surely(std::u32string_view text);

// "2.1.3 Title" → 3; "1 Title", "IV. Title", "A. Title" → 1; 0 when there is no number.
int numbering_depth(std::string_view text);

// "12", "†", "*", "3)" at the start of a note: its length in characters, else 0.
std::size_t note_mark(std::u32string_view text);

// A line of a table of contents: text, leaders, page number.
bool has_leaders(std::u32string_view text);

}  // namespace lectern::reading::layout
