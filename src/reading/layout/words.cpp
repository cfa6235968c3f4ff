#include "reading/layout/words.h"

#include <array>
#include <cmath>
#include <string_view>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

using document::Char;

enum class Script : std::uint8_t { rtl, ltr, number, other };

Script script_of(char32_t c) {
  if (is_rtl(c) || is_combining(c)) return Script::rtl;
  if (is_digit(c)) return Script::number;
  if (is_letter(c)) return Script::ltr;
  return Script::other;
}

struct Traits {
  bool bold = false, italic = false, mono = false, math = false;
  bool operator==(const Traits&) const = default;
};

// Two glyphs of one word: same style and size, on one baseline, side by side in either direction.
bool side_by_side(const Glyph& a, const Glyph& b) {
  const float size = std::min(a.size, b.size);
  if (std::abs(a.size - b.size) > 0.12F * std::max(a.size, b.size)) return false;
  const float middle_gap = std::abs(a.cell.center_y() - b.cell.center_y());
  if (middle_gap > 0.3F * size || std::abs(a.baseline - b.baseline) > 0.35F * size) return false;
  const float right_gap = b.cell.x0 - a.cell.x1;
  const float left_gap = a.cell.x0 - b.cell.x1;
  const float gap = std::max(right_gap, left_gap);
  const bool either_rtl = (a.flags & Char::rtl) != 0 || (b.flags & Char::rtl) != 0 || is_rtl(a.code) || is_rtl(b.code);
  if (!either_rtl && right_gap < -0.6F * size) return false;  // jumped back
  return gap < 0.2F * size;
}

void put(Word& w, const Glyph& g) {
  w.text += g.code;
  w.box = w.text.size() == 1 ? g.cell : union_of(w.box, g.cell);
}

// Puts the letters of a right-to-left word in writing order, whatever the order they were drawn in.
void order_rtl(Word& word, const std::vector<Glyph>& run) {
  struct Placed {
    float x;
    bool mark;
    std::size_t index;
  };
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < run.size(); ++i) {
    Placed p{run[i].cell.center_x(), is_combining(run[i].code), i};
    // A mark goes with the letter it is drawn over, wherever its own middle lies.
    if (p.mark && run.size() < 200) {
      float most = 0;
      for (const Glyph& base : run) {
        const float shared = std::min(base.cell.x1, run[i].cell.x1) - std::max(base.cell.x0, run[i].cell.x0);
        if (!is_combining(base.code) && shared > most) most = shared, p.x = base.cell.center_x();
      }
    }
    placed.push_back(p);
  }
  std::ranges::sort(placed, [](const Placed& a, const Placed& b) {
    if (a.x != b.x) return a.x > b.x;
    // Letters of one ligature share its place; turning the run around turned them too.
    return a.mark != b.mark ? b.mark : a.mark ? a.index < b.index : a.index > b.index;
  });
  word.text.clear();
  for (const Placed& p : placed) word.text += run[p.index].code;
}

}  // namespace

bool is_math_font(const document::Font& font) {
  static constexpr std::array<std::string_view, 14> names = {"CMMI", "CMSY", "CMEX",           "MSAM", "MSBM",
                                                             "Math", "MTMI", "MTSY",           "MTEX", "LMMath",
                                                             "txsy", "rsfs", "MathematicalPi", "EUFM"};
  return std::ranges::any_of(names, [&](std::string_view n) { return font.name.find(n) != std::string::npos; });
}

std::vector<Word> make_words(const std::vector<Glyph>& glyphs, const std::vector<document::Font>& fonts) {
  std::vector<Traits> traits;
  traits.reserve(fonts.size());
  for (const auto& f : fonts) traits.push_back({f.bold, f.italic, f.monospace, is_math_font(f)});
  const auto traits_of = [&](const Glyph& g) { return g.font < traits.size() ? traits[g.font] : Traits{}; };
  const bool any_rtl = std::ranges::any_of(glyphs, [](const Glyph& g) { return is_rtl(g.code); });

  std::vector<Word> words;
  std::vector<Glyph> run;  // the glyphs of the word being made, kept only for right-to-left pages
  const auto finish = [&] {
    if (!words.empty() && words.back().rtl && run.size() > 1) order_rtl(words.back(), run);
    run.clear();
  };
  std::size_t anchor = 0;  // the last glyph that is no mark
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    const Glyph& g = glyphs[i];
    const Traits t = traits_of(g);
    // Marks sit anywhere over their letter, and spaces inferred around them are no spaces: the letters decide.
    const bool mark = is_combining(g.code);
    const bool after_mark = i > 0 && is_combining(glyphs[i - 1].code);
    bool fresh = i == 0 || (!mark && t != traits_of(glyphs[i - 1]));
    if (!fresh && !mark)
      fresh = after_mark ? !side_by_side(glyphs[anchor], g) : g.space_before || !side_by_side(glyphs[i - 1], g);
    if (!mark) anchor = i;
    // Mixed-direction text is put in order word by word, so there a word is of one direction.
    if (!fresh && any_rtl && script_of(g.code) != script_of(glyphs[i - 1].code)) fresh = true;
    if (fresh) {
      finish();
      Word w;
      w.baseline = g.baseline;
      w.size = g.size;
      w.color = g.color;
      w.order = static_cast<std::int32_t>(words.size());
      w.font = g.font;
      w.bold = t.bold;
      w.italic = t.italic;
      w.mono = t.mono;
      w.math = t.math;
      w.rtl = is_rtl(g.code);
      w.space_before = g.space_before;
      words.push_back(std::move(w));
    }
    Word& w = words.back();
    w.rtl = w.rtl || is_rtl(g.code);
    // Descending glyphs only guess at the baseline; the first sure one wins.
    if (!w.text.empty() && g.code < 0x250 && is_letter(g.code) && g.baseline < w.baseline) w.baseline = g.baseline;
    put(w, g);
    w.hyphen_end = is_dash(g.code) && (g.flags & Char::hyphen) != 0;
    if (any_rtl) run.push_back(g);
  }
  finish();
  return words;
}

void attach_links(std::vector<Word>& words, const std::vector<document::Link>& links) {
  if (links.empty()) return;
  // Sorted by top edge so that each word looks only at links that can reach it.
  struct Area {
    RectPt box;
    std::int32_t index;
  };
  std::vector<Area> areas;
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!links[i].uri.empty()) areas.push_back({links[i].box, static_cast<std::int32_t>(i)});
  }
  std::ranges::sort(areas, {}, [](const Area& a) { return a.box.y0; });
  float tallest = 0;
  for (const Area& a : areas) tallest = std::max(tallest, a.box.height());
  for (Word& w : words) {
    const float x = w.box.center_x();
    const float y = w.box.center_y();
    auto it = std::ranges::lower_bound(areas, y - tallest, {}, [](const Area& a) { return a.box.y0; });
    for (int looked = 0; it != areas.end() && it->box.y0 <= y && looked < 200; ++it, ++looked) {
      if (x >= it->box.x0 && x <= it->box.x1 && y <= it->box.y1) w.link = it->index;
    }
  }
}

}  // namespace lectern::reading::layout
