#include "reading/layout/lines.h"

#include <cmath>
#include <map>
#include <unordered_map>

#include "reading/layout/bidi.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

constexpr float segment_gap_em =
    0.85F;  // wider gaps may be a column's; narrower ones are spaces, even of justified text

bool from_left(const Word& a, const Word& b) {
  return a.box.x0 != b.box.x0 ? a.box.x0 < b.box.x0 : a.order < b.order;
}

float overlap_y(const RectPt& a, const RectPt& b) {
  return std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
}

struct Open {
  std::size_t index = 0;
  RectPt box;
  float size = 0;
  float baseline = 0;
};

// Whether `w` continues the segment to its left.
bool continues(const Open& seg, const Word& w) {
  const float big = std::max(seg.size, w.size);
  const float small = std::min(seg.size, w.size);
  const float gap = w.box.x0 - seg.box.x1;
  if (gap > segment_gap_em * std::max(small, 0.6F * big) || gap < -2.0F * big) return false;
  const float overlap = overlap_y(seg.box, w.box);
  const float least = std::min(seg.box.height(), w.box.height());
  // Text of like size shares a baseline; a script is smaller and may be shifted by half its height.
  const bool alike = small > 0.8F * big;
  if (alike && std::abs(seg.baseline - w.baseline) < 0.3F * big) return overlap > 0.5F * least;
  if (small > 0.9F * big) return false;
  return overlap > 0.45F * least && gap < 0.5F * big;
}

bool starts_latin_word(const Word& w) {
  return w.text.size() >= 2 && !w.rtl && is_letter(w.text.front()) && is_letter(w.text.back());
}

// A space between two words as they stand side by side.
bool spaced(const Word& left, const Word& right) {
  const float gap = right.box.x0 - left.box.x1;
  const float size = std::min(left.size, right.size);
  // Scripts of two directions are set apart even where the file draws no space between them.
  if (left.rtl != right.rtl && starts_latin_word(left.rtl ? right : left)) return true;
  const Word& later = left.order < right.order ? right : left;
  const bool neighbours = std::abs(left.order - right.order) == 1;
  if (neighbours && later.space_before) return true;
  // Around scripts, and before what never follows a space, only a real gap counts.
  const float large = std::max(left.size, right.size);
  if (size < 0.88F * large) return gap > 0.28F * large;
  const char32_t next = left.rtl || right.rtl ? U' ' : right.text.front();
  if (next == ',' || next == '.' || next == ';' || next == ')' || next == ']') return gap > 0.4F * size;
  return gap > (neighbours ? 0.2F : 0.15F) * size;
}

void mark_scripts(Line& line) {
  for (Word& w : line.words) {
    if (w.size > 0.88F * line.size || w.text.size() > 12) continue;
    const float rise = line.baseline - w.baseline;
    if (rise > 0.18F * line.size)
      w.script = 1;
    else if (rise < -0.08F * line.size)
      w.script = -1;
  }
}

}  // namespace

void settle(Line& line) {
  line.chars = 0;
  std::map<int, int> by_size;  // tenths of a point → characters
  int bold = 0;
  int italic = 0;
  int mono = 0;
  for (const Word& w : line.words) {
    const int n = static_cast<int>(w.text.size());
    by_size[static_cast<int>(std::lround(w.size * 10))] += n;
    line.chars += n;
    if (w.bold) bold += n;
    if (w.italic) italic += n;
    if (w.mono) mono += n;
  }
  line.size = 0;
  int most = 0;
  for (const auto& [size, n] : by_size) {
    if (n >= most) most = n, line.size = static_cast<float>(size) / 10;
  }
  // A short line such as "x²y²" may hold more script than text: the text is what is larger.
  if (!by_size.empty() && line.size < 0.8F * static_cast<float>(by_size.rbegin()->first) / 10 &&
      by_size.rbegin()->second * 3 >= most) {
    line.size = static_cast<float>(by_size.rbegin()->first) / 10;
  }
  std::map<std::uint16_t, int> by_font;
  for (const Word& w : line.words) {
    if (std::ranges::any_of(w.text, is_letter)) by_font[w.font] += static_cast<int>(w.text.size());
  }
  int most_font = 0;
  for (const auto& [font, n] : by_font) {
    if (n > most_font) most_font = n, line.font = font;
  }
  line.one_font = by_font.size() == 1;
  line.bold = bold * 2 > line.chars;
  line.italic = italic * 2 > line.chars;
  line.mono = line.chars > 0 && mono * 10 >= line.chars * 9;

  std::map<int, int> by_baseline;
  line.box = {};
  for (const Word& w : line.words) {
    line.box = line.box == RectPt{} ? w.box : union_of(line.box, w.box);
    if (std::abs(w.size - line.size) < 0.1F * line.size)
      by_baseline[static_cast<int>(std::lround(w.baseline * 4))] += static_cast<int>(w.text.size());
  }
  most = 0;
  for (const auto& [y, n] : by_baseline) {
    if (n > most) most = n, line.baseline = static_cast<float>(y) / 4;
  }

  std::ranges::sort(line.words, from_left);
  // Spaces are decided between neighbours on paper, then travel with the words into reading order.
  std::unordered_map<std::int32_t, bool> space_left;
  for (std::size_t i = 0; i < line.words.size(); ++i) {
    space_left[line.words[i].order] = i > 0 && spaced(line.words[i - 1], line.words[i]);
  }
  const bool any_rtl = std::ranges::any_of(line.words, &Word::rtl);
  line.rtl = any_rtl && runs_right_to_left(line.words);
  if (any_rtl) {
    std::unordered_map<std::int32_t, std::size_t> place;
    for (std::size_t i = 0; i < line.words.size(); ++i) place[line.words[i].order] = i;
    std::vector<bool> gap_after(line.words.size(), false);  // by place on paper
    for (std::size_t i = 1; i < line.words.size(); ++i) gap_after[i - 1] = space_left[line.words[i].order];
    order_mixed_directions(line.words, line.rtl);
    for (std::size_t i = 0; i < line.words.size(); ++i) {
      if (i == 0) {
        line.words[i].space_before = false;
        continue;
      }
      // Neighbours in reading order are usually neighbours on paper. Where a run of the other direction begins or ends,
      // the gap that counts is the one between that run and the word outside of it.
      const std::size_t a = place[line.words[i - 1].order];
      const std::size_t b = place[line.words[i].order];
      const bool enters = line.words[i - 1].rtl == line.rtl;
      const std::size_t outside = enters ? a : b;
      const bool gap_on_left = enters == line.rtl;
      const std::size_t seam = a + 1 == b || b + 1 == a ? std::min(a, b)
                               : gap_on_left            ? std::max<std::size_t>(outside, 1) - 1
                                                        : outside;
      line.words[i].space_before = gap_after[seam];
    }
  } else {
    for (Word& w : line.words) w.space_before = space_left[w.order];
  }
  for (Word& w : line.words) w.script = 0;
  mark_scripts(line);
}

std::vector<Line> make_segments(std::vector<Word> words) {
  std::ranges::sort(words, from_left);
  std::vector<Line> lines;
  std::vector<Open> open;
  // Open segments by height on the page: a word meets only those near its own baseline, and of these only the latest.
  constexpr float bucket_pt = 6;
  constexpr std::size_t looks_max = 24;
  std::unordered_map<int, std::vector<std::size_t>> buckets;
  const auto bucket_of = [](float y) { return static_cast<int>(std::floor(y / bucket_pt)); };
  for (Word& w : words) {
    const int first = bucket_of(w.box.center_y() - 0.6F * std::min(w.size, 60.0F));
    const int last = std::min(bucket_of(w.box.center_y() + 0.6F * std::min(w.size, 60.0F)), first + 16);
    std::size_t best = open.size();
    float best_score = 1e9F;
    for (int b = first; b <= last; ++b) {
      const auto found = buckets.find(b);
      if (found == buckets.end()) continue;
      const auto& list = found->second;
      for (std::size_t k = 0; k < std::min(list.size(), looks_max); ++k) {
        const Open& seg = open[list[list.size() - 1 - k]];
        if (!continues(seg, w)) continue;
        const float score = std::abs(w.box.x0 - seg.box.x1) + 2 * std::abs(seg.baseline - w.baseline);
        if (score < best_score) best_score = score, best = seg.index;
      }
    }
    if (best == open.size()) {
      buckets[bucket_of(w.box.center_y())].push_back(open.size());
      open.push_back({open.size(), w.box, w.size, w.baseline});
      lines.emplace_back();
      lines.back().words.push_back(std::move(w));
      continue;
    }
    Open& seg = open[best];
    // A script neither moves the baseline nor the height that the next word is compared with.
    const bool script = w.size < 0.9F * seg.size && std::abs(w.baseline - seg.baseline) > 0.1F * seg.size;
    const bool opener_was_script = seg.size < 0.9F * w.size && std::abs(w.baseline - seg.baseline) > 0.1F * w.size;
    if (opener_was_script) {
      const float x0 = seg.box.x0;
      seg.box = w.box, seg.box.x0 = x0;
      seg.size = w.size;
      seg.baseline = w.baseline;
      buckets[bucket_of(w.box.center_y())].push_back(seg.index);
    } else if (!script) {
      const float x0 = seg.box.x0;
      const float x1 = std::max(seg.box.x1, w.box.x1);
      seg.box = w.box, seg.box.x0 = x0, seg.box.x1 = x1;
      seg.baseline = w.baseline;
      seg.size = w.size;
    }
    seg.box.x1 = std::max(seg.box.x1, w.box.x1);
    lines[best].words.push_back(std::move(w));
  }
  for (Line& line : lines) settle(line);
  std::ranges::sort(lines, [](const Line& a, const Line& b) {
    if (a.baseline != b.baseline) return a.baseline < b.baseline;
    return a.box.x0 != b.box.x0 ? a.box.x0 < b.box.x0 : a.words.front().order < b.words.front().order;
  });
  return lines;
}

Line join_segments(std::vector<Line> segments) {
  if (segments.size() == 1) return std::move(segments.front());
  Line line;
  for (Line& s : segments) std::ranges::move(s.words, std::back_inserter(line.words));
  settle(line);
  return line;
}

std::u32string text_of(const Line& line) {
  std::u32string out;
  for (const Word& w : line.words) {
    if (w.space_before && !out.empty()) out += U' ';
    out += w.text;
  }
  return out;
}

}  // namespace lectern::reading::layout
