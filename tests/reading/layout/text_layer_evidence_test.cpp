#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "document/page_content.h"
#include "reading/layout/layout.h"

namespace lectern::reading {
namespace {

document::PageContent page_of(std::u32string_view text, std::uint16_t flags = 0) {
  document::PageContent page;
  for (const char32_t code : text) {
    document::Char c;
    c.code = code;
    c.flags = flags;
    page.chars.push_back(c);
  }
  return page;
}

std::u32string shifted(std::u32string_view text, char32_t by) {
  std::u32string result;
  for (const char32_t code : text) result += code == U' ' ? code : code - by;
  return result;
}

constexpr std::u32string_view english =
    U"The driver will call you one hour before he arrives and please check the number of boxes before you sign for "
    U"them "
    U"because we cannot take back what has been opened";

struct Case {
  std::string_view name;
  std::u32string text;
  TextLayer expected;
};

TEST(JudgeTextLayer, TextIsDistrustedOnlyOnEvidence) {
  const Case cases[] = {
      {"nothing", U"", TextLayer::missing},
      {"English", std::u32string(english), TextLayer::trusted},
      {"Czech, poor in vowels",
       U"Strč prst skrz krk a čtvrt hrst zrn smrž pln skvrn zvlhl z mlh pak vlk zmrzl zhltl hrst zrn chrt zdrhl krtek "
       U"prchl a my jsme se tomu všichni smáli celé odpoledne v zahradě",
       TextLayer::trusted},
      {"Vietnamese, whose vowels carry accents",
       U"Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi mọi con người đều được tạo hóa "
       U"ban "
       U"cho lý trí và lương tâm",
       TextLayer::trusted},
      {"a table with dotted leaders, more dots than letters",
       U"Children having anaemia Female " + std::u32string(60, U'.') +
           U" 52.4 48.8 Persons suffering from tuberculosis " + std::u32string(80, U'.') +
           U" 2.2 1.5 Disease of the respiratory system " + std::u32string(90, U'.'),
       TextLayer::trusted},
      {"glyph numbers taken for characters", shifted(english, 29), TextLayer::garbled},
      {"a few abbreviations", U"DGXT KRZ BVWP HTML SRL GMBH", TextLayer::trusted},
      {"shouted English",
       U"THE DRIVER WILL CALL YOU ONE HOUR BEFORE HE ARRIVES AND PLEASE CHECK THE NUMBER OF BOXES BEFORE YOU SIGN FOR "
       U"THEM",
       TextLayer::trusted},
      {"codes of parts",
       U"KX7-PLQ BW20-ZRT QH88-MNV LL3-XKC GT41-WPB ZX90-QKD HJ12-VVR MM6-TSL PK77-BNX DW15-CZQ RT64-HGF XL29-KKP",
       TextLayer::trusted},
      {"Greek has no Latin letters",
       U"Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα", TextLayer::trusted},
      {"private use", std::u32string(40, U'\uE123'), TextLayer::garbled},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(judge_text_layer(page_of(c.text)).verdict, c.expected);
  }
}

TEST(JudgeTextLayer, AnInvisibleLayerIsToldApart) {
  EXPECT_EQ(judge_text_layer(page_of(english, document::Char::invisible)).verdict, TextLayer::invisible);
}

}  // namespace
}  // namespace lectern::reading
