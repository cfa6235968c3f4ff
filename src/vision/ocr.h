// vision/: models that run in-process on the CPU: OCR, orientation, skew, rulings.
// May use: image/, telemetry/, base/. Knows nothing of PDFs, pages' text layers or markdown.
// Start at ocr.h, then orientation.h.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "image/image.h"

namespace lectern::vision {

struct BoxPx {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;
  bool operator==(const BoxPx&) const = default;
};

struct OcrWord {
  std::string text;  // UTF-8, logical order
  BoxPx box;
  float confidence = 0;  // 0..1
  // Where it stands in the reading order that the engine found; each counts from 0 over the whole page.
  int block = 0;
  int paragraph = 0;
  int line = 0;
  int line_baseline_y = 0;   // pixels, at the word's centre
  float line_height_px = 0;  // of the line's x-height plus ascenders and descenders as the engine measured it
  bool rtl = false;
  bool operator==(const OcrWord&) const = default;
};

struct OcrPage {
  int width_px = 0;
  int height_px = 0;
  std::vector<OcrWord> words;  // in reading order
  float mean_confidence = 0;   // 0..1, weighted by characters; 0 when there are no words
  bool operator==(const OcrPage&) const = default;
};

enum class OcrLayout { page, single_block, sparse, single_line };

struct OcrOptions {
  std::string languages = "eng";  // Tesseract names joined by '+'
  std::string data_folder;        // tessdata; empty = the system's
  // One read may take this long, then it fails with ErrorKind::timeout; 0 = as long as it takes. Noise can keep
  // Tesseract busy for minutes. The finding of lines cannot be interrupted, only the reading of them.
  std::chrono::milliseconds time_limit{0};
  bool operator==(const OcrOptions&) const = default;
};

// How well the shapes of single characters speak for turning the page clockwise by 0, 90, 180 and 270 degrees: log
// likelihoods, of which only the differences mean something. All zero when there were too few characters.
struct TurnScores {
  std::array<float, 4> by_quarter_turn{};
};

// One recogniser; not thread safe: keep one for each CPU worker (see OcrPool).
class OcrEngine {
 public:
  static Result<std::unique_ptr<OcrEngine>> create(const OcrOptions& options);
  virtual ~OcrEngine() = default;
  // `image` must be upright. dpi 0 = let the engine estimate.
  virtual Result<OcrPage> read(const image::Image& image, OcrLayout layout = OcrLayout::page) = 0;
  // From characters of any script, whatever the engine's languages. `unavailable` where the data for it ("osd") is not
  // installed, or an engine cannot do it.
  virtual Result<TurnScores> judge_turns(const image::Image& image);
};

// The languages installed in the data folder ("eng", "por"…), sorted; "osd" is not a language.
Result<std::vector<std::string>> installed_languages(const std::string& data_folder = {});

// Tesseract keeps dictionaries for the next engine after the last one is gone. Lets go of those that no engine uses.
void forget_dictionaries();

// "5.3.0": the version of Tesseract in use.
std::string engine_version();

}  // namespace lectern::vision
