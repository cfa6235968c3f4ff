// layout/: from characters or OCR words to blocks in reading order: columns, headings, paragraphs, lists, tables,
// figures, captions, code, footnotes. Pure functions: no files, clocks or threads; any input gives some blocks.
#pragma once

#include <string>
#include <vector>

#include "document/page_content.h"
#include "reading/page_result.h"
#include "vision/ocr.h"
#include "vision/orientation.h"

namespace lectern::reading {

// Whether a page's text layer says what the page shows.
enum class TextLayer {
  trusted,
  missing,    // no characters to speak of
  garbled,    // glyphs without Unicode values, private-use or nonsense text, wrong encoding
  invisible,  // an OCR layer laid invisibly over a scan
};

struct TextLayerJudgement {
  TextLayer verdict = TextLayer::missing;
  double score = 0;  // 0..1, how much of the layer looks like language in a sound encoding
  std::string why;   // one sentence for people
};
TextLayerJudgement judge_text_layer(const document::PageContent& content);

// The blocks of a digital page. Figures (pictures and drawings worth keeping) become blocks of kind figure with their
// box and whatever text lies inside a drawing; `file` stays empty until someone saves the pixels.
std::vector<Block> layout_text_layer(const document::PageContent& content);

struct OcrLayoutInput {
  const vision::OcrPage& words;
  const vision::Rulings& rulings;
  SizePt page_size;
  float px_per_pt = 1;
};
std::vector<Block> layout_ocr(const OcrLayoutInput& input);

}  // namespace lectern::reading
