#include "reading/layout/ocr_lines.h"

#include <algorithm>
#include <cmath>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

bool speaks(std::u32string_view text) {
  return std::ranges::any_of(text, [](char32_t c) { return is_letter(c) || is_digit(c); });
}

bool ruling_sign(std::u32string_view text) {
  return std::ranges::all_of(
      text, [](char32_t c) { return c == '|' || c == '_' || c == 0xA6 || c == 0x2014 || c == '[' || c == ']'; });
}

}  // namespace

std::vector<Word> ocr_words(const vision::OcrPage& page, float px_per_pt, bool has_rulings) {
  std::vector<Word> words;
  words.reserve(page.words.size());
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const vision::OcrWord& from = page.words[i];
    std::u32string text;
    for (const char32_t c : from_utf8(from.text)) {
      const std::u32string_view letters = presentation_letters(c);
      if (!letters.empty())
        text += letters;
      else if (!is_control(c) && !is_blank(c))
        text += c;
    }
    if (text.empty()) continue;
    if (has_rulings && ruling_sign(text)) continue;
    if (!speaks(text) && from.confidence < 0.35F && !is_bullet(text.front())) continue;
    Word w;
    w.text = std::move(text);
    const auto pt = [&](int px) { return static_cast<float>(px) / px_per_pt; };
    w.box = {pt(from.box.x0), pt(from.box.y0), pt(from.box.x1), pt(from.box.y1)};
    w.baseline = pt(from.line_baseline_y);
    const float height = from.line_height_px > 0 ? from.line_height_px : static_cast<float>(from.box.y1 - from.box.y0);
    w.size = std::clamp(height / px_per_pt, 1.0F, 400.0F);
    w.order = static_cast<std::int32_t>(i);
    w.rtl = from.rtl;
    w.space_before = true;
    words.push_back(std::move(w));
  }
  return words;
}

std::vector<OcrLine> ocr_lines(const std::vector<Word>& words, const vision::OcrPage& page) {
  std::vector<OcrLine> lines;
  int last = -1;
  for (const Word& w : words) {
    const vision::OcrWord& from = page.words[static_cast<std::size_t>(w.order)];
    if (lines.empty() || from.line != last) {
      lines.push_back({{}, from.block, from.paragraph});
      last = from.line;
    }
    Line& line = lines.back().line;
    const bool first = line.words.empty();
    line.words.push_back(w);
    // Scripts without spaces are recognised character by character.
    Word& added = line.words.back();
    added.space_before =
        !first && !(is_ideograph(added.text.front()) && is_ideograph(line.words[line.words.size() - 2].text.back()));
    line.box = first ? w.box : union_of(line.box, w.box);
    line.chars += static_cast<int>(w.text.size());
    if (first) line.baseline = w.baseline, line.size = w.size;
    line.rtl = line.rtl || w.rtl;
  }
  return lines;
}

PageStyle ocr_style(std::vector<OcrLine>& lines, SizePt page) {
  PageStyle style;
  style.page = page;
  std::vector<std::pair<float, int>> sizes;
  int chars = 0;
  for (const OcrLine& l : lines) sizes.emplace_back(l.line.size, l.line.chars), chars += l.line.chars;
  std::ranges::sort(sizes);
  int seen = 0;
  for (const auto& [size, n] : sizes) {
    seen += n;
    style.body_size = size;
    if (seen * 2 >= chars) break;
  }
  for (OcrLine& l : lines) {
    const float ratio = l.line.size / style.body_size;
    if (ratio > 0.7F && ratio < 1.45F) {
      l.line.size = style.body_size;
      for (Word& w : l.line.words) w.size = style.body_size;
    }
  }
  std::vector<float> pitches;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const float pitch = (lines[i].line.baseline - lines[i - 1].line.baseline) / style.body_size;
    if (pitch > 0.5F && pitch < 3) pitches.push_back(pitch);
  }
  std::ranges::sort(pitches);
  style.pitch = pitches.empty() ? 1.2F : std::clamp(pitches[pitches.size() / 2], 0.8F, 2.6F);
  return style;
}

}  // namespace lectern::reading::layout
