#include <algorithm>

#include "vision/mend_page.h"

namespace lectern::vision {
namespace {

std::ptrdiff_t characters(const std::string& utf8) {
  return std::ranges::count_if(utf8, [](char c) { return (c & 0xC0) != 0x80; });
}

bool is_noise(const OcrWord& word) {
  constexpr float disbelief = 0.3F;
  constexpr std::ptrdiff_t word_characters_min = 4;
  return word.confidence < disbelief && characters(word.text) < word_characters_min;
}

// Two small strokes high up in the line, alone, that were not read with any certainty.
bool is_ditto(const OcrWord& word) {
  if (word.confidence >= 0.6F || characters(word.text) > 2 || word.line_height_px <= 0) return false;
  const auto width = static_cast<float>(word.box.x1 - word.box.x0);
  const auto height = static_cast<float>(word.box.y1 - word.box.y0);
  const auto above_baseline = static_cast<float>(word.line_baseline_y - word.box.y1);
  return height >= 0.2F * word.line_height_px && height <= 0.55F * word.line_height_px &&
         width <= 0.6F * word.line_height_px && width >= 0.2F * height && above_baseline >= 0.2F * word.line_height_px;
}

}  // namespace

void drop_noise(OcrPage& page) {
  for (OcrWord& word : page.words) {
    if (is_ditto(word)) {
      word.text = "\"";
      word.confidence = std::max(word.confidence, 0.5F);  // by its shape
    }
  }
  std::erase_if(page.words, is_noise);
}

}  // namespace lectern::vision
