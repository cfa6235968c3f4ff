#include "reading/layout/glyphs.h"

#include <array>
#include <cmath>
#include <unordered_map>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

using document::Char;

// Letters may lean a little, as scanners feed paper.
bool runs_left_to_right(float angle_deg) {
  return std::abs(std::remainder(angle_deg, 360.0F)) <= 8;
}

bool descends(char32_t c) {
  switch (c) {
    case 'g':
    case 'j':
    case 'p':
    case 'q':
    case 'y':
    case 'Q':
    case ',':
    case ';':
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case '|':
    case '/':
    case '_':
    case '$':
    case '@':
      return true;
    default:
      return false;
  }
}
// Glyphs whose ink stands on the baseline, so that the ink's lower edge tells where it is.
bool stands(char32_t c) {
  return (is_letter(c) && c < 0x250 && !descends(c)) || (c >= '0' && c <= '9') || c == '.';
}

Glyph measure(const Char& c) {
  Glyph g;
  g.code = c.code;
  g.font = c.font;
  g.flags = c.flags;
  g.color = c.color_rgb;
  const RectPt& ink = c.box;
  RectPt cell = c.loose;
  if (cell.empty()) cell = ink;
  g.size = c.size_pt > 0.1F ? c.size_pt : std::max(cell.height(), 1.0F);
  g.size = std::clamp(g.size, 0.5F, 2000.0F);
  const bool ink_known = ink.height() > 0 && ink.width() > 0;
  // The lower edge of a cell lies a descent below the baseline; a fifth of the size is what most fonts have.
  const bool odd = cell.height() > 1.9F * g.size || cell.height() < 0.4F * g.size;
  if (ink_known && stands(c.code))
    g.baseline = ink.y1;
  else if (!odd)
    g.baseline = cell.y1 - 0.21F * cell.height();
  else
    g.baseline = ink_known ? ink.y1 : cell.y1;
  // Fonts may claim an absurd ascent or none; lines are found by overlap, so such cells are replaced by a usual one.
  if (odd) {
    cell.y0 = g.baseline - 0.8F * g.size;
    cell.y1 = g.baseline + 0.22F * g.size;
  }
  if (cell.x1 < cell.x0) std::swap(cell.x0, cell.x1);
  if (ink_known && cell.width() < 0.01F) cell.x0 = ink.x0, cell.x1 = ink.x1;
  g.cell = cell;
  return g;
}

// Overprinted doubles: fake bold draws a glyph twice, a hair apart. At most a few glyphs are remembered for each spot,
// so that a page with everything in one place stays cheap.
class Doubles {
 public:
  bool seen(const Glyph& g) {
    const float reach = std::min(0.13F * g.size, 2.0F);
    const auto col = static_cast<std::int64_t>(std::floor(g.cell.x0 / 2));
    const auto row = static_cast<std::int64_t>(std::floor(g.baseline / 2));
    for (std::int64_t dx = -1; dx <= 1; ++dx) {
      for (std::int64_t dy = -1; dy <= 1; ++dy) {
        const auto found = spots_.find(key(g.code, col + dx, row + dy));
        if (found == spots_.end()) continue;
        for (std::size_t i = 0; i < found->second.count; ++i) {
          const auto& [x, y] = found->second.at[i];
          if (std::abs(x - g.cell.x0) < reach && std::abs(y - g.baseline) < reach) return true;
        }
      }
    }
    Spot& spot = spots_[key(g.code, col, row)];
    if (spot.count < spot.at.size()) spot.at[spot.count++] = {g.cell.x0, g.baseline};
    return false;
  }

 private:
  struct Spot {
    std::array<std::pair<float, float>, 4> at{};
    std::size_t count = 0;
  };
  static std::uint64_t key(char32_t code, std::int64_t col, std::int64_t row) {
    const auto mix = static_cast<std::uint64_t>(col) * 0x9E3779B97F4A7C15ULL ^
                     static_cast<std::uint64_t>(row) * 0xC2B2AE3D27D4EB4FULL;
    return mix ^ (static_cast<std::uint64_t>(code) << 40);
  }
  std::unordered_map<std::uint64_t, Spot> spots_;
};

// The characters a glyph is written out as: ligatures open, old symbol fonts speak Unicode, controls vanish.
std::u32string written_out(char32_t code, const document::Font* font) {
  if (code == 2 || code == 0xAD) return U"-";  // PDFium's mark for a hyphen that breaks a word; the soft hyphen
  if (is_control(code)) return {};
  if (is_private_use(code)) {
    const bool dingbats = font != nullptr && font->name.find("ingdings") != std::string::npos;
    const char32_t known = symbol_font_character(code, dingbats);
    return known != 0 ? std::u32string(1, known) : std::u32string{};
  }
  const std::u32string_view letters = presentation_letters(code);
  return letters.empty() ? std::u32string(1, code) : std::u32string(letters);
}

bool mostly_invisible(const std::vector<Char>& chars) {
  const auto hidden = std::ranges::count_if(chars, [](const Char& c) { return (c.flags & Char::invisible) != 0; });
  return static_cast<std::size_t>(hidden) * 2 > chars.size();
}

bool sane(const RectPt& b) {
  const auto ok = [](float v) { return std::isfinite(v) && std::abs(v) < 1e6F; };
  return ok(b.x0) && ok(b.y0) && ok(b.x1) && ok(b.y1);
}

// An accent drawn over the letter beside it (TeX without accented glyphs): both become one character.
bool join_accent(std::vector<Glyph>& out, const Glyph& next) {
  if (out.empty()) return false;
  Glyph& last = out.back();
  const float overlap = std::min(last.cell.x1, next.cell.x1) - std::max(last.cell.x0, next.cell.x0);
  if (overlap < 0.4F * std::min(last.cell.width(), next.cell.width()) ||
      std::abs(last.baseline - next.baseline) > last.size)
    return false;
  char32_t joined = 0;
  if (const char32_t mark = combining_of_accent(last.code))
    joined = compose(next.code == 0x131 ? U'i' : next.code, mark);
  if (const char32_t mark = combining_of_accent(next.code); joined == 0 && mark != 0) joined = compose(last.code, mark);
  if (joined == 0) return false;
  const bool letter_is_next = combining_of_accent(last.code) != 0;
  const bool space = last.space_before;
  if (letter_is_next) last = next;
  last.code = joined;
  last.space_before = space;
  return true;
}

}  // namespace

Glyphs clean_glyphs(const document::PageContent& content) {
  Glyphs result;
  result.upright.reserve(content.chars.size());
  const bool keep_invisible = mostly_invisible(content.chars);
  Doubles doubles;
  bool space = false;
  bool line_break = false;
  const Char* previous = nullptr;
  for (const Char& c : content.chars) {
    if (c.code == '\n' || c.code == '\r') {
      space = line_break = true;
      continue;
    }
    if (is_blank(c.code)) {
      space = true;
      continue;
    }
    if (((c.flags & Char::invisible) != 0 && !keep_invisible) || !sane(c.box) || !sane(c.loose)) continue;
    if (!runs_left_to_right(c.angle_deg)) {
      result.askew.push_back(c);
      continue;
    }
    const std::u32string text = written_out(c.code, c.font < content.fonts.size() ? &content.fonts[c.font] : nullptr);
    if (text.empty()) continue;
    Glyph g = measure(c);
    if (c.code == 2 || c.code == 0xAD) g.flags |= Char::hyphen;
    g.space_before = space;
    g.break_before = line_break;
    g.code = c.code;
    // Letters of one ligature glyph share its box: the second f of "ff" is no double.
    const bool ligature = previous != nullptr && previous->code == c.code && previous->loose == c.loose &&
                          (c.code == 'f' || c.code == 0x0644);
    previous = &c;
    if (!is_combining(c.code) && !ligature && doubles.seen(g)) continue;
    g.code = text[0];
    space = line_break = false;
    if (text.size() == 1 && join_accent(result.upright, g)) continue;
    // The letters of a ligature share its width, in writing order.
    const bool rtl = is_rtl(text[0]);
    const float step = g.cell.width() / static_cast<float>(text.size());
    const RectPt whole = g.cell;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto at = static_cast<float>(rtl ? text.size() - 1 - i : i);
      g.code = text[i];
      g.cell.x0 = whole.x0 + at * step;
      g.cell.x1 = g.cell.x0 + step;
      result.upright.push_back(g);
      g.space_before = g.break_before = false;
    }
  }
  return result;
}

}  // namespace lectern::reading::layout
