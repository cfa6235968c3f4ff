// reading/: the page pipeline: prepare → route → ask → judge → assemble, in order, in bounded memory.
// May use: vision/, document/, image/, telemetry/, base/ (and provider/ once models read pages). Knows nothing of
// commands, jobs or HTTP.
// Start here (one page), then read_pages.h (many pages at a time), layout/ (characters → blocks), output/ (blocks →
// files).
#pragma once

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "base/cancellation.h"
#include "base/error.h"
#include "document/renderer_pool.h"
#include "image/image.h"
#include "reading/page_result.h"

namespace lectern {
class CpuPool;
}

namespace lectern::reading {

// Saves a figure's pixels and returns the name to link to, relative to the output. Called on CPU pool threads, possibly
// several at a time. `figure_number` counts from 1 on its page.
using FigureSink = std::function<Result<std::string>(int page_number, int figure_number, const image::Image& pixels)>;

// Turns one page into a page result. Never throws, never fails as a whole: what goes wrong is in PageResult::error and
// PageResult::attempts. Calls may overlap, also for different documents. After a cancellation the page ends soon, with
// an error: a question to a model is ended for real, OCR under way is not.
class PageReader {
 public:
  virtual ~PageReader() = default;
  virtual boost::asio::awaitable<PageResult> read(std::shared_ptr<document::OpenDocument> document, int page_number,
                                                  FigureSink figures, Cancellation cancellation) = 0;
  // What the result depends on beside the document's bytes (reader, languages, versions): equal strings, equal results.
  virtual std::string fingerprint() const = 0;
};

struct BuiltinReaderOptions {
  std::string languages = "eng";
  std::string tessdata_folder;  // empty = the system's
  bool force_ocr = false;       // `lectern ocr`: read pixels even where the text layer is sound
  bool auto_rotate = true;
  std::chrono::milliseconds ocr_time_limit{25'000};  // for one read of one page; 0 = none
};

// The reader that needs no engine: a trusted text layer, else OCR, and both where a digital page holds pictures of
// text. Errors: a language that is not installed (the text says which package brings it).
Result<std::unique_ptr<PageReader>> make_builtin_reader(BuiltinReaderOptions options, CpuPool& cpu);

}  // namespace lectern::reading
