// Recognised words → the words and lines that the rest of layout works with.
#pragma once

#include <vector>

#include "reading/layout/paragraphs.h"
#include "vision/ocr.h"

namespace lectern::reading::layout {

struct OcrLine {
  Line line;
  int block = 0;
  int paragraph = 0;
};

// In points. Word::order is the index into page.words. Specks read as text are left out; so are pieces of rulings.
std::vector<Word> ocr_words(const vision::OcrPage& page, float px_per_pt, bool has_rulings);

// `words` as ocr_words gave them, some perhaps taken away. The engine's order is kept.
std::vector<OcrLine> ocr_lines(const std::vector<Word>& words, const vision::OcrPage& page);

// Heights of recognised lines scatter, so those near the usual one are set to it.
PageStyle ocr_style(std::vector<OcrLine>& lines, SizePt page);

}  // namespace lectern::reading::layout
