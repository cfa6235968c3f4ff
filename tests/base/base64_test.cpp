#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace lectern {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// One bit after another, straight from the definition.
std::string by_definition(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 6) {
    unsigned value = 0;
    for (std::size_t i = bit; i < bit + 6; ++i) {
      const unsigned digit = i < bytes.size() * 8 ? (bytes[i / 8] >> (7 - i % 8)) & 1U : 0;
      value = value << 1 | digit;
    }
    text += alphabet[value];
  }
  while (text.size() % 4 != 0) text += '=';
  return text;
}

TEST(Base64, VectorsOfTheStandard) {
  struct Case {
    std::string_view plain, encoded;
  };
  const Case cases[] = {{"", ""},
                        {"f", "Zg=="},
                        {"fo", "Zm8="},
                        {"foo", "Zm9v"},
                        {"foob", "Zm9vYg=="},
                        {"fooba", "Zm9vYmE="},
                        {"foobar", "Zm9vYmFy"}};
  for (const Case& c : cases) EXPECT_EQ(base64_encode(bytes_of(c.plain)), c.encoded);
}

TEST(Base64, EveryEncoderAgreesWithTheDefinitionAtEveryLength) {
  SeededRandom random(7);
  for (const Base64Encoder& encoder : base64_encoders()) {
    SCOPED_TRACE(encoder.name);
    for (std::size_t size = 0; size < 400; ++size) {
      std::vector<std::uint8_t> bytes(size);
      for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
      std::string text(base64_size(size) + 1, '#');
      ASSERT_EQ(encoder.encode(bytes, text.data()), base64_size(size));
      ASSERT_EQ(text.back(), '#') << "nothing is written past the end";
      text.pop_back();
      ASSERT_EQ(text, by_definition(bytes)) << size;
    }
  }
}

TEST(Base64, EveryEncoderKnowsAllCharacters) {
  std::vector<std::uint8_t> bytes;
  for (unsigned i = 0; i < 64; ++i) {  // each value at each place of a group
    for (unsigned place = 0; place < 4; ++place) {
      const unsigned word = i << (18 - 6 * place);
      for (const unsigned shift : {16U, 8U, 0U}) bytes.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  }
  for (const Base64Encoder& encoder : base64_encoders()) {
    std::string text(base64_size(bytes.size()), '\0');
    encoder.encode(bytes, text.data());
    EXPECT_EQ(text, by_definition(bytes)) << encoder.name;
  }
}

TEST(Base64, DecodesWhatWasEncodedAndNothingElse) {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    const std::span<const std::uint8_t> view(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    std::string text = base64_encode(view);
    EXPECT_EQ(base64_decode(text), bytes);
    while (text.ends_with('=')) text.pop_back();
    EXPECT_EQ(base64_decode(text), bytes) << "padding may be left out";
    bytes += static_cast<char>(i * 7);
  }
  for (const std::string_view text :
       {"A", "AB=", "A===", "=", "AAAA=", "AB", "ABC", "A B=", "A-_=", "AA==AA==", "AAAAA"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace lectern
