// The OcrEngine over Tesseract's library.
#include <tesseract/baseapi.h>
#include <tesseract/ocrclass.h>
#include <tesseract/osdetect.h>
#include <tesseract/resultiterator.h>

#include <algorithm>
#include <clocale>
#include <exception>
#include <new>
#include <span>
#include <utility>

#include "image/transform.h"
#include "vision/abort_guard.h"
#include "vision/languages.h"
#include "vision/line_images.h"
#include "vision/mend_page.h"
#include "vision/missed_text.h"
#include "vision/ocr.h"
#include "vision/pix.h"
#include "vision/single_thread.h"

namespace lectern::vision {
namespace {

// Tesseract keeps coordinates in 16 bits.
constexpr int side_px_max = 32'000;
// Below this there is no letter, and its layout analysis divides by what it found.
constexpr int side_px_min = 4;

tesseract::PageSegMode mode_of(OcrLayout layout) {
  switch (layout) {
    case OcrLayout::page:
      return tesseract::PSM_AUTO;
    case OcrLayout::single_block:
      return tesseract::PSM_SINGLE_BLOCK;
    case OcrLayout::sparse:
      return tesseract::PSM_SPARSE_TEXT;
    case OcrLayout::single_line:
      return tesseract::PSM_SINGLE_LINE;
  }
  std::unreachable();
}

// An image of one tone has nothing to read, but Tesseract sees letters in it when told that it is a line.
bool is_flat(const image::Image& image) {
  constexpr int contrast_min = 8;
  const auto [low, high] = std::ranges::minmax(image.pixels);
  return high - low < contrast_min;
}

bool is_readable(const image::Image& image) {
  return image.width_px >= side_px_min && image.height_px >= side_px_min && image.width_px <= side_px_max &&
         image.height_px <= side_px_max && !is_flat(image);
}

bool is_blank(const char* text) {
  for (; *text != '\0'; ++text) {
    if (static_cast<unsigned char>(*text) > ' ') return false;
  }
  return true;
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; }));
}

// Walks the recognised words in the order of the iterator: LTRResultIterator goes from left to right in each line,
// ResultIterator in reading order. A template, as their texts differ too and GetUTF8Text() is not virtual.
template <class Iterator>
std::vector<OcrWord> collect_words(Iterator& it) {
  std::vector<OcrWord> words;
  int block = -1;
  int paragraph = -1;
  int line = -1;
  do {
    // An area that is a picture has a place in the order, and no words.
    if (it.IsAtBeginningOf(tesseract::RIL_BLOCK)) ++block;
    if (it.IsAtBeginningOf(tesseract::RIL_PARA)) ++paragraph;
    if (it.IsAtBeginningOf(tesseract::RIL_TEXTLINE)) ++line;
    if (it.Empty(tesseract::RIL_WORD)) continue;
    const std::unique_ptr<char[]> text(it.GetUTF8Text(tesseract::RIL_WORD));
    if (!text || is_blank(text.get())) continue;
    OcrWord word;
    word.text = text.get();
    if (!it.BoundingBox(tesseract::RIL_WORD, &word.box.x0, &word.box.y0, &word.box.x1, &word.box.y1)) continue;
    word.confidence = std::clamp(it.Confidence(tesseract::RIL_WORD) / 100.0F, 0.0F, 1.0F);
    word.block = block;
    word.paragraph = paragraph;
    word.line = line;
    word.rtl = it.WordDirection() == tesseract::DIR_RIGHT_TO_LEFT;
    word.line_baseline_y = word.box.y1;
    int x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    if (it.Baseline(tesseract::RIL_TEXTLINE, &x0, &y0, &x1, &y1)) {
      const int center = (word.box.x0 + word.box.x1) / 2;
      word.line_baseline_y = x1 == x0 ? y0 : y0 + (y1 - y0) * (center - x0) / (x1 - x0);
    }
    float descenders = 0;
    float ascenders = 0;
    it.RowAttributes(&word.line_height_px, &descenders, &ascenders);
    words.push_back(std::move(word));
  } while (it.Next(tesseract::RIL_WORD));
  return words;
}

// Words in reading order. ResultIterator walks the page from its top several times for each word, which is all in vain
// where no word runs from right to left: there the order is the same.
std::vector<OcrWord> collect_words(tesseract::TessBaseAPI& api) {
  const std::unique_ptr<tesseract::ResultIterator> in_reading_order(api.GetIterator());
  if (!in_reading_order) return {};
  tesseract::LTRResultIterator from_left = *in_reading_order;  // its base alone
  from_left.Begin();
  auto words = collect_words(from_left);
  if (std::ranges::none_of(words, &OcrWord::rtl)) return words;
  return collect_words(*in_reading_order);
}

float mean_confidence(const std::vector<OcrWord>& words) {
  double sum = 0;
  double characters = 0;
  for (const OcrWord& word : words) {
    const auto count = static_cast<double>(count_characters(word.text));
    sum += count * static_cast<double>(word.confidence);
    characters += count;
  }
  return characters > 0 ? static_cast<float>(sum / characters) : 0.0F;
}

// Its warnings belong to no page, and what went wrong is in our Result.
int init(tesseract::TessBaseAPI& api, const std::string& folder, const std::string& languages,
         tesseract::OcrEngineMode mode) {
  const std::vector<std::string> names = {"debug_file"};
  const std::vector<std::string> values = {"/dev/null"};
  return api.Init(folder.c_str(), languages.c_str(), mode, nullptr, 0, &names, &values, false);
}

class TesseractEngine final : public OcrEngine {
 public:
  explicit TesseractEngine(std::chrono::milliseconds time_limit) : time_limit_(time_limit) {}

  Status open(const std::string& folder, const std::string& languages) {
    const NumericLocale locale;
    run_single_threaded();
    folder_ = folder;
    languages_ = languages;
    api_ = std::make_unique<tesseract::TessBaseAPI>();
    if (init(*api_, folder, languages, tesseract::OEM_LSTM_ONLY) != 0) {
      return fail(ErrorKind::unavailable,
                  "Tesseract cannot load '{}' from '{}': a data file is damaged or made for another version", languages,
                  folder);
    }
    return {};
  }

  Result<OcrPage> read(const image::Image& image, OcrLayout layout) override {
    if (image.width_px > side_px_max || image.height_px > side_px_max) {
      return fail(ErrorKind::invalid_input,
                  "the image is {}×{} pixels; OCR takes at most {} a side: use a smaller scale", image.width_px,
                  image.height_px, side_px_max);
    }
    // Tesseract recognises in gray; given colour, it only thresholds each channel, for a fifth more time and no better
    // words on scans of yellowed paper.
    if (image.format != image::PixelFormat::gray8) return read(image::to_gray(image), layout);
    auto page = read_as(image, layout);
    if (!page || layout == OcrLayout::single_line) return page;
    drop_noise(*page);
    if (layout == OcrLayout::page) {
      const MissedText missed = find_missed_text(image, *page);
      // Rows first: two of their glyphs that happen to be neighbours would be torn from them as a line.
      if (const Status status = read_lines(image, missed.rows, row_words_min, *page); !status)
        return std::unexpected(status.error());
      if (const Status status = read_lines(image, missed.lines, 1, *page); !status)
        return std::unexpected(status.error());
      read_rows_across(*page);
    }
    page->mean_confidence = mean_confidence(page->words);
    return page;
  }

  Result<TurnScores> judge_turns(const image::Image& image) override {
    TurnScores scores;
    if (!is_readable(image)) return scores;
    const NumericLocale locale;
    run_single_threaded();
    const auto api = shapes_api();
    if (!api) return std::unexpected(api.error());
    const PixPtr pix = to_pix(image);
    if (!pix) return fail(ErrorKind::overloaded, "not enough memory for {}×{} pixels", image.width_px, image.height_px);
    try {
      const bool survived = guarded([&] {
        (*api)->SetImage(pix.get());
        if (image.dpi > 0) (*api)->SetSourceResolution(static_cast<int>(image.dpi + 0.5F));
        tesseract::OSResults results;
        // Its direction ids count the other way round: 0, 270, 180, 90 degrees clockwise.
        if ((*api)->DetectOS(&results)) {
          for (std::size_t id = 0; id < 4; ++id) scores.by_quarter_turn[(4 - id) % 4] = results.orientations[id];
        }
        (*api)->Clear();
      });
      if (!survived) return abandoned();
    } catch (const std::exception& e) {
      (*api)->Clear();
      return fail(ErrorKind::internal, "finding the orientation failed: {}", e.what());
    }
    return scores;
  }

 private:
  // What Tesseract makes of it, unmended.
  Result<OcrPage> read_as(const image::Image& image, OcrLayout layout) {
    OcrPage page{.width_px = image.width_px, .height_px = image.height_px};
    if (!is_readable(image)) return page;
    try {
      const NumericLocale locale;
      const RawLineImages raw_line_images;
      run_single_threaded();
      Status status;
      const bool survived = guarded([&] {
        status = recognise(image, layout);
        if (status) page.words = collect_words(*api_);
        api_->Clear();
      });
      if (!survived) return abandoned();
      if (!status) return std::unexpected(status.error());
    } catch (const std::bad_alloc&) {
      api_->Clear();
      return fail(ErrorKind::overloaded, "not enough memory to OCR an image of {}×{} pixels", image.width_px,
                  image.height_px);
    } catch (const std::exception& e) {
      api_->Clear();
      return fail(ErrorKind::internal, "OCR failed: {}", e.what());
    }
    page.mean_confidence = mean_confidence(page.words);
    return page;
  }

  // Reads what the page analysis left out, line by line, until several in succession turn out to be no text.
  Status read_lines(const image::Image& image, std::span<const BoxPx> boxes, std::size_t words_min, OcrPage& page) {
    constexpr int fruitless_max = 5;
    int fruitless = 0;
    for (const BoxPx& box : boxes) {
      auto line = read_as(image::crop(image, {box.x0, box.y0, box.x1, box.y1}), OcrLayout::single_line);
      if (!line) return std::unexpected(line.error());
      for (OcrWord& word : line->words) {
        word.box = {word.box.x0 + box.x0, word.box.y0 + box.y0, word.box.x1 + box.x0, word.box.y1 + box.y0};
        word.line_baseline_y += box.y0;
      }
      fruitless = insert_line(page, std::move(line->words), words_min) > 0 ? 0 : fruitless + 1;
      if (fruitless == fruitless_max) break;
    }
    return {};
  }

  Status recognise(const image::Image& image, OcrLayout layout) {
    const PixPtr pix = to_pix(image);
    if (!pix) return fail(ErrorKind::overloaded, "not enough memory for {}×{} pixels", image.width_px, image.height_px);
    // What one page taught (its words, its shapes) must not change how the next is read.
    api_->ClearAdaptiveClassifier();
    api_->SetPageSegMode(mode_of(layout));
    api_->SetImage(pix.get());
    if (image.dpi > 0) api_->SetSourceResolution(static_cast<int>(image.dpi + 0.5F));
    tesseract::ETEXT_DESC monitor;
    if (time_limit_.count() > 0) monitor.set_deadline_msecs(static_cast<int>(time_limit_.count()));
    if (api_->Recognize(&monitor) != 0) {
      if (monitor.deadline_exceeded()) {
        return fail(ErrorKind::timeout, "reading took longer than {} s; give it more time (read.ocr_timeout_s)",
                    static_cast<double>(time_limit_.count()) / 1000);
      }
      return fail(ErrorKind::internal, "Tesseract gave up on the image");
    }
    return {};
  }

  // An assertion in Tesseract failed. Its object is in no state to be destroyed, so it stays behind, and a new one
  // takes its place: the next page must not suffer.
  std::unexpected<Error> abandoned() {
    static_cast<void>(api_.release());
    static_cast<void>(shapes_.release());
    if (const Status status = open(folder_, languages_); !status) return std::unexpected(status.error());
    return fail(ErrorKind::internal, "Tesseract stopped at an internal check on this image");
  }

  // Loaded when first needed: it costs 32 MB, and most pages are judged by reading alone.
  Result<tesseract::TessBaseAPI*> shapes_api() {
    if (shapes_) return shapes_.get();
    auto api = std::make_unique<tesseract::TessBaseAPI>();
    if (init(*api, folder_, "osd", tesseract::OEM_TESSERACT_ONLY) != 0) {
      return fail(ErrorKind::unavailable, "orientation data is not installed: apt-get install tesseract-ocr-osd");
    }
    shapes_ = std::move(api);
    return shapes_.get();
  }

  const std::chrono::milliseconds time_limit_;
  std::string folder_;
  std::string languages_;
  std::unique_ptr<tesseract::TessBaseAPI> api_;
  std::unique_ptr<tesseract::TessBaseAPI> shapes_;
};

}  // namespace

Result<TurnScores> OcrEngine::judge_turns(const image::Image&) {
  return fail(ErrorKind::unavailable, "this OCR engine does not judge orientation");
}

Result<std::unique_ptr<OcrEngine>> OcrEngine::create(const OcrOptions& options) {
  const auto wanted = split_languages(options.languages);
  if (!wanted) return std::unexpected(wanted.error());
  const auto folder = find_data_folder(options.data_folder);
  if (!folder) return std::unexpected(folder.error());
  const auto installed = installed_languages(*folder);
  if (!installed) return std::unexpected(installed.error());
  if (const Status status = check_languages(*wanted, *installed); !status) return std::unexpected(status.error());
  auto engine = std::make_unique<TesseractEngine>(options.time_limit);
  if (const Status status = engine->open(*folder, options.languages); !status) return std::unexpected(status.error());
  return engine;
}

void forget_dictionaries() {
  tesseract::TessBaseAPI::ClearPersistentCache();
}

std::string engine_version() {
  return tesseract::TessBaseAPI::Version();
}

}  // namespace lectern::vision
