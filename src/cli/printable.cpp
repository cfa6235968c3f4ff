#include "cli/printable.h"

namespace lectern::cli {
namespace {

// How many bytes the UTF-8 character has that begins with this one; 1 where none does.
std::size_t length_of(unsigned char first) {
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 1;
}

bool continues(std::string_view character) {
  for (const char c : character.substr(1)) {
    if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) return false;
  }
  return true;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    std::string_view character = text.substr(at, length_of(first));
    if (character.size() < length_of(first) || !continues(character)) character = text.substr(at, 1);
    at += character.size();
    if (first == '\n' || first == '\r' || first == '\t') {
      shown += ' ';
    } else if (first < 0x20 || first == 0x7F || (first >= 0x80 && character.size() == 1)) {
      shown += '?';  // a stray byte may be a command, too: 0x9B begins one
    } else if (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0) {
      shown += '?';  // the same commands as characters of Unicode
    } else {
      shown += character;
    }
  }
  return shown;
}

}  // namespace lectern::cli
