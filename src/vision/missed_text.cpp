#include "vision/missed_text.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "vision/ink.h"
#include "vision/text_lines.h"

namespace lectern::vision {
namespace {

constexpr int working_side_px = 1600;
constexpr std::size_t lines_max = 48;
constexpr int line_glyphs_min = 2;
constexpr float confidence_min = 0.6F;  // unasked-for text must be sure
constexpr int letters_min = 2;          // and more than a stroke

bool contains(const BoxPx& box, int x, int y) {
  return x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1;
}

int overlap(int a0, int a1, int b0, int b1) {
  return std::min(a1, b1) - std::max(a0, b0);
}

// The usual height of a line of this page, 0 when there are no words to tell.
float usual_height(const OcrPage& page) {
  if (page.words.empty()) return 0;
  std::vector<float> heights;
  for (const OcrWord& word : page.words) heights.push_back(word.line_height_px);
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::ranges::nth_element(heights, middle);
  return *middle;
}

// Marks of words on a coarse raster, so that thousands of glyphs need not be compared with thousands of words.
class Covered {
 public:
  Covered(const OcrPage& page, double scale) {
    for (const OcrWord& word : page.words) {
      const int margin = std::max(1, (word.box.y1 - word.box.y0) / 6);
      boxes_.push_back(
          {static_cast<int>((word.box.x0 - margin) * scale), static_cast<int>((word.box.y0 - margin) * scale),
           static_cast<int>((word.box.x1 + margin) * scale) + 1, static_cast<int>((word.box.y1 + margin) * scale) + 1});
      const BoxPx& box = boxes_.back();
      for (int row = std::max(0, box.y0) / row_px; row <= std::max(0, box.y1) / row_px; ++row) {
        if (static_cast<std::size_t>(row) >= rows_.size()) rows_.resize(static_cast<std::size_t>(row) + 1);
        rows_[static_cast<std::size_t>(row)].push_back(boxes_.size() - 1);
      }
    }
  }

  bool covers(const Glyph& glyph) const {
    const int x = (glyph.x0 + glyph.x1) / 2;
    const int y = (glyph.y0 + glyph.y1) / 2;
    const auto row = static_cast<std::size_t>(y / row_px);
    return row < rows_.size() &&
           std::ranges::any_of(rows_[row], [&](std::size_t i) { return contains(boxes_[i], x, y); });
  }

 private:
  static constexpr int row_px = 32;
  std::vector<BoxPx> boxes_;
  std::vector<std::vector<std::size_t>> rows_;
};

// Letters and digits, roughly: any character outside ASCII counts.
int letters_in(const OcrWord& word) {
  return static_cast<int>(std::ranges::count_if(word.text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0xC0) == 0xC0;
  }));
}

bool is_word(const OcrWord& word) {
  return word.confidence >= confidence_min && letters_in(word) > 0;
}

bool hides(const OcrWord& there, const OcrWord& word) {
  const int x = overlap(there.box.x0, there.box.x1, word.box.x0, word.box.x1);
  const int y = overlap(there.box.y0, there.box.y1, word.box.y0, word.box.y1);
  return x > 0 && y > 0 && 3 * x > word.box.x1 - word.box.x0 && 3 * y > word.box.y1 - word.box.y0;
}

bool level(const OcrWord& a, const OcrWord& b) {
  return std::abs(static_cast<float>(a.line_baseline_y - b.line_baseline_y)) <=
         0.3F * std::max(a.line_height_px, b.line_height_px);
}

// The word of the page that `words` stand right before or after in one line.
std::optional<std::size_t> neighbour_in_line(const OcrPage& page, const std::vector<OcrWord>& words) {
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const OcrWord& there = page.words[i];
    if (!level(there, words.front())) continue;
    const int before = words.front().box.x0 - there.box.x1;
    const int after = there.box.x0 - words.back().box.x1;
    const float reach = 1.5F * there.line_height_px;
    const bool follows = before >= 0 && static_cast<float>(before) <= reach;
    const bool precedes = after >= 0 && static_cast<float>(after) <= reach;
    if (follows || precedes) return i;
  }
  return std::nullopt;
}

bool holds_words(const OcrPage& page, const BoxPx& box) {
  return std::ranges::any_of(page.words, [&](const OcrWord& word) {
    return overlap(word.box.x0, word.box.x1, box.x0, box.x1) > 0 &&
           overlap(word.box.y0, word.box.y1, box.y0, box.y1) > 0;
  });
}

// Where a line of its own belongs: after the nearest line above that it stands under, else at the start or the end.
std::size_t place_of(const OcrPage& page, const BoxPx& box) {
  std::optional<std::size_t> above;
  for (std::size_t i = 0; i < page.words.size(); ++i) {
    const BoxPx& there = page.words[i].box;
    if (there.y1 > box.y0 + (box.y1 - box.y0) / 2 || overlap(there.x0, there.x1, box.x0, box.x1) <= 0) continue;
    if (!above || there.y1 > page.words[*above].box.y1) above = i;
  }
  if (!above) {
    const bool on_top = std::ranges::all_of(page.words, [&](const OcrWord& word) { return word.box.y0 >= box.y0; });
    return on_top ? 0 : page.words.size();
  }
  std::size_t place = *above;
  while (place < page.words.size() && page.words[place].line == page.words[*above].line) ++place;
  return place;
}

}  // namespace

MissedText find_missed_text(const image::Image& image, const OcrPage& page) {
  double scale = 1;
  const cv::Mat small = reduced(gray_of(image), working_side_px, scale);
  std::vector<Glyph> glyphs = find_glyphs(find_ink(small));
  const Covered covered(page, scale);
  std::erase_if(glyphs, [&](const Glyph& glyph) { return covered.covers(glyph); });
  const double usual = static_cast<double>(usual_height(page)) * scale;
  std::vector<TextLine> lines = find_lines(glyphs);
  std::erase_if(lines, [&](const TextLine& line) {
    return usual > 0 && (line.box.height() < 0.4 * usual || line.box.height() > 2.5 * usual);
  });
  const auto boxed = [&](const Glyph& box) {
    const int margin = box.height() / 4 + 2;
    const auto to_px = [&](int value, int limit) { return std::clamp(static_cast<int>(value / scale), 0, limit); };
    return BoxPx{to_px(box.x0 - margin, image.width_px), to_px(box.y0 - margin, image.height_px),
                 to_px(box.x1 + margin, image.width_px), to_px(box.y1 + margin, image.height_px)};
  };
  MissedText missed;
  for (const TextLine& row : join_lone_glyphs(lines)) {
    if (missed.rows.size() == lines_max) break;
    if (const BoxPx box = boxed(row.box); !holds_words(page, box)) missed.rows.push_back(box);
  }
  for (const TextLine& line : lines) {
    if (missed.lines.size() == lines_max || line.glyphs < line_glyphs_min) break;
    if (line.box.width() >= line.box.height()) missed.lines.push_back(boxed(line.box));
  }
  return missed;
}

int insert_line(OcrPage& page, std::vector<OcrWord> words, std::size_t words_min) {
  std::erase_if(words, [&](const OcrWord& word) {
    return !is_word(word) || std::ranges::any_of(page.words, [&](const OcrWord& there) { return hides(there, word); });
  });
  int letters = 0;
  for (const OcrWord& word : words) letters += letters_in(word);
  if (letters < letters_min || words.size() < words_min) return 0;
  const int count = static_cast<int>(words.size());
  std::size_t place = 0;
  if (const auto neighbour = neighbour_in_line(page, words)) {
    const OcrWord& beside = page.words[*neighbour];
    for (OcrWord& word : words) {
      word.block = beside.block;
      word.paragraph = beside.paragraph;
      word.line = beside.line;
    }
    const bool before = (words.front().box.x0 < beside.box.x0) != beside.rtl;
    place = *neighbour + (before ? 0 : 1);
  } else {
    BoxPx box = words.front().box;
    for (const OcrWord& word : words) {
      box = {std::min(box.x0, word.box.x0), std::min(box.y0, word.box.y0), std::max(box.x1, word.box.x1),
             std::max(box.y1, word.box.y1)};
    }
    place = place_of(page, box);
    // Numbers of its own; read_rows_across() counts anew.
    int next_block = 0;
    int next_paragraph = 0;
    int next_line = 0;
    for (const OcrWord& word : page.words) {
      next_block = std::max(next_block, word.block + 1);
      next_paragraph = std::max(next_paragraph, word.paragraph + 1);
      next_line = std::max(next_line, word.line + 1);
    }
    for (OcrWord& word : words) {
      word.block = next_block;
      word.paragraph = next_paragraph;
      word.line = next_line;
    }
  }
  page.words.insert(page.words.begin() + static_cast<std::ptrdiff_t>(place), std::make_move_iterator(words.begin()),
                    std::make_move_iterator(words.end()));
  return count;
}

}  // namespace lectern::vision
