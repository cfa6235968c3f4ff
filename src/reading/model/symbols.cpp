#include "reading/model/symbols.h"

#include <algorithm>
#include <array>

namespace lectern::reading {
namespace {

constexpr int run_max = 16;  // letters or digits in one symbol
constexpr std::uint32_t hash_start = 2166136261U;

constexpr std::uint32_t mixed(std::uint32_t hash, char32_t c) {
  return (hash ^ static_cast<std::uint32_t>(c)) * 16777619U;
}

constexpr std::uint32_t hash_of(std::string_view word) {
  std::uint32_t hash = hash_start;
  for (const char c : word) hash = mixed(hash, static_cast<char32_t>(c));
  return hash;
}

// Names of tags, entities and commands say nothing about a page.
constexpr std::array<std::uint32_t, 14> markup_names = {
    hash_of("table"), hash_of("thead"), hash_of("tbody"), hash_of("tr"),      hash_of("td"),
    hash_of("th"),    hash_of("br"),    hash_of("nbsp"),  hash_of("colspan"), hash_of("rowspan"),
    hash_of("quad"),  hash_of("hline"), hash_of("ref"),   hash_of("det")};

bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char32_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= 0xC0 && c < 0x2000 && c != 0xD7 && c != 0xF7);
}
// Written without blanks: each is a symbol.
bool is_ideograph(char32_t c) {
  return (c >= 0x2E80 && c < 0x3000) || (c >= 0x3040 && c < 0xA000) || (c >= 0xAC00 && c < 0xE000) ||
         (c >= 0xF900 && c < 0xFE00) || c >= 0x20000;
}
bool is_blank(char32_t c) {
  return c == ' ' || c == '\t' || c == 0xA0 || c == 0x3000;
}

constexpr std::int16_t folded(std::uint32_t hash) {
  const std::uint32_t spread = hash * 2654435761U;
  return static_cast<std::int16_t>((spread >> 16U) ^ (spread & 0xFFFFU));
}

}  // namespace

const std::int16_t row_symbol = folded(hash_of("tr"));
const std::int16_t bar_symbol = folded(hash_of("|"));

bool SymbolSplitter::take(unsigned char byte) {
  const std::uint32_t here = at_++;
  if (missing_ > 0 && (byte & 0xC0U) == 0x80U) {
    partial_ = (partial_ << 6U) | (byte & 0x3FU);
    if (--missing_ > 0) return false;
    character(partial_, partial_at_);
    return ready_ > 0;
  }
  missing_ = 0;
  if (byte < 0x80U) {
    character(byte, here);
    return ready_ > 0;
  }
  partial_at_ = here;
  if ((byte & 0xE0U) == 0xC0U) {
    partial_ = byte & 0x1FU;
    missing_ = 1;
  } else if ((byte & 0xF0U) == 0xE0U) {
    partial_ = byte & 0x0FU;
    missing_ = 2;
  } else if ((byte & 0xF8U) == 0xF0U) {
    partial_ = byte & 0x07U;
    missing_ = 3;
  } else {
    character(0xFFFD, here);
  }
  return ready_ > 0;
}

void SymbolSplitter::character(char32_t c, std::uint32_t begins_at) {
  const bool digit = is_digit(c);
  if (digit || is_letter(c)) {
    if (open_ && number_ != digit) flush();
    if (long_ && number_ == digit) {
      push(digit ? SymbolKind::number : SymbolKind::word, mixed(hash_start, c), begins_at);
      return;
    }
    if (!open_) {
      open_ = true;
      long_ = false;
      number_ = digit;
      open_at_ = begins_at;
      hash_ = hash_start;
      value_ = 0;
      length_ = 0;
    }
    hash_ = mixed(hash_, c);
    if (digit) value_ = value_ * 10 + static_cast<std::uint32_t>(c - '0');
    if (++length_ == run_max) {
      flush();
      long_ = true;
    }
    return;
  }
  if (open_) flush();
  long_ = false;
  if (is_blank(c)) {
    // One blank belongs to what follows it; more are symbols, because a loop may consist of them.
    if (blank_) push(SymbolKind::space, mixed(hash_start, ' '), begins_at);
    blank_ = true;
    return;
  }
  if (c == '\r') return;
  if (c == '\n') {
    push(SymbolKind::newline, mixed(hash_start, c), begins_at);
  } else {
    push(is_ideograph(c) ? SymbolKind::ideograph : SymbolKind::mark, mixed(hash_start, c), begins_at);
  }
}

void SymbolSplitter::flush() {
  const bool named = !number_ && std::ranges::find(markup_names, hash_) != markup_names.end();
  push(number_ ? SymbolKind::number : named ? SymbolKind::markup : SymbolKind::word, hash_, open_at_);
  open_ = false;
}

void SymbolSplitter::push(SymbolKind kind, std::uint32_t hash, std::uint32_t begins_at) {
  const int letters = open_ && begins_at == open_at_ ? length_ : 1;
  Symbol& symbol = out_[ready_++];
  symbol.begins_at = begins_at;
  symbol.value = kind == SymbolKind::number ? value_ : 0;
  symbol.exact = folded(hash);
  symbol.loose = kind == SymbolKind::number ? std::int16_t{1} : symbol.exact;
  symbol.chars = static_cast<std::uint8_t>(letters + (blank_ ? 1 : 0));
  symbol.kind = kind;
  blank_ = false;
}

}  // namespace lectern::reading
