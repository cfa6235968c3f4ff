// The little of Unicode that reading files needs: UTF-16 strings of PDFs to UTF-8, and sound UTF-8 out of doubtful
// bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lectern::document {

constexpr bool is_high_surrogate(char32_t c) {
  return c >= 0xD800 && c <= 0xDBFF;
}
constexpr bool is_low_surrogate(char32_t c) {
  return c >= 0xDC00 && c <= 0xDFFF;
}
constexpr char32_t join_surrogates(char32_t high, char32_t low) {
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

void append_utf8(std::string& to, char32_t code);                  // what is no Unicode scalar value becomes U+FFFD
std::string utf8_from_utf16(std::span<const std::uint16_t> text);  // stops at a NUL
// Bytes that are not printable ASCII are percent-encoded, as a URI wants them.
std::string clean_uri(std::string_view bytes);
// A character of a script written from right to left (Hebrew, Arabic, Syriac, Thaana, N'Ko… and their presentation
// forms).
bool is_right_to_left(char32_t code);

}  // namespace lectern::document
