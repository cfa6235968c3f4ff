// What a model wrote → markdown and blocks of a page. Replies are data: parsed, never evaluated.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/geometry.h"
#include "reading/page_result.h"

namespace lectern::reading {

struct ReplyContext {
  SizePt page_size;  // upright: boxes come back in its points
};

// A figure that the model pointed at: cropped from the page and linked by whoever has the pixels.
struct ReplyFigure {
  RectPt box;
  std::size_t block = 0;  // its block; markdown holds the link target "figure:<index>" until the file has a name
};

struct ReplyText {
  std::string markdown;
  std::vector<Block> blocks;  // of the same text; boxes only where the model gave them
  std::vector<ReplyFigure> figures;
  std::optional<int> rotation;  // olmOCR's front matter: the clockwise turn that the model would like
  bool diagram = false;         // front matter says so
  bool said_nothing = false;    // front matter or reply says that there is no text
};

// Handles DeepSeek-OCR's grounding grammar (<|ref|>…<|/ref|><|det|>…<|/det|>, coordinates over 999, also damaged), the
// front matter of olmOCR, fences around the whole answer, chatty preambles and closing remarks, <think> sections,
// leftover special tokens, \r\n, and runs of blank lines.
ReplyText reply_text(std::string_view reply, const ReplyContext& context);

// GitHub markdown (and HTML tables inside it) → blocks, so that a model's page can become text, HTML and JSON like any
// other.
std::vector<Block> blocks_of_markdown(std::string_view markdown);

// Puts the names of saved figures into the links; those without a name lose their link.
void name_figures(ReplyText& text, const std::vector<std::string>& files);

}  // namespace lectern::reading
