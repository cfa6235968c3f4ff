#include "reading/scan_reader.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "image/transform.h"
#include "reading/layout/layout.h"
#include "vision/orientation.h"

namespace lectern::reading {
namespace {

// Under this angle straightening blurs more than it mends: Tesseract follows a baseline that rises 1 in 200.
constexpr float skew_worth_mending_deg = 0.3F;

// Text that was read this well stands upright: upside down or sideways, the same words come out at half of it. Most
// pages are upright, so this saves them the search for their orientation.
constexpr float upright_confidence_min = 0.85F;
constexpr int upright_words_min = 20;

bool surely_upright(const vision::OcrPage& page) {
  int words = 0;
  int wide = 0;  // sideways lines that Tesseract takes for vertical text have words higher than wide
  for (const vision::OcrWord& word : page.words) {
    if (word.text.size() < 3) continue;
    ++words;
    if (word.box.x1 - word.box.x0 > word.box.y1 - word.box.y0) ++wide;
  }
  return words >= upright_words_min && 10 * wide >= 9 * words && page.mean_confidence >= upright_confidence_min;
}

struct StraightRead {
  image::Image picture;  // straightened
  float skew_deg = 0;
  vision::OcrPage words;
};

Result<StraightRead> straighten_and_read(image::Image picture, vision::OcrEngine& engine) {
  StraightRead result;
  const float skew = vision::find_skew(picture);
  if (std::abs(skew) >= skew_worth_mending_deg) {
    result.skew_deg = skew;
    picture = image::rotate_small(picture, skew);
  }
  auto words = engine.read(picture);
  if (!words) return std::unexpected(words.error());
  result.words = std::move(*words);
  result.picture = std::move(picture);
  return result;
}

// Straightening turned the picture about its centre; blocks were found on the straight picture and belong on the page.
void turn_back(std::vector<Block>& blocks, float clockwise_deg, SizePt page) {
  const float radians = -clockwise_deg * std::numbers::pi_v<float> / 180;
  const float cosine = std::cos(radians);
  const float sine = std::sin(radians);
  const float cx = page.width / 2;
  const float cy = page.height / 2;
  for (Block& block : blocks) {
    const RectPt& b = block.bbox;
    RectPt around{page.width, page.height, 0, 0};
    for (const auto& [x, y] : {std::pair{b.x0, b.y0}, {b.x1, b.y0}, {b.x0, b.y1}, {b.x1, b.y1}}) {
      const float tx = cx + (x - cx) * cosine - (y - cy) * sine;
      const float ty = cy + (x - cx) * sine + (y - cy) * cosine;
      around = {std::min(around.x0, tx), std::min(around.y0, ty), std::max(around.x1, tx), std::max(around.y1, ty)};
    }
    block.bbox = intersection(around, {0, 0, page.width, page.height});
  }
}

}  // namespace

Result<ScanReading> read_scan(image::Image picture, const ScanReadOptions& options, vision::OcrEngine& engine) {
  ScanReading reading;
  reading.page_size = options.page_size;
  auto read = straighten_and_read(picture, engine);
  if (options.auto_rotate && (!read || !surely_upright(read->words))) {
    const auto orientation = vision::find_orientation(picture, engine);
    if (!orientation) return std::unexpected(orientation.error());
    if (orientation->clockwise_degrees != 0) {
      reading.rotation = orientation->clockwise_degrees;
      if (reading.rotation != 180) std::swap(reading.page_size.width, reading.page_size.height);
      read = straighten_and_read(image::rotate_quarter(picture, reading.rotation), engine);
    }
  }
  if (!read) return std::unexpected(read.error());
  reading.words = static_cast<int>(read->words.words.size());
  reading.confidence = static_cast<double>(read->words.mean_confidence);
  reading.skew_deg = read->skew_deg;
  const bool gray = read->picture.format == image::PixelFormat::gray8;
  const auto rulings = vision::find_rulings(gray ? read->picture : image::to_gray(read->picture));
  reading.blocks = layout_ocr(
      {.words = read->words, .rulings = rulings, .page_size = reading.page_size, .px_per_pt = options.px_per_pt});
  if (reading.skew_deg != 0) turn_back(reading.blocks, reading.skew_deg, reading.page_size);
  return reading;
}

}  // namespace lectern::reading
