#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reading/layout/unicode.h"
#include "reading/model/judge.h"

namespace lectern::reading {
namespace {

constexpr std::size_t words_least = 8;

// Signs of Asian typography that count as letters elsewhere.
bool is_separator(char32_t c) {
  return (c >= 0x3000 && c <= 0x303F) || (c >= 0xFF00 && c <= 0xFFEF && !(c >= 0xFF10 && c <= 0xFF19) &&
                                          !(c >= 0xFF21 && c <= 0xFF3A) && !(c >= 0xFF41 && c <= 0xFFDC));
}

char32_t lowered(char32_t c) {
  if (c >= 0xFF10 && c <= 0xFF5A) c -= 0xFEE0;  // full width
  if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) || (c >= 0x391 && c <= 0x3A9) ||
      (c >= 0x410 && c <= 0x42F))
    return c + 32;
  if (c >= 0x400 && c <= 0x40F) return c + 80;
  if (c >= 0x100 && c <= 0x17F && c % 2 == 0) return c + 1;  // mostly pairs, and both texts get the same
  return c;
}

std::uint64_t mixed(std::uint64_t hash, char32_t c) {
  return (hash ^ static_cast<std::uint64_t>(c)) * 1099511628211ULL;
}

// The words of a text as sorted hashes.
class Words {
 public:
  explicit Words(std::string_view utf8) {
    const std::u32string text = layout::from_utf8(utf8);
    for (std::size_t i = 0; i < text.size();) i += take(text, i);
    end_word();
    std::ranges::sort(hashes_);
  }
  const std::vector<std::uint64_t>& hashes() const { return hashes_; }

 private:
  std::size_t take(const std::u32string& text, std::size_t i) {
    const char32_t c = is_separator(text[i]) ? U' ' : text[i];
    const auto at = [&](std::size_t k) { return k < text.size() ? text[k] : U' '; };
    if (c == '<') {  // tags are markup
      const std::size_t end = text.find(U'>', i);
      const bool tag = layout::is_letter(at(i + 1)) || at(i + 1) == '/' || at(i + 1) == '!' || at(i + 1) == '|';
      if (tag && end != std::u32string::npos && end - i < 200) {
        end_word();
        return end - i + 1;
      }
    }
    if (c == ']' && at(i + 1) == '(') {  // so are targets of links
      const std::size_t end = text.find(U')', i);
      if (end != std::u32string::npos && end - i < 1000) {
        end_word();
        return end - i + 1;
      }
    }
    if (layout::is_ideograph(c)) {
      if (length_ > 0 && !ideographs_) end_word();
      ideographs_ = true;
      if (last_ != 0) hashes_.push_back(mixed(mixed(start, last_), c));
      last_ = c;
      ++length_;
      return 1;
    }
    const bool digit = layout::is_digit(c);
    if (digit || (layout::is_letter(c) || layout::is_combining(c))) {
      if (ideographs_) end_word();
      const std::u32string_view letters = layout::presentation_letters(c);
      if (letters.empty()) add(lowered(c));
      for (const char32_t letter : letters) add(lowered(letter));
      return 1;
    }
    // "1,234.5" and "1 234,5" are one number written in two ways; "don't" is one word; a hyphen at the end of a line
    // is none.
    const bool inside_number =
        (c == '.' || c == ',') && i > 0 && layout::is_digit(text[i - 1]) && layout::is_digit(at(i + 1));
    const bool apostrophe = (c == '\'' || c == 0x2019) && length_ > 0 && layout::is_letter(at(i + 1));
    if (inside_number || apostrophe || c == 0xAD) return 1;
    if (layout::is_dash(c) && at(i + 1) == '\n' && layout::is_lower(at(i + 2)) && length_ > 0) return 2;
    end_word();
    return 1;
  }
  void add(char32_t c) {
    hash_ = mixed(hash_, c);
    ++length_;
  }
  void end_word() {
    if (length_ > 0 && !ideographs_) hashes_.push_back(hash_);
    if (length_ == 1 && ideographs_) hashes_.push_back(mixed(start, last_));
    hash_ = start;
    length_ = 0;
    last_ = 0;
    ideographs_ = false;
  }

  static constexpr std::uint64_t start = 1469598103934665603ULL;
  std::vector<std::uint64_t> hashes_;
  std::uint64_t hash_ = start;
  int length_ = 0;
  char32_t last_ = 0;
  bool ideographs_ = false;
};

}  // namespace

std::optional<double> word_agreement(std::string_view a, std::string_view b) {
  const Words left(a);
  const Words right(b);
  const std::size_t together = left.hashes().size() + right.hashes().size();
  if (std::max(left.hashes().size(), right.hashes().size()) < words_least) return std::nullopt;
  std::size_t common = 0;
  for (auto l = left.hashes().begin(), r = right.hashes().begin();
       l != left.hashes().end() && r != right.hashes().end();) {
    if (*l == *r) {
      ++common;
      ++l;
      ++r;
    } else if (*l < *r) {
      ++l;
    } else {
      ++r;
    }
  }
  return 2.0 * static_cast<double>(common) / static_cast<double>(together);
}

}  // namespace lectern::reading
