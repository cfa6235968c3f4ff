#include "reading/layout/unicode.h"

#include <gtest/gtest.h>

namespace lectern::reading::layout {
namespace {

TEST(Unicode, Utf8RoundTrip) {
  for (const std::string_view text : {"", "plain", "é ß Ω", "日本語", "😀 ok", "שלום"})
    EXPECT_EQ(to_utf8(from_utf8(text)), text);
}

TEST(Unicode, InvalidBytesBecomeReplacementCharacters) {
  EXPECT_EQ(from_utf8("a\xFF"
                      "b"),
            U"a\xFFFD"
            U"b");
  EXPECT_EQ(from_utf8("\xC3"), U"\xFFFD");
  EXPECT_EQ(from_utf8("\xE2\x28\xA1").front(), U'\xFFFD');
  EXPECT_EQ(to_utf8(std::u32string(1, char32_t{0xD800})), "\xEF\xBF\xBD");
}

TEST(Unicode, PresentationFormsOpen) {
  struct Case {
    char32_t form;
    std::u32string_view letters;
  };
  const Case cases[] = {{U'\xFB01', U"fi"},    {U'\xFB03', U"ffi"}, {U'\xFEFB', U"\x644\x627"},
                        {U'\xFE8D', U"\x627"}, {U'a', U""},         {U'\xFFFF', U""}};
  for (const Case& c : cases) EXPECT_EQ(presentation_letters(c.form), c.letters) << static_cast<int>(c.form);
}

TEST(Unicode, AccentsCompose) {
  EXPECT_EQ(compose('e', 0x301), U'é');
  EXPECT_EQ(compose('c', 0x327), U'ç');
  EXPECT_EQ(compose('q', 0x301), 0U);
  EXPECT_EQ(combining_of_accent(0xA8), 0x308U);
  EXPECT_EQ(combining_of_accent('x'), 0U);
}

TEST(Unicode, Classes) {
  EXPECT_TRUE(is_lower(U'ž') && is_upper(U'Ž') && is_upper(U'Б') && is_lower(U'б'));
  EXPECT_TRUE(is_rtl(U'ש') && is_rtl(U'م') && !is_rtl(U'٣') && !is_rtl(U'a'));
  EXPECT_TRUE(is_ideograph(U'漢') && is_ideograph(U'か') && !is_ideograph(U'한'));
  EXPECT_TRUE(is_control(0x200E) && is_control(0xFEFF) && !is_control('a'));
  EXPECT_TRUE(is_bullet(U'•') && !is_bullet('x'));
}

TEST(Unicode, SymbolFontsShareCodePoints) {
  EXPECT_EQ(symbol_font_character(0xF0B7, false), U'•');
  EXPECT_EQ(symbol_font_character(0xF06C, true), U'●');
  EXPECT_EQ(symbol_font_character(0xF06C, false), U'λ');
  EXPECT_EQ(symbol_font_character(0xE000, false), 0U);
}

}  // namespace
}  // namespace lectern::reading::layout
