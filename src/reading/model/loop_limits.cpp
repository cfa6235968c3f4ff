#include "reading/model/loop_limits.h"

#include <algorithm>

namespace lectern::reading {
namespace {

constexpr double never = 1e9;

double tokens_of(const Symbol& symbol) {
  switch (symbol.kind) {
    case SymbolKind::word:
    case SymbolKind::markup:
      return symbol.chars * 0.25;
    case SymbolKind::ideograph:
      return 1;
    case SymbolKind::number:
      return symbol.chars * 0.5;
    case SymbolKind::newline:
    case SymbolKind::mark:
      return 0.5;
    case SymbolKind::space:
      return 0.1;
  }
  return 0;
}

// Enough of it, in characters or in tokens: scripts without blanks say in 500 characters what others say in 2,000.
struct Enough {
  double chars = never;
  double tokens = never;
  double rows = 0;
};

bool reached(const LoopUnit& unit, double turns, const Enough& enough) {
  if (unit.rows * turns < enough.rows) return false;
  return unit.chars * turns >= enough.chars || unit.tokens * turns >= enough.tokens;
}

bool mostly_filler(const LoopUnit& unit) {
  return !unit.markup && unit.filler * 10 > unit.chars * 6;  // tags would outweigh any words
}

}  // namespace

LoopUnit loop_unit(std::span<const Symbol> symbols) {
  LoopUnit unit{.symbols = static_cast<int>(symbols.size())};
  bool row_tag = false;
  for (const Symbol& symbol : symbols) {
    unit.chars += symbol.chars;
    unit.tokens += tokens_of(symbol);
    switch (symbol.kind) {
      case SymbolKind::word:
        unit.letters += symbol.chars;
        break;
      case SymbolKind::ideograph:
        unit.letters += 3;
        break;
      case SymbolKind::number:
        unit.digits += symbol.chars;
        break;
      case SymbolKind::newline:
        ++unit.rows;
        unit.filler += symbol.chars;
        break;
      case SymbolKind::markup:
        unit.table = true;
        unit.markup = true;
        unit.filler += symbol.chars;
        row_tag = row_tag || symbol.exact == row_symbol;
        break;
      case SymbolKind::mark:
        unit.table = unit.table || symbol.exact == bar_symbol;
        unit.filler += symbol.chars;
        break;
      case SymbolKind::space:
        unit.filler += symbol.chars;
        break;
    }
  }
  if (unit.rows == 0 && row_tag) unit.rows = 1;
  return unit;
}

bool is_loop(const LoopUnit& unit, double turns) {
  if (unit.letters == 0) {
    // Rules, leaders, blanks to fill in, empty cells, sheets full of zeros: a page may hold much of them, but a page's
    // line is not that long and its table has not that many rows.
    const bool numbers = unit.digits > 0;
    if (unit.rows == 0) return reached(unit, turns, {.chars = numbers ? 1000.0 : 1500.0});
    return reached(unit, turns, {.chars = 1500, .rows = 100}) ||
           reached(unit, turns, {.chars = numbers ? 4000.0 : 5000.0});
  }
  if (unit.rows > 0 && (mostly_filler(unit) || (unit.table && unit.letters <= 12))) {
    return reached(unit, turns, {.chars = 1500, .rows = 80}) || reached(unit, turns, {.chars = 4000});
  }
  if (unit.rows > 0 && unit.table) return reached(unit, turns, {.chars = 1800, .tokens = 460});
  if (unit.rows > 0 && unit.letters <= 12) return reached(unit, turns, {.chars = 1000, .tokens = 300, .rows = 60});
  // The longer the unit, the fewer turns it takes to be sure, but two after the first: forms come in duplicate.
  const bool dense = unit.tokens * 2 > unit.chars;
  if (turns < (dense ? 1.5 : 2.0) && unit.chars * turns < 1900) return false;
  if (turns < 1.5) return false;
  if (unit.chars <= 8) return reached(unit, turns, {.chars = 600, .tokens = 150});
  if (unit.chars <= 40) return reached(unit, turns, {.chars = 800, .tokens = 200});
  if (unit.chars <= 200) return reached(unit, turns, {.chars = 1200, .tokens = 300});
  return reached(unit, turns, {.chars = 1600, .tokens = 400});
}

bool is_counting_loop(const LoopUnit& unit, double turns) {
  if (turns < 6) return false;
  // Numbered lines to fill in and lists of rooms count too.
  if (unit.letters < 8 || mostly_filler(unit)) {
    return reached(unit, turns, {.chars = 1500, .rows = 150}) || reached(unit, turns, {.chars = 4000});
  }
  if (unit.table) return reached(unit, turns, {.chars = 2000, .rows = 40}) || reached(unit, turns, {.chars = 3000});
  return reached(unit, turns, {.chars = 1800, .tokens = 450});
}

}  // namespace lectern::reading
