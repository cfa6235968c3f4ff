// Whether the text layer of a page says what the page shows. OCR is slow and makes mistakes of its own, so a layer is
// distrusted only on evidence.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "reading/layout/layout.h"
#include "reading/layout/unicode.h"

namespace lectern::reading {
namespace {

using document::Char;
using namespace layout;

struct Counts {
  std::size_t visible_chars = 0;  // neither blanks nor generated
  std::size_t unmapped = 0;       // no Unicode value, private use, replacement characters, controls
  std::size_t invisible = 0;
  std::size_t words = 0;
  std::size_t strange_words = 0;  // letters of one word that no language mixes so
  std::array<std::size_t, 128> ascii{};
};

// The eight letters that make up more than half of a text in most languages of Latin script.
bool is_frequent(int code) {
  return std::string_view("etaoinsr").find(static_cast<char>(code)) != std::string_view::npos;
}

// Fonts whose glyph numbers pass for characters shift every letter by the same amount: "The driver" becomes "7KH
// GULYHU". Such text reads like a language only once it is shifted back. Only letters are asked whether the text is
// sound: a page of figures or of dotted leaders has few letters, but those it has are those of a language. Sound text
// (English, French, German, Portuguese, Czech) has more than half of its letters among the frequent ones; shifted text
// at most a third, and 45% or more of all its characters when shifted back.
bool is_shifted(const std::array<std::size_t, 128>& ascii) {
  constexpr std::size_t letters_least = 80;  // fewer prove nothing
  constexpr double sound_least = 0.42;
  constexpr double shifted_back_least = 0.45;
  std::size_t total = 0;
  std::size_t letters = 0;
  std::size_t sound = 0;
  for (int code = 0x21; code < 0x7F; ++code) {
    const int lower = code >= 'A' && code <= 'Z' ? code + 0x20 : code;
    total += ascii[code];
    if (lower >= 'a' && lower <= 'z') letters += ascii[code];
    if (is_frequent(lower)) sound += ascii[code];
  }
  if (letters < letters_least || static_cast<double>(sound) >= sound_least * static_cast<double>(letters)) return false;
  for (int shift = -60; shift <= 60; ++shift) {
    std::size_t back = 0;
    for (int code = 0x21; code < 0x7F; ++code) {
      if (code + shift >= 'a' && code + shift <= 'z' && is_frequent(code + shift)) back += ascii[code];
    }
    if (static_cast<double>(back) >= shifted_back_least * static_cast<double>(total)) return true;
  }
  return false;
}

bool strange(const std::u32string& word) {
  if (word.size() < 3) return false;
  std::size_t letters = 0;
  std::size_t upper_after_lower = 0;
  std::size_t signs_inside = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (is_letter(word[i])) ++letters;
    if (i > 0 && is_upper(word[i]) && is_lower(word[i - 1])) ++upper_after_lower;
    const bool sign = (word[i] >= 0x21 && word[i] <= 0x26) || word[i] == '<' || word[i] == '>' || word[i] == '=' ||
                      word[i] == '\\' || word[i] == '^' || word[i] == '~' || word[i] == '|' ||
                      (word[i] >= 0xA1 && word[i] <= 0xBF);
    if (sign && i > 0 && i + 1 < word.size()) ++signs_inside;
  }
  return letters > 0 && (upper_after_lower >= 2 || signs_inside * 3 >= word.size());
}

Counts count(const document::PageContent& content) {
  Counts n;
  std::u32string word;
  const auto finish = [&] {
    if (!word.empty()) {
      ++n.words;
      if (strange(word)) ++n.strange_words;
    }
    word.clear();
  };
  for (const Char& c : content.chars) {
    if (is_blank(c.code) || (c.flags & Char::generated) != 0) {
      finish();
      continue;
    }
    ++n.visible_chars;
    if ((c.flags & Char::invisible) != 0) ++n.invisible;
    const bool symbol = is_private_use(c.code) &&
                        (symbol_font_character(c.code, true) != 0 || symbol_font_character(c.code, false) != 0);
    const bool hyphen = c.code == 2 || c.code == 0xAD;
    const bool nameless = (is_control(c.code) && !hyphen) || (is_private_use(c.code) && !symbol) || c.code == 0xFFFD ||
                          ((c.flags & Char::unmapped) != 0 && !is_letter(c.code) && !is_digit(c.code) && c.code > 0x7F);
    if (nameless) ++n.unmapped;
    if (c.code < n.ascii.size()) ++n.ascii[c.code];
    if (word.size() < 60) word += c.code;
  }
  finish();
  return n;
}

double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

TextLayerJudgement judge_text_layer(const document::PageContent& content) {
  const Counts n = count(content);
  if (n.visible_chars == 0) return {TextLayer::missing, 0, "The page has no text layer."};
  const double nameless = share(n.unmapped, n.visible_chars);
  const double strange_share = share(n.strange_words, n.words);
  const double score = std::clamp(1 - nameless * 1.5 - strange_share, 0.0, 1.0);
  if (nameless > 0.3) {
    return {TextLayer::garbled, score,
            fmt::format("{:.0f}% of the characters have no known Unicode value.", nameless * 100)};
  }
  if (n.words >= 20 && strange_share > 0.3) {
    return {TextLayer::garbled, score,
            fmt::format("{:.0f}% of the words mix letters and signs as no language does.", strange_share * 100)};
  }
  if (is_shifted(n.ascii)) {
    return {TextLayer::garbled, std::min(score, 0.2),
            "The letters are shifted: the font numbers its glyphs and does not say what they mean."};
  }
  if (share(n.invisible, n.visible_chars) > 0.5) {
    return {TextLayer::invisible, score, "The text is invisible: a recognised layer over a scan."};
  }
  // A scanner's stamp or a page number over a picture of the page is no text layer of it.
  if (content.full_page_scan && n.visible_chars < 60) {
    return {TextLayer::missing, score,
            fmt::format("Only {} characters lie over a scan that fills the page.", n.visible_chars)};
  }
  return {TextLayer::trusted, score, "The text layer maps to sound Unicode."};
}

}  // namespace lectern::reading
