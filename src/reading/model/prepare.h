// A page → the picture that a model sees. Looked at once (what is on it, which way is up), drawn as often as the ladder
// wants it: whole, smaller, or in parts.
#pragma once

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <optional>
#include <string>

#include "base/async.h"
#include "base/error.h"
#include "base/geometry.h"
#include "document/renderer_pool.h"
#include "provider/provider.h"
#include "reading/model/model_reader.h"
#include "reading/model/page_gate.h"
#include "reading/model/sizing.h"
#include "vision/ocr_pool.h"

namespace lectern::reading {

// What a page holds, as far as asking about it needs.
struct PageLook {
  int page_number = 0;
  SizePt stored_size;           // as the renderer knows the page
  PageShape shape;              // of the upright page
  int rotation = 0;             // clockwise, makes it upright
  bool rotation_known = false;  // a scan's is found with its first picture
  bool blank = false;           // there is nothing on it
  bool gray = false;            // stored without colour
  std::string words;            // of a trusted text layer; empty = nothing is known
  std::string content_class;    // "text", "diagram", "blank", or "" while that cannot be told
  bool turned_by_model = false;
  document::PageHold hold;  // its renderer has it loaded until the first picture is drawn

  // A model says that what it was shown lies on its side.
  void turn_further(int clockwise_degrees);
};

struct DrawOptions {
  SizePx size;                 // of the upright picture
  std::optional<RectPt> part;  // of the upright page; nothing = all of it
};

struct PreparerOptions {
  bool auto_rotate = true;
  PictureFormat format = PictureFormat::jpeg;
  int jpeg_quality = 90;
  std::string languages = "eng";
  std::string tessdata_folder;
};

// Safe from any thread; documents are borrowed for the length of a call.
class PagePreparer {
 public:
  PagePreparer(PreparerOptions options, CpuPool& cpu);

  boost::asio::awaitable<Result<PageLook>> look(std::shared_ptr<document::OpenDocument> document, int page_number);
  // REQUIRES: `look` lives as long as the call, which may complete it (rotation).
  boost::asio::awaitable<Result<provider::PromptImage>> draw(std::shared_ptr<document::OpenDocument> document,
                                                             PageLook* look, DrawOptions options);
  // Where to cut the upright page in two so that no line of text is hit: a height in points.
  boost::asio::awaitable<Result<float>> find_cut(std::shared_ptr<document::OpenDocument> document,
                                                 const PageLook* look);
  // Pixels of a part of the upright page, for figures.
  boost::asio::awaitable<Result<image::Image>> draw_part(std::shared_ptr<document::OpenDocument> document,
                                                         const PageLook* look, RectPt part, float dpi);

 private:
  boost::asio::awaitable<Result<int>> find_rotation(std::shared_ptr<document::OpenDocument> document,
                                                    const PageLook* look, const image::Image* picture);

  const PreparerOptions options_;
  CpuPool& cpu_;
  // For looks alone: a renderer waits for each, and they would otherwise stand in line behind pictures being encoded.
  CpuPool looks_;
  vision::OcrPool engines_;
  // Few pages need a search for their direction, and each takes an OCR engine and its memory: one at a time.
  const std::shared_ptr<PageGate> searches_;
};

}  // namespace lectern::reading
