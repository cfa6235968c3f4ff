// Text that the recogniser's page analysis left out: entries of tables, words beside pictures, white on dark.
#pragma once

#include <vector>

#include "image/image.h"
#include "vision/ocr.h"

namespace lectern::vision {

// Boxes, with a margin, of rows of glyphs that lie under no word and have the size of the page's text; the longest
// first. A bounded number of them: a photograph is full of glyph-sized pieces.
std::vector<BoxPx> find_missed_lines(const image::Image& image, const OcrPage& page);

// Puts the words of a line that was read afterwards where a reader would come to it: into the line that it continues,
// else after the nearest line above it. Words under existing ones, and words that were not read surely, are left out.
// Returns how many were taken.
int insert_line(OcrPage& page, std::vector<OcrWord> words);

}  // namespace lectern::vision
