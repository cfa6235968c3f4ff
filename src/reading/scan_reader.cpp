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
  if (options.auto_rotate) {
    const auto orientation = vision::find_orientation(picture, engine);
    if (!orientation) return std::unexpected(orientation.error());
    if (orientation->clockwise_degrees != 0) {
      reading.rotation = orientation->clockwise_degrees;
      picture = image::rotate_quarter(picture, reading.rotation);
      if (reading.rotation != 180) std::swap(reading.page_size.width, reading.page_size.height);
    }
  }
  const float skew = vision::find_skew(picture);
  if (std::abs(skew) >= skew_worth_mending_deg) {
    reading.skew_deg = skew;
    picture = image::rotate_small(picture, skew);
  }
  const auto words = engine.read(picture);
  if (!words) return std::unexpected(words.error());
  reading.words = static_cast<int>(words->words.size());
  reading.confidence = static_cast<double>(words->mean_confidence);
  const auto rulings =
      vision::find_rulings(picture.format == image::PixelFormat::gray8 ? picture : image::to_gray(picture));
  reading.blocks =
      layout_ocr({.words = *words, .rulings = rulings, .page_size = reading.page_size, .px_per_pt = options.px_per_pt});
  if (reading.skew_deg != 0) turn_back(reading.blocks, reading.skew_deg, reading.page_size);
  reading.upright = std::move(picture);
  return reading;
}

}  // namespace lectern::reading
