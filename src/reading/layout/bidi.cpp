#include "reading/layout/bidi.h"

#include <algorithm>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

enum class Direction : std::uint8_t { left, right, neutral };

Direction direction_of(const Word& w) {
  if (w.rtl) return Direction::right;
  for (const char32_t c : w.text) {
    if (is_letter(c) || is_digit(c)) return Direction::left;
  }
  return Direction::neutral;
}

char32_t mirrored(char32_t c) {
  switch (c) {
    case '(':
      return ')';
    case ')':
      return '(';
    case '[':
      return ']';
    case ']':
      return '[';
    case '{':
      return '}';
    case '}':
      return '{';
    case 0xAB:
      return 0xBB;
    case 0xBB:
      return 0xAB;
    default:
      return c;
  }
}

// Files store brackets of right-to-left text by meaning or by shape. By shape they come out as ")…(".
void mend_brackets(std::vector<Word>& words) {
  int depth = 0;
  int wrong = 0;
  int right = 0;
  for (const Word& w : words) {
    for (const char32_t c : w.text) {
      const bool opens = c == '(' || c == '[' || c == 0xAB;
      const bool closes = c == ')' || c == ']' || c == 0xBB;
      if (opens) ++depth;
      if (closes) --depth;
      if (closes && depth < 0)
        ++wrong, depth = 0;
      else if (closes)
        ++right;
    }
  }
  if (wrong == 0 || right >= wrong) return;
  for (Word& w : words) {
    for (char32_t& c : w.text) c = mirrored(c);
  }
}

}  // namespace

bool runs_right_to_left(const std::vector<Word>& words) {
  std::size_t right = 0;
  std::size_t left = 0;
  for (const Word& w : words) {
    for (const char32_t c : w.text) {
      if (is_rtl(c))
        ++right;
      else if (is_letter(c))
        ++left;
    }
  }
  return right > 0 && right * 2 >= left;
}

void order_mixed_directions(std::vector<Word>& words, bool line_rtl) {
  const Direction base = line_rtl ? Direction::right : Direction::left;
  const Direction other = line_rtl ? Direction::left : Direction::right;
  std::vector<Direction> dirs;
  dirs.reserve(words.size());
  for (const Word& w : words) dirs.push_back(direction_of(w));
  // A neutral word belongs to the run it stands inside of, otherwise to the line.
  for (std::size_t i = 0; i < dirs.size();) {
    if (dirs[i] != Direction::neutral) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < dirs.size() && dirs[end] == Direction::neutral) ++end;
    const bool inside = i > 0 && end < dirs.size() && dirs[i - 1] == other && dirs[end] == other;
    std::fill(dirs.begin() + static_cast<std::ptrdiff_t>(i), dirs.begin() + static_cast<std::ptrdiff_t>(end),
              inside ? other : base);
    i = end;
  }
  if (line_rtl) {
    std::ranges::reverse(words);
    std::ranges::reverse(dirs);
  }
  for (std::size_t i = 0; i < dirs.size();) {
    std::size_t end = i;
    while (end < dirs.size() && dirs[end] == other) ++end;
    std::reverse(words.begin() + static_cast<std::ptrdiff_t>(i), words.begin() + static_cast<std::ptrdiff_t>(end));
    i = std::max(end, i + 1);
  }
  if (line_rtl) mend_brackets(words);
}

}  // namespace lectern::reading::layout
