// Replies of models: any bytes give a page. Its text is sound UTF-8, its boxes lie on the page, its figures are blocks,
// and what judges it gives a confidence.
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "reading/model/judge.h"
#include "reading/model/repetition.h"
#include "reading/model/reply_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lectern;
  using namespace lectern::reading;
  const std::string_view reply(reinterpret_cast<const char*>(data), size);
  ReplyText text = reply_text(reply, {.page_size = {595, 842}});
  if (!simdjson::validate_utf8(text.markdown)) std::abort();
  if (text.said_nothing && !text.markdown.empty()) std::abort();
  for (const Block& block : text.blocks) {
    if (!simdjson::validate_utf8(block.text) || !simdjson::validate_utf8(block.markdown)) std::abort();
    if (block.bbox.x0 < 0 || block.bbox.y0 < 0 || block.bbox.x1 > 596 || block.bbox.y1 > 843) std::abort();
  }
  for (const ReplyFigure& figure : text.figures) {
    if (figure.block >= text.blocks.size() || text.blocks[figure.block].kind != BlockKind::figure) std::abort();
    if (figure.box.empty()) std::abort();
  }
  name_figures(text, {"a.png"});
  if (text.markdown.find("](figure:") != std::string::npos) std::abort();

  RepetitionDetector detector;
  detector.add(reply.substr(0, size / 2));
  detector.add(reply.substr(size / 2));
  if (detector.found() != nullptr && detector.found()->begins_at > size) std::abort();
  provider::Reply answer;
  const auto judgement = judge_reply({.reply = answer,
                                      .text = text.markdown,
                                      .loop = detector.found(),
                                      .evidence = {.words = reply.substr(size / 3), .blank = false}});
  if (!(judgement.confidence >= 0 && judgement.confidence <= 1) || judgement.why.empty()) std::abort();
  return 0;
}
