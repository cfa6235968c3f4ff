// JBIG2 pictures come out as they went into an encoder, and any bytes give a picture or an error.
#include "image/jbig2.h"

#include <gtest/gtest.h>

#include <random>

#include "image/jbig2_encoder.h"
#include "image/test_pictures.h"

namespace lectern::image {
namespace {

struct Decoded {
  Status status;
  int rows = 0;
  FileBytes bits;  // as the encoder takes them
};

Decoded decoded(const FileBytes& stream, int width, int height) {
  Decoded out;
  out.status = decode_jbig2({width, height, stream}, [&](const std::uint8_t* pixels) {
    ++out.rows;
    const std::size_t begin = out.bits.size();
    out.bits.resize(begin + static_cast<std::size_t>(width + 7) / 8);
    for (int x = 0; x < width; ++x) {
      out.bits[begin + static_cast<std::size_t>(x / 8)] |= static_cast<std::uint8_t>(pixels[x] << (7 - x % 8));
    }
  });
  return out;
}

FileBytes coded(const FileBytes& bits, int width, int height, const Jbig2Options& options = {}) {
  const std::string stream = encode_jbig2({width, height, bits}, options);
  return {stream.begin(), stream.end()};
}

// Of a thousand pixels so many are black; where `calm`, whole rows repeat and the left half is empty.
FileBytes random_bits(int width, int height, unsigned black, bool calm) {
  std::mt19937 random(black + static_cast<unsigned>(width));
  const std::size_t stride = static_cast<std::size_t>(width + 7) / 8;
  FileBytes bits(stride * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    std::uint8_t* row = bits.data() + stride * static_cast<std::size_t>(y);
    if (calm && y % 5 != 0) {
      std::copy(row - stride, row, row);
      continue;
    }
    for (int x = calm ? width / 2 : 0; x < width; ++x) {
      if (random() % 1000 < black) row[x / 8] |= static_cast<std::uint8_t>(0x80 >> (x % 8));
    }
  }
  return bits;
}

TEST(Jbig2, WhatWasCodedComesOut) {
  for (const int width : {1, 2, 3, 4, 7, 8, 9, 65, 403}) {
    for (const int height : {1, 2, 3, 120}) {
      for (const unsigned black : {0U, 3U, 60U, 500U, 990U, 1000U}) {
        for (const bool calm : {false, true}) {
          const FileBytes bits = random_bits(width, height, black, calm);
          for (const Jbig2Options& options : {Jbig2Options{}, Jbig2Options{.typical_prediction = true},
                                              Jbig2Options{.typical_prediction = true, .stripe_rows = 50}}) {
            const Decoded out = decoded(coded(bits, width, height, options), width, height);
            ASSERT_TRUE(out.status.has_value()) << out.status.error().for_log;
            ASSERT_EQ(out.rows, height);
            ASSERT_EQ(out.bits, bits) << width << "x" << height << ", " << black << " in a thousand black";
          }
        }
      }
    }
  }
}

TEST(Jbig2, PaddingAndCommentsDoNotMatter) {
  const FileBytes bits = random_bits(65, 40, 60, false);
  const std::string comment = jbig2_globals("made by hand");
  FileBytes stream(comment.begin(), comment.end());
  for (const std::uint8_t byte : coded(bits, 65, 40)) stream.push_back(byte);
  put(stream, "\r\n");
  const Decoded out = decoded(stream, 65, 40);
  ASSERT_TRUE(out.status.has_value()) << out.status.error().for_log;
  EXPECT_EQ(out.bits, bits);
}

TEST(Jbig2, OtherKindsAreRefusedBeforeTheFirstRow) {
  constexpr std::size_t page_at = 11;
  constexpr std::size_t region_at = page_at + 19 + 11;
  struct Case {
    std::string_view name;
    std::size_t at;
    std::uint8_t value;
  };
  const Case cases[] = {{"black paper", page_at + 16, 5},
                        {"another width", page_at + 3, 66},
                        {"another height", page_at + 7, 41},
                        {"a region beside the edge", region_at + 11, 1},
                        {"a region below the edge", region_at + 15, 1},
                        {"combined by AND", region_at + 16, 1},
                        {"coded as a fax", region_at + 17, 1},
                        {"another template", region_at + 17, 2},
                        {"an unusual adaptive pixel", region_at + 18, 4},
                        {"text", region_at - 11 + 4, 6},
                        {"many segments referred to", region_at - 11 + 5, 0xE0}};
  const FileBytes stream = coded(random_bits(65, 40, 60, false), 65, 40);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    FileBytes changed = stream;
    changed[c.at] = c.value;
    const Decoded out = decoded(changed, 65, 40);
    ASSERT_FALSE(out.status.has_value());
    EXPECT_EQ(out.status.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(out.rows, 0);
    EXPECT_FALSE(is_cut_off_jbig2(changed));
  }
}

TEST(Jbig2, ACutIsNoticed) {
  const FileBytes stream = coded(random_bits(65, 40, 60, false), 65, 40);
  EXPECT_FALSE(is_cut_off_jbig2(stream));
  for (std::size_t size = 0; size < stream.size(); ++size) {
    const FileBytes cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
    SCOPED_TRACE(size);
    EXPECT_TRUE(is_cut_off_jbig2(cut));
    const Decoded out = decoded(cut, 65, 40);
    ASSERT_FALSE(out.status.has_value());
    EXPECT_EQ(out.status.error().kind, ErrorKind::corrupt);
    EXPECT_EQ(out.rows, 0);
  }
}

TEST(Jbig2, AnyBytesGiveAPictureOrAnError) {
  int pictures = 0;
  const FileBytes stream =
      coded(random_bits(65, 40, 60, true), 65, 40, {.typical_prediction = true, .stripe_rows = 15});
  for_each_damage(stream, [&](const FileBytes& damaged) {
    const Decoded out = decoded(damaged, 65, 40);
    EXPECT_EQ(out.rows, out.status.has_value() ? 40 : 0);
    pictures += out.status.has_value() ? 1 : 0;
  });
  EXPECT_GT(pictures, 0) << "damage to the coded pixels alone cannot be noticed";
}

}  // namespace
}  // namespace lectern::image
