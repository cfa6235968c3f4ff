#include "reading/layout/unicode.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "reading/layout/unicode_tables.h"

namespace lectern::reading::layout {
namespace {

bool within(char32_t c, char32_t first, char32_t last) {
  return c >= first && c <= last;
}

bool is_punctuation(char32_t c) {
  return within(c, 0x2000, 0x206F) || within(c, 0x20A0, 0x20CF) || within(c, 0x2190, 0x2BFF) ||
         within(c, 0x3000, 0x3004) || within(c, 0x3008, 0x3020) || within(c, 0xFF00, 0xFF0F) ||
         within(c, 0xFF1A, 0xFF20) || within(c, 0xFE30, 0xFE6F) || c == 0x060C || c == 0x061B || c == 0x061F ||
         c == 0x30FB || c == 0xFFFD;
}

}  // namespace

void append_utf8(std::string& out, char32_t code) {
  if (code > 0x10FFFF || within(code, 0xD800, 0xDFFF)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::string to_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_utf8(out, c);
  return out;
}

std::u32string from_utf8(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 0;
    if (length == 0 || i + length > text.size() || lead > 0xF4) {
      out += U'\xFFFD';
      ++i;
      continue;
    }
    char32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    bool sound = true;
    for (std::size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      sound = sound && (next & 0xC0U) == 0x80U;
      code = (code << 6) | (next & 0x3FU);
    }
    out += sound ? code : U'\xFFFD';
    i += sound ? length : 1;
  }
  return out;
}

bool is_blank(char32_t c) {
  return c == ' ' || within(c, 0x09, 0x0D) || c == 0xA0 || c == 0x1680 || within(c, 0x2000, 0x200B) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_control(char32_t c) {
  return c < 0x20 || within(c, 0x7F, 0x9F) || within(c, 0x200B, 0x200F) || within(c, 0x202A, 0x202E) ||
         within(c, 0x2060, 0x206F) || c == 0xFEFF || within(c, 0xFFF0, 0xFFFC) || within(c, 0xFFFE, 0xFFFF) ||
         c > 0x10FFFF || within(c, 0xD800, 0xDFFF) || within(c, 0xFDD0, 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

bool is_private_use(char32_t c) {
  return within(c, 0xE000, 0xF8FF) || c >= 0xF0000;
}

bool is_digit(char32_t c) {
  return within(c, '0', '9') || within(c, 0x0660, 0x0669) || within(c, 0x06F0, 0x06F9) || within(c, 0xFF10, 0xFF19);
}

bool is_letter(char32_t c) {
  if (c < 0x80) return within(c | 0x20U, 'a', 'z');
  if (c < 0xC0) return c == 0xAA || c == 0xB5 || c == 0xBA;
  if (c < 0x250) return c != 0xD7 && c != 0xF7;
  return !is_blank(c) && !is_control(c) && !is_private_use(c) && !is_digit(c) && !is_punctuation(c);
}

bool is_upper(char32_t c) {
  if (c < 0x80) return within(c, 'A', 'Z');
  if (within(c, 0xC0, 0xDE)) return c != 0xD7;
  if (within(c, 0x100, 0x137) || within(c, 0x14A, 0x177)) return (c & 1U) == 0;
  if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17E)) return (c & 1U) == 1;
  return within(c, 0x391, 0x3AB) || within(c, 0x400, 0x42F);
}

bool is_lower(char32_t c) {
  if (c < 0x80) return within(c, 'a', 'z');
  if (within(c, 0xDF, 0xFF)) return c != 0xF7;
  if (within(c, 0x100, 0x137) || within(c, 0x14A, 0x177)) return (c & 1U) == 1;
  if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17E)) return (c & 1U) == 0;
  return within(c, 0x3AC, 0x3CE) || within(c, 0x430, 0x45F);
}

bool is_rtl(char32_t c) {
  if (is_combining(c) || is_digit(c)) return false;
  return within(c, 0x0590, 0x08FF) || within(c, 0xFB1D, 0xFDFF) || within(c, 0xFE70, 0xFEFC) ||
         within(c, 0x10800, 0x10FFF);
}

bool is_ideograph(char32_t c) {
  return within(c, 0x2E80, 0x2FDF) || within(c, 0x3001, 0x30FF) || within(c, 0x31F0, 0x31FF) ||
         within(c, 0x3400, 0x4DBF) || within(c, 0x4E00, 0x9FFF) || within(c, 0xF900, 0xFAFF) ||
         within(c, 0xFF01, 0xFF60) || within(c, 0x20000, 0x2FFFF);
}

bool is_combining(char32_t c) {
  return within(c, 0x0300, 0x036F) || within(c, 0x0591, 0x05BD) || c == 0x05BF || within(c, 0x05C1, 0x05C2) ||
         within(c, 0x064B, 0x065F) || c == 0x0670 || within(c, 0x06D6, 0x06DC) || within(c, 0x20D0, 0x20FF) ||
         within(c, 0xFE20, 0xFE2F);
}

bool is_dash(char32_t c) {
  return c == '-' || c == 0xAD || c == 0x2010 || c == 0x2011;
}

bool is_bullet(char32_t c) {
  static constexpr std::u32string_view bullets =
      U"\u2022\u2023\u2043\u204C\u204D\u2219\u25A0\u25A1\u25AA\u25AB\u25B6\u25B8\u25BA\u25C6\u25C7\u25CB\u25CF\u25D8"
      U"\u25E6"
      U"\u2605\u2606\u2610\u2611\u2612\u2713\u2714\u2717\u2718\u2726\u2727\u2751\u2752\u274F\u2794\u27A2\u27A4\u00B7"
      U"\u30FB\u25FB"
      U"\u25FC\u2B1A\u2756\u22C4";
  return bullets.find(c) != std::u32string_view::npos;
}

bool is_sentence_end(char32_t c) {
  return c == '.' || c == '!' || c == '?' || c == ':' || c == 0x2026 || c == 0x3002 || c == 0xFF01 || c == 0xFF1F ||
         c == 0x061F || c == 0x06D4 || c == ';';
}

bool is_closing(char32_t c) {
  return c == ')' || c == ']' || c == '}' || c == '"' || c == '\'' || c == 0x2019 || c == 0x201D || c == 0xBB ||
         c == 0x203A || c == 0x300D || c == 0x300F || c == 0xFF09;
}

std::u32string_view presentation_letters(char32_t c) {
  if (c < 0xFB00) return {};
  const auto found = std::ranges::lower_bound(presentation_forms, c, {}, &PresentationForm::form);
  if (found == presentation_forms.end() || found->form != c) return {};
  const auto end = std::ranges::find(found->letters, U'\0');
  return {found->letters.data(), static_cast<std::size_t>(end - found->letters.begin())};
}

char32_t compose(char32_t base, char32_t mark) {
  const auto before = [](const Composition& a, const Composition& b) {
    return a.base != b.base ? a.base < b.base : a.mark < b.mark;
  };
  const auto found = std::lower_bound(compositions.begin(), compositions.end(), Composition{base, mark, 0}, before);
  return found != compositions.end() && found->base == base && found->mark == mark ? found->composed : U'\0';
}

char32_t combining_of_accent(char32_t c) {
  switch (c) {
    case 0x60:
      return 0x300;
    case 0xB4:
      return 0x301;
    case 0x2C6:
      return 0x302;
    case 0x2DC:
      return 0x303;
    case 0xAF:
      return 0x304;
    case 0x2D8:
      return 0x306;
    case 0x2D9:
      return 0x307;
    case 0xA8:
      return 0x308;
    case 0x2DA:
      return 0x30A;
    case 0x2DD:
      return 0x30B;
    case 0x2C7:
      return 0x30C;
    case 0xB8:
      return 0x327;
    default:
      return 0;
  }
}

char32_t symbol_font_character(char32_t c, bool dingbats) {
  if (!within(c, 0xF020, 0xF0FF)) return 0;
  const char32_t low = c - 0xF000;
  if (dingbats) {
    switch (low) {
      case 0x6C:
        return U'\x25CF';
      case 0x6E:
        return U'\x25A0';
      case 0x6F:
      case 0x71:
      case 0xA8:
        return U'\x25A1';
      case 0x76:
        return U'\x2756';
      case 0x77:
        return U'\x25C6';
      case 0xA7:
        return U'\x25AA';
      case 0xB7:
      case 0x9F:
        return U'\x2022';
      case 0xD8:
        return U'\x27A2';
      case 0xE0:
      case 0xE8:
      case 0xF0:
        return U'\x2192';
      case 0xFB:
        return U'\x2717';
      case 0xFC:
        return U'\x2713';
      case 0xFD:
      case 0xFE:
        return U'\x2611';
      default:
        return 0;
    }
  }
  // Greek letters sit at the places of the Latin ones in Symbol's own encoding.
  static constexpr std::u32string_view lower = U"αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
  if (within(low, 'a', 'z')) return lower[low - 'a'];
  if (within(low, '0', '9')) return low;
  switch (low) {
    case 0x2D:
      return U'-';
    case 0x44:
      return U'\x394';
    case 0x53:
      return U'\x3A3';
    case 0x57:
      return U'\x3A9';
    case 0xA3:
      return U'\x2264';
    case 0xA7:
      return U'\x25AA';
    case 0xA8:
      return U'\x25A1';
    case 0xAE:
      return U'\x2192';
    case 0xB0:
      return U'\xB0';
    case 0xB1:
      return U'\xB1';
    case 0xB3:
      return U'\x2265';
    case 0xB4:
      return U'\xD7';
    case 0xB7:
      return U'\x2022';
    case 0xB9:
      return U'\x2260';
    case 0xBB:
      return U'\x2248';
    case 0xD8:
      return U'\x27A2';
    case 0xFC:
      return U'\x2713';
    default:
      return 0;
  }
}

}  // namespace lectern::reading::layout
