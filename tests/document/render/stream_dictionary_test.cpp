#include "document/render/stream_dictionary.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace lectern::document {
namespace {

TEST(DictionaryBefore, FindsTheOneThatBelongsToTheStream) {
  const std::string file = "4 0 obj << /A 1 >> endobj 5 0 obj\n<< /Type /XObject /P << /K -1 >> >>\nstream\r\nDATA";
  EXPECT_EQ(dictionary_before(file, file.find("DATA")), " /Type /XObject /P << /K -1 >> ");
  EXPECT_EQ(dictionary_before(file, file.find("DATA") + 1), std::nullopt) << "not at the beginning of a stream";
  EXPECT_EQ(dictionary_before(">> stream\nDATA", 10), std::nullopt);
  EXPECT_EQ(dictionary_before("", 5), std::nullopt);
}

TEST(DictionaryValue, ReadsEachKindOfValue) {
  const std::string_view dictionary =
      "/Width 10/Height 20 /Decode[1 0]/ColorSpace 12 0 R /Name /Inner /Parms << /Decode [0 1] /K -1 >> "
      "/Text (a \\) /Mask b) /Hex <414243> % /Mask comment\n /Last true";
  EXPECT_EQ(dictionary_value(dictionary, "Width"), "10");
  EXPECT_EQ(dictionary_value(dictionary, "Decode"), "[1 0]");
  EXPECT_EQ(dictionary_value(dictionary, "ColorSpace"), "12 0 R");
  EXPECT_EQ(dictionary_value(dictionary, "Parms"), "<< /Decode [0 1] /K -1 >>");
  EXPECT_EQ(dictionary_value(dictionary, "Last"), "true");
  EXPECT_EQ(dictionary_value(dictionary, "Mask"), std::nullopt) << "inside a string or a comment it is no key";
  EXPECT_EQ(dictionary_value(dictionary, "K"), std::nullopt) << "keys of nested dictionaries are not ours";
  EXPECT_EQ(dictionary_value(dictionary, "Inner"), std::nullopt) << "a value is no key";
}

TEST(PictureDictionary, JudgesHowSamplesAreTaken) {
  using Color = PictureDictionary::Color;
  struct Case {
    std::string_view text;
    PictureDictionary picture;
  };
  const Case cases[] = {
      {"/ColorSpace /DeviceRGB", {.color = Color::rgb}},
      {"/ColorSpace/DeviceGray/Decode[1 0]", {.color = Color::gray, .inverted = true}},
      {"/ColorSpace [/ICCBased 7 0 R] /Decode [0 1 0 1 0 1]", {.color = Color::icc}},
      {"/ColorSpace [/Indexed /DeviceRGB 1 <000000FFFFFF>]", {}},
      {"/ColorSpace 9 0 R", {}},
      {"/ColorSpace /DeviceGray /Decode [0 0.5]", {.color = Color::gray, .odd_decode = true}},
      {"/ColorSpace /DeviceGray /Decode [1.0 0.0]", {.color = Color::gray, .inverted = true}},
      {"/SMask 8 0 R", {.masked = true}},
      {"/Mask [0 0]", {.masked = true}},
      {"/ImageMask true", {.stencil = true}},
      {"/ImageMask false", {}},
      {"/DecodeParms << /K -1 /Columns 2480 /BlackIs1 true >>",
       {.has_parameters = true, .group4_columns = 2480, .black_is_one = true}},
      {"/DecodeParms [<< /K -1 >>]", {.has_parameters = true, .group4_columns = 1728}},
      {"/DecodeParms << /K 0 /Columns 2480 >>", {.has_parameters = true}},
      {"/DecodeParms << /K -1 /EncodedByteAlign true >>", {.has_parameters = true}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(std::string(c.text));
    EXPECT_EQ(read_picture_dictionary(c.text), c.picture);
  }
}

TEST(FindStream, TellsAlikeStreamsApart) {
  // Same headers and same ends, as scanners write them; only the middle differs.
  std::vector<std::uint8_t> one(400, 7);
  std::vector<std::uint8_t> two(400, 7);
  one[200] = 1;
  two[200] = 2;
  std::vector<std::uint8_t> file(50, 0);
  file.insert(file.end(), one.begin(), one.end());
  file.insert(file.end(), two.begin(), two.end());
  EXPECT_EQ(find_stream(file, one, 0), 50U);
  EXPECT_EQ(find_stream(file, two, 0), 450U);
  EXPECT_EQ(find_stream(file, one, 800), 50U) << "the hint only says where to look first";
  for (std::size_t hint = 0; hint <= file.size() + 5; hint += 7) {
    EXPECT_EQ(find_stream(file, one, hint), 50U) << hint;
    EXPECT_EQ(find_stream(file, two, hint), 450U) << hint;
  }
  two[399] = 9;
  EXPECT_EQ(find_stream(file, two, 0), std::nullopt);
  EXPECT_EQ(find_stream(file, std::vector<std::uint8_t>(10, 7), 0), std::nullopt) << "too short to be sure";
}

TEST(StreamDictionary, AnyBytesComeToAnEnd) {
  std::mt19937 random(11);
  const std::string letters = "<>[]()/% \n\\0R1abMaskDecode-.";
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 80, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const PictureDictionary picture = read_picture_dictionary(text);
    EXPECT_FALSE(picture.inverted && picture.odd_decode);
    const std::string file = "<<" + text + ">>\nstream\n";
    const auto found = dictionary_before(file, file.size());
    EXPECT_TRUE(!found || found->size() <= file.size());
  }
}

}  // namespace
}  // namespace lectern::document
