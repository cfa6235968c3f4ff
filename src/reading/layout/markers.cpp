#include "reading/layout/markers.h"

#include <algorithm>
#include <array>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

bool roman_digit(char32_t c) {
  return c == 'i' || c == 'v' || c == 'x' || c == 'I' || c == 'V' || c == 'X';
}

// "12", "a", "iv": what may stand before the dot of an ordered marker.
bool ordinal(std::u32string_view text) {
  if (text.empty() || text.size() > 4) return false;
  if (std::ranges::all_of(text, is_digit)) return text.size() <= 3;
  if (text.size() == 1) return is_lower(text[0]) || is_upper(text[0]);
  return std::ranges::all_of(text, roman_digit);
}

bool ordered_marker(std::u32string_view text) {
  if (text.size() < 2) return text.size() == 1 && text[0] >= 0x2460 && text[0] <= 0x24FF;
  if (text.front() == '(' && text.back() == ')') return ordinal(text.substr(1, text.size() - 2));
  if (text.front() == '[' && text.back() == ']')
    return std::ranges::all_of(text.substr(1, text.size() - 2), is_digit) && text.size() > 2;
  if (text.back() != '.' && text.back() != ')') return false;
  std::u32string_view body = text.substr(0, text.size() - 1);
  if (body.empty()) return false;
  return ordinal(body);
}

bool bullet_marker(std::u32string_view text) {
  if (text.size() != 1) return false;
  return is_bullet(text[0]) || text[0] == '-' || text[0] == 0x2013 || text[0] == 0x2014 || text[0] == '*' ||
         text[0] == 0x2212 || text[0] == 0xA7 || text[0] == 0x25E6;
}

std::u32string lower_ascii(std::u32string_view text) {
  std::u32string out(text);
  for (char32_t& c : out) c = c < 0x80 && is_upper(c) ? c + 0x20 : c;
  return out;
}

// The length of "figure 3-1" at the start of `text`, else 0.
std::size_t caption_label(std::u32string_view text) {
  static constexpr std::array<std::u32string_view, 30> labels = {
      U"figure",  U"fig.",   U"fig",    U"table",     U"tab.",      U"listing", U"example", U"chart",
      U"exhibit", U"plate",  U"scheme", U"algorithm", U"abbildung", U"abb.",    U"tabelle", U"tableau",
      U"figura",  U"tabela", U"tabla",  U"quadro",    U"gráfico",   U"imagem",  U"рисунок", U"таблица",
      U"[표",     U"그림",   U"図",     U"表",        U"图",        U"圖"};
  const std::u32string head = lower_ascii(text.substr(0, 14));
  for (const std::u32string_view label : labels) {
    if (!head.starts_with(label)) continue;
    std::size_t at = label.size();
    if (at < text.size() && is_letter(text[at])) continue;
    while (at < text.size() && text[at] == ' ') ++at;
    const std::size_t number = at;
    while (at < text.size() && (is_digit(text[at]) || ((text[at] == '.' || text[at] == '-' || text[at] == 0x2013) &&
                                                       at + 1 < text.size() && is_digit(text[at + 1]))))
      ++at;
    if (at == number) {
      while (at < text.size() && at - number < 4 && roman_digit(text[at])) ++at;
      if (at < text.size() && is_letter(text[at])) continue;
    }
    if (at == number) {
      if (text.size() > at + 1 && is_upper(text[at]) && !is_letter(text[at + 1]))
        ++at;  // "Table A"
      else
        continue;
    }
    return at;
  }
  return 0;
}

}  // namespace

bool is_marker_text(std::u32string_view text) {
  return bullet_marker(text) || ordered_marker(text);
}

bool is_numeric_text(std::u32string_view text) {
  std::size_t digits = 0;
  std::size_t letters = 0;
  for (const char32_t c : text) {
    if (is_digit(c))
      ++digits;
    else if (is_letter(c))
      ++letters;
  }
  if (digits == 0) return text.size() <= 2 && letters == 0;
  return letters <= 3 && letters <= digits;
}

std::optional<ListMarker> list_marker(const Line& line) {
  if (line.words.empty()) return std::nullopt;
  // A marker may be set in pieces: "(" "a" ")" in three styles.
  std::u32string head;
  std::size_t used = 0;
  while (used < line.words.size() && (used == 0 || !line.words[used].space_before) && head.size() < 8)
    head += line.words[used++].text;
  if (used < line.words.size() && !line.words[used].space_before) {
    // Some files put no space after the bullet.
    if (!is_bullet(line.words.front().text.front()) || line.words.front().text.size() != 1) return std::nullopt;
    head = line.words.front().text;
    used = 1;
  }
  ListMarker marker;
  marker.words = used;
  if (bullet_marker(head)) {
    marker.bullet = true;
    marker.text = "-";
  } else if (ordered_marker(head)) {
    marker.text = to_utf8(head);
  } else {
    return std::nullopt;
  }
  if (used >= line.words.size()) return std::nullopt;
  marker.content_x = line.words[used].box.x0;
  return marker;
}

bool opens_caption(std::u32string_view text) {
  return caption_label(text) > 0;
}

bool opens_caption_surely(std::u32string_view text) {
  const std::size_t end = caption_label(text);
  if (end == 0) return false;
  if (end >= text.size()) return true;
  const char32_t c = text[end];
  const auto parts = [](char32_t sign) {
    return sign == ':' || sign == '.' || sign == '|' || sign == ']' || sign == 0x2013 || sign == 0x2014 || sign == ')';
  };
  if (parts(c) || (c == ' ' && end + 1 < text.size() && parts(text[end + 1]))) return true;
  // "Figure 3-5 Special registers": a title follows, not a verb.
  return c == ' ' && end + 1 < text.size() && (is_upper(text[end + 1]) || is_ideograph(text[end + 1]));
}

int numbering_depth(std::string_view text) {
  std::size_t at = 0;
  int depth = 0;
  const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  while (digit(at)) {
    const std::size_t from = at;
    while (digit(at)) ++at;
    if (at - from > 3) return 0;
    ++depth;
    if (at < text.size() && text[at] == '.' && digit(at + 1))
      ++at;
    else
      break;
  }
  if (depth > 0) {
    if (at < text.size() && (text[at] == '.' || text[at] == ')')) ++at;
    return at < text.size() && text[at] == ' ' ? depth : 0;
  }
  for (const std::string_view word :
       {"Chapter ", "Part ", "Appendix ", "CHAPTER ", "PART ", "APPENDIX ", "Kapitel ", "Capítulo "}) {
    if (text.starts_with(word)) return 1;
  }
  std::size_t roman = 0;
  while (roman < text.size() && roman < 5 && (text[roman] == 'I' || text[roman] == 'V' || text[roman] == 'X')) ++roman;
  if (roman > 0 && text.substr(roman, 2) == ". ") return 1;
  if (text.size() > 2 && text[0] >= 'A' && text[0] <= 'Z' && text.substr(1, 2) == ". ") return 1;
  return 0;
}

std::size_t note_mark(std::u32string_view text) {
  if (text.empty()) return 0;
  if (text[0] == '*' || text[0] == 0x2020 || text[0] == 0x2021 || text[0] == 0xA7 || text[0] == 0xB6) {
    std::size_t n = 1;
    while (n < text.size() && n < 3 && text[n] == text[0]) ++n;
    return n;
  }
  std::size_t digits = 0;
  while (digits < text.size() && digits < 4 && is_digit(text[digits])) ++digits;
  if (digits == 0 || digits > 3) return 0;
  return digits < text.size() && text[digits] == ')' ? digits + 1 : digits;
}

bool has_leaders(std::u32string_view text) {
  int run = 0;
  for (const char32_t c : text) {
    if (c == '.' || c == 0x2026 || c == 0x22EF)
      run += c == '.' ? 1 : 3;
    else if (c != ' ')
      run = 0;
    if (run >= 5) return true;
  }
  return false;
}

}  // namespace lectern::reading::layout
