// Text that the recogniser's page analysis left out: entries of tables, numbers over their columns, words beside
// pictures, white on dark.
#pragma once

#include <cstddef>
#include <vector>

#include "image/image.h"
#include "vision/ocr.h"

namespace lectern::vision {

// Boxes, with a margin, of glyphs that lie under no word and have the size of the page's text. A bounded number of
// them: a photograph is full of glyph-sized pieces.
struct MissedText {
  std::vector<BoxPx> rows;   // lone glyphs that stand level, where no word was read at all; those with most first
  std::vector<BoxPx> lines;  // neighbouring glyphs, the longest first
};
MissedText find_missed_text(const image::Image& image, const OcrPage& page);

// Puts the words of a line that was read afterwards where a reader would come to it: into the line that it continues,
// else after the nearest line above it. Words under existing ones, and words that were not read surely, are left out;
// when fewer than `words_min` remain, so are they. Returns how many were taken.
int insert_line(OcrPage& page, std::vector<OcrWord> words, std::size_t words_min = 1);

// A row of lone glyphs is text when this many were read surely: of three specks or icons, two may look like letters.
inline constexpr std::size_t row_words_min = 3;

}  // namespace lectern::vision
