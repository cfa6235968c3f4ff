// Text as it streams in → symbols: words, numbers, single marks. What the search for loops compares, several times
// fewer than characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lectern::reading {

enum class SymbolKind : std::uint8_t { word, markup, ideograph, number, newline, space, mark };

struct Symbol {
  std::uint32_t begins_at = 0;  // byte of the text
  std::uint32_t value = 0;      // numbers: what they count
  std::int16_t exact = 0;       // the same for the same text
  std::int16_t loose = 0;       // the same for any number
  std::uint8_t chars = 0;       // characters, with the one blank before it
  SymbolKind kind = SymbolKind::mark;
};

extern const std::int16_t row_symbol;  // `exact` of the tag that opens a row of a table
extern const std::int16_t bar_symbol;  // `exact` of "|"

class SymbolSplitter {
 public:
  // Calls `emit(Symbol)` for each symbol that is complete; what is cut by the end of a piece waits for the next one.
  template <class Emit>
  void add(std::string_view piece, Emit emit) {
    for (const char c : piece) {
      if (!take(static_cast<unsigned char>(c))) continue;
      for (std::size_t i = 0; i < ready_; ++i) emit(out_[i]);
      ready_ = 0;
    }
  }
  std::size_t bytes() const { return at_; }

 private:
  bool take(unsigned char byte);
  void character(char32_t c, std::uint32_t begins_at);
  void flush();
  void push(SymbolKind kind, std::uint32_t hash, std::uint32_t begins_at);

  std::uint32_t at_ = 0;
  // A character in UTF-8 that is not complete yet.
  char32_t partial_ = 0;
  int missing_ = 0;
  std::uint32_t partial_at_ = 0;
  // The word or number that is not complete yet.
  bool open_ = false;
  bool number_ = false;
  std::uint32_t open_at_ = 0;
  std::uint32_t hash_ = 0;
  std::uint32_t value_ = 0;
  int length_ = 0;
  bool long_ = false;  // the run of letters or digits went on so long that each is a symbol of its own
  bool blank_ = false;
  Symbol out_[2];
  std::size_t ready_ = 0;
};

}  // namespace lectern::reading
