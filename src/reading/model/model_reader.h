// A page reader that asks models: prepare → ask → judge → fall back, one page at a time, many at once. What the ladder
// tries and in which order is decided in ladder.h; how a page becomes a picture in prepare.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/provider.h"
#include "reading/model/sizing.h"
#include "reading/page_reader.h"

namespace lectern::reading {

class ReplyCache;

struct PageModel {
  provider::Provider* provider = nullptr;  // borrowed, usually a fleet; must outlive the reader
  std::string name;  // as the engine calls it. Part of the fingerprint: give what the server answers, not "".
  SizePolicy size;
  std::string system;
  std::string prompt;  // empty = the family's own (prompts/)
  provider::Parameters parameters;
  std::string engine_extras;  // what its engines add to every request by themselves: results depend on it
};

enum class PictureFormat : std::uint8_t { jpeg, png };

struct ModelReaderOptions {
  std::vector<PageModel> models;  // the first reads; the others are asked about what it cannot do, in this order
  PageReader* builtin = nullptr;  // the ladder's last rung but one; null = straight to the placeholder. Borrowed.
  std::chrono::milliseconds page_timeout{300'000};  // from a page's first question on, retries included
  // Below this the next model is asked too, and the better answer kept. Means nothing without a second model.
  double confidence_min = 0.85;
  bool auto_rotate = true;
  PictureFormat picture_format = PictureFormat::jpeg;
  int jpeg_quality = 90;
  std::string languages = "eng";  // for the short trial reads that tell which way is up
  std::string tessdata_folder;
  // How many pages may be prepared or asked about at once; asked again whenever window_changed() is called. Usually the
  // fleet's limit and a little more.
  std::function<int()> pages_max;
  ReplyCache* cache = nullptr;  // null = every page is asked about. Borrowed.
};

class ModelReader : public PageReader {
 public:
  // The value of pages_max may have grown. Safe from any thread.
  virtual void window_changed() = 0;
};

// Errors: no model, or one without a provider.
Result<std::unique_ptr<ModelReader>> make_model_reader(ModelReaderOptions options, CpuPool& cpu, const Clock& clock);

// What a page that could not be read leaves in the text: "[VLM_ERROR page 7]: message".
std::string page_placeholder(int page_number, std::string_view message);

}  // namespace lectern::reading
