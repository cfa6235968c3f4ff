// Scans stored as JBIG2: decoded without drawing the page, every pixel right.
#include <gtest/gtest.h>

#include <random>

#include "document/render/scan_fixture.h"
#include "image/jbig2_encoder.h"
#include "image/resize.h"
#include "image/transform.h"

namespace lectern::document {
namespace {

using image::Image;
using image::PixelFormat;

constexpr int width_px = 403;  // the last byte of a row is not full
constexpr int height_px = 604;
constexpr std::size_t row_bytes = (width_px + 7) / 8;

// Words of blots in lines, specks of dust, empty rows, ink at both edges: what the coder's contexts meet. 1 = black.
FileBytes page_bits() {
  FileBytes bits(row_bytes * height_px);
  const auto blacken = [&](int x, int y) {
    bits[row_bytes * static_cast<std::size_t>(y) + static_cast<std::size_t>(x / 8)] |=
        static_cast<std::uint8_t>(0x80 >> (x % 8));
  };
  std::mt19937 random(20261115);
  for (int y = 0; y < height_px; ++y) {
    if (y % 3 == 0) blacken(0, y);
    if (y % 5 < 2) blacken(width_px - 1, y);
  }
  for (int line = 30; line + 12 < height_px; line += 20) {
    for (int x = 20; x < width_px - 40; x += 3 + static_cast<int>(random() % 12)) {
      const int wide = 1 + static_cast<int>(random() % 3);
      const int high = 4 + static_cast<int>(random() % 8);
      for (int i = 0; i < wide * high; ++i) blacken(x + i % wide + i / wide / 4, line + i / wide);
    }
  }
  for (int i = 0; i < 200; ++i) {
    blacken(static_cast<int>(random() % width_px), 200 + static_cast<int>(random() % 300));
  }
  return bits;
}

// Few and large shapes, which look the same whatever filter shrinks them.
FileBytes coarse_bits() {
  FileBytes bits(row_bytes * height_px);
  for (std::size_t y = 0; y < height_px; ++y) {
    for (std::size_t x = row_bytes / 4; x < row_bytes / 2 + y / 40; ++x)
      bits[row_bytes * y + x] = y / 50 % 2 == 0 ? 0xFF : 0;
  }
  return bits;
}

// What must be seen of them.
Image page_pixels(const FileBytes& bits, bool inverted = false) {
  Image image(width_px, height_px, PixelFormat::gray8);
  for (int y = 0; y < height_px; ++y) {
    for (int x = 0; x < width_px; ++x) {
      const std::uint8_t byte = bits[row_bytes * static_cast<std::size_t>(y) + static_cast<std::size_t>(x / 8)];
      const bool black = (byte >> (7 - x % 8) & 1) != 0;
      image.row(y)[x] = black != inverted ? 0 : 255;
    }
  }
  return image;
}

FileBytes coded(const FileBytes& bits, const image::Jbig2Options& options = {}) {
  const std::string stream = image::encode_jbig2({width_px, height_px, bits}, options);
  return {stream.begin(), stream.end()};
}

ScanPicture jbig2_picture(FileBytes stream, std::string_view more = "/ColorSpace /DeviceGray") {
  return {.entries = fmt::format("/Filter /JBIG2Decode /BitsPerComponent 1 {}", more),
          .bytes = std::move(stream),
          .width = width_px,
          .height = height_px};
}

class Jbig2ScanTest : public ScanTest {
 protected:
  // At its own size and reduced, as OCR and as models want it.
  void expect_pixels(const ScanPicture& picture, const Image& expected) {
    const auto backend = must_open(scan_pdf(picture, {}));
    ASSERT_TRUE(backend);
    const auto page = backend->inspect(1);
    ASSERT_TRUE(page.has_value() && page->full_page_scan.has_value());
    EXPECT_EQ(page->pictures[0].coding, ImageCoding::jbig2);
    EXPECT_EQ(page->pictures[0].bits_per_pixel, 1);

    const auto whole = backend->render({.dpi = 140, .native_dpi_max = 50});
    ASSERT_TRUE(whole.has_value()) << whole.error().for_log;
    EXPECT_EQ(whole->path, RenderPath::bilevel);
    ASSERT_EQ(whole->width_px, width_px);
    ASSERT_EQ(whole->height_px, height_px);
    EXPECT_EQ(whole->image.pixels, expected.pixels);

    for (const int divisor : {2, 5}) {
      SCOPED_TRACE(divisor);
      const int width = width_px / divisor;
      const int height = height_px / divisor;
      const auto reduced = backend->render({.width_px_max = width, .height_px_max = height, .exact = true});
      ASSERT_TRUE(reduced.has_value()) << reduced.error().for_log;
      EXPECT_EQ(reduced->path, RenderPath::bilevel);
      ASSERT_EQ(reduced->width_px, width);
      EXPECT_LT(image::mean_difference(reduced->image, image::resize_fast(expected, width, height)), 3.0);
    }
  }
};

TEST_F(Jbig2ScanTest, EveryPixelIsRight) {
  const FileBytes bits = page_bits();
  for (const bool typical_prediction : {false, true}) {
    SCOPED_TRACE(typical_prediction);
    expect_pixels(jbig2_picture(coded(bits, {.typical_prediction = typical_prediction})), page_pixels(bits));
  }
}

TEST_F(Jbig2ScanTest, SharedSegmentsDoNotHinder) {
  const FileBytes bits = page_bits();
  ScanPicture picture = jbig2_picture(coded(bits));
  picture.globals = image::jbig2_globals("nothing of use");
  expect_pixels(picture, page_pixels(bits));
}

TEST_F(Jbig2ScanTest, EveryPolarityIsRight) {
  const FileBytes bits = page_bits();
  const FileBytes stream = coded(bits);
  const FileBytes coarse = coded(coarse_bits());
  struct Case {
    std::string_view entries;
    bool inverted;
  };
  const Case cases[] = {{"/ColorSpace /DeviceGray /Decode [0 1]", false},
                        {"/ColorSpace /DeviceGray /Decode [1 0]", true},
                        {"/ImageMask true", false},
                        {"/ImageMask true /Decode [1 0]", true}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.entries);
    expect_pixels(jbig2_picture(stream, c.entries), page_pixels(bits, c.inverted));
    compare(jbig2_picture(coarse, c.entries), {}, RenderPath::bilevel, PixelFormat::gray8);
  }
}

TEST_F(Jbig2ScanTest, ItLooksAsDrawnHoweverItIsPutDown) {
  const FileBytes stream = coded(coarse_bits());
  for (const std::string& matrix : {"-200 0 0 -300 200 300", "0 300 -200 0 200 0", "192 0 0 292 4 4"}) {
    SCOPED_TRACE(matrix);
    compare(jbig2_picture(stream), {.matrix = matrix}, RenderPath::bilevel, PixelFormat::gray8);
  }
}

TEST_F(Jbig2ScanTest, OtherKindsAreLeftToPdfium) {
  const FileBytes bits = page_bits();
  // A picture of the page's size in a page that calls itself one row higher: sound, but not as plain as ours.
  FileBytes stream = coded(bits);
  constexpr std::size_t page_height_at = 11 + 4 + 3;
  ++stream[page_height_at];
  expect_pixels(jbig2_picture(stream), page_pixels(bits));
}

TEST_F(Jbig2ScanTest, WhatIsLeftOfADamagedScanIsShownAndNothingIsAnError) {
  const FileBytes bits = page_bits();
  const RenderRequest request{.width_px_max = width_px, .height_px_max = height_px, .exact = true};
  for (const bool typical_prediction : {false, true}) {
    const FileBytes stream = coded(bits, {.typical_prediction = typical_prediction});
    const auto drawn = must_open(scan_pdf(jbig2_picture(stream), {.extra = std::string(speck)}));
    ASSERT_TRUE(drawn);
    const auto whole = drawn->render(request);
    ASSERT_TRUE(whole.has_value() && whole->path == RenderPath::page);
    for (const std::size_t percent : {0U, 1U, 2U, 25U, 50U, 90U}) {
      SCOPED_TRACE(percent);
      const FileBytes cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(stream.size() * percent / 100));
      const auto backend = must_open(scan_pdf(jbig2_picture(cut), {}));
      ASSERT_TRUE(backend);
      const auto shown = backend->render(request);
      if (percent < 25) {
        ASSERT_FALSE(shown.has_value()) << "a blank page must not pass for the scan";
        EXPECT_EQ(shown.error().kind, ErrorKind::corrupt);
        EXPECT_NE(shown.error().for_caller.find("damaged"), std::string::npos);
        continue;
      }
      ASSERT_TRUE(shown.has_value()) << shown.error().for_log;
      const int rows = height_px * static_cast<int>(percent) / 100 - 20;  // the code is not spread quite evenly
      const image::RectPx top{0, 0, width_px, rows};
      EXPECT_EQ(image::crop(shown->image, top).pixels, image::crop(whole->image, top).pixels);
    }
  }
}

TEST_F(Jbig2ScanTest, AnEmptySheetIsNoError) {
  const FileBytes bits(row_bytes * height_px);
  expect_pixels(jbig2_picture(coded(bits)), page_pixels(bits));
}

}  // namespace
}  // namespace lectern::document
