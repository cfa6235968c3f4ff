// What layout needs to know about characters: classes, UTF-8, presentation forms, symbols of old symbol fonts.
// Deliberately small: a page needs a handful of classes, not a Unicode library.
#pragma once

#include <string>
#include <string_view>

namespace lectern::reading::layout {

void append_utf8(std::string& out, char32_t code);
std::string to_utf8(std::u32string_view text);
// Invalid bytes become U+FFFD, one each.
std::u32string from_utf8(std::string_view text);

bool is_blank(char32_t c);    // spaces of all kinds, line breaks, zero-width space
bool is_control(char32_t c);  // characters that must never reach an output
bool is_private_use(char32_t c);
bool is_digit(char32_t c);
bool is_letter(
    char32_t c);  // any script; an approximation that takes everything above U+0250 but punctuation for a letter
bool is_lower(char32_t c);
bool is_upper(char32_t c);
bool is_rtl(char32_t c);           // strong right-to-left: Hebrew, Arabic, Syriac, Thaana, N'Ko
bool is_ideograph(char32_t c);     // Han and kana: written without spaces between words
bool is_combining(char32_t c);     // combining marks, Arabic vowel signs, Hebrew points
bool is_dash(char32_t c);          // hyphen-minus, soft, non-breaking and typographic hyphens
bool is_bullet(char32_t c);        // glyphs that open list items
bool is_sentence_end(char32_t c);  // . ! ? : and their like in other scripts
bool is_closing(char32_t c);       // closing quotes and brackets, which may follow a sentence's end

// The letters a presentation form stands for (ﬁ → fi, ﻻ → لا); empty when `c` is none.
std::u32string_view presentation_letters(char32_t c);
// The character that `base` and the combining `mark` make together, or 0.
char32_t compose(char32_t base, char32_t mark);
// The combining mark that a spacing accent stands for (´ → U+0301), or 0.
char32_t combining_of_accent(char32_t c);
// Glyphs of Symbol and Wingdings arrive in the private use area (U+F0xx): the character meant, or 0. The two fonts
// share code points, so the caller says which it is.
char32_t symbol_font_character(char32_t c, bool dingbats);

}  // namespace lectern::reading::layout
