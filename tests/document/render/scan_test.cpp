// Full-page scans: the fast path must show what drawing the page shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tiffio.h>

#include "document/render/scan_fixture.h"
#include "image/encode.h"

namespace lectern::document {
namespace {

using image::Image;
using image::PixelFormat;

ScanPicture jpeg_picture(PixelFormat format, std::string_view more = "") {
  const Image image = image::sample_picture(400, 600, format);
  const std::string_view color = format == PixelFormat::gray8 ? "/DeviceGray" : "/DeviceRGB";
  return {fmt::format("/Filter /DCTDecode /BitsPerComponent 8 /ColorSpace {} {}", color, more),
          *image::encode_jpeg(image), 400, 600};
}

ScanPicture plain_picture() {
  const Image image = image::sample_picture(400, 600, PixelFormat::rgb24);
  return {"/BitsPerComponent 8 /ColorSpace /DeviceRGB", {image.pixels.begin(), image.pixels.end()}, 400, 600};
}

// Black bars of different sizes, coded as a fax by libtiff.
FileBytes group4_bytes(int width, int height) {
  char name[] = "/tmp/lectern-fax-XXXXXX";
  const int fd = mkstemp(name);
  unlink(name);
  TIFF* tiff = TIFFFdOpen(fd, "fax", "w");
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 1);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, height);
  std::vector<std::uint8_t> row(static_cast<std::size_t>((width + 7) / 8));
  for (int y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < row.size(); ++x) {
      row[x] =
          (y / 40) % 2 == 0 && x > row.size() / 4 && x < row.size() / 2 + static_cast<std::size_t>(y) / 40 ? 0xFF : 0;
    }
    TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0);
  }
  const int copy = dup(fd);
  TIFFClose(tiff);  // closes fd too
  lseek(copy, 0, SEEK_SET);
  TIFF* written = TIFFFdOpen(copy, "fax", "r");
  FileBytes bytes(static_cast<std::size_t>(TIFFRawStripSize(written, 0)));
  TIFFReadRawStrip(written, 0, bytes.data(), static_cast<tmsize_t>(bytes.size()));
  TIFFClose(written);
  return bytes;
}

TEST_F(ScanTest, AJpegLooksAsDrawnHoweverItIsPutDown) {
  const std::string matrices[] = {"200 0 0 300 0 0",       "-200 0 0 300 200 0",   "200 0 0 -300 0 300",
                                  "-200 0 0 -300 200 300", "0 300 200 0 0 0",      "0 -300 200 0 0 300",
                                  "0 300 -200 0 200 0",    "0 -300 -200 0 200 300"};
  for (const std::string& matrix : matrices) {
    for (const std::string& rotate : {"", "/Rotate 90", "/Rotate 180", "/Rotate 270"}) {
      SCOPED_TRACE(fmt::format("{} {}", matrix, rotate));
      compare(jpeg_picture(PixelFormat::gray8), {.matrix = matrix, .entries = rotate}, RenderPath::jpeg_scaled,
              PixelFormat::gray8);
    }
  }
}

TEST_F(ScanTest, ColoursAndInversionsComeOutRight) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb24}) {
    compare(jpeg_picture(PixelFormat::rgb24), {}, RenderPath::jpeg_scaled, format);
    compare(jpeg_picture(PixelFormat::gray8, "/Decode [1 0]"), {}, RenderPath::jpeg_scaled, format);
    compare(plain_picture(), {}, RenderPath::picture, format);
  }
}

TEST_F(ScanTest, AMarginStaysWhiteAndAnOverhangIsCut) {
  compare(jpeg_picture(PixelFormat::rgb24), {.matrix = "192 0 0 292 4 4"}, RenderPath::jpeg_scaled, PixelFormat::rgb24);
}

TEST_F(ScanTest, WhatOnlyDrawingShowsIsDrawn) {
  const auto path_of = [&](const ScanPicture& picture, const Sheet& sheet) {
    const auto backend = must_open(scan_pdf(picture, sheet));
    return backend->render({.dpi = 50})->path;
  };
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8), {}), RenderPath::jpeg_scaled);
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8), {.matrix = "190 30 -30 290 20 0"}), RenderPath::page) << "askew";
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8), {.matrix = "100 0 0 150 0 0"}), RenderPath::page)
      << "not the whole page";
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8), {.extra = "10 10 100 1 re f"}), RenderPath::page)
      << "a line on top";
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8, "/Decode [0 0.5]"), {}), RenderPath::page) << "odd samples";
  EXPECT_EQ(path_of(jpeg_picture(PixelFormat::gray8, "/Mask [0 9]"), {}), RenderPath::page) << "transparent in places";
}

TEST_F(ScanTest, AnInvisibleTextLayerDoesNotHinder) {
  const auto backend =
      must_open(scan_pdf(jpeg_picture(PixelFormat::gray8), {.extra = "BT 3 Tr /F1 12 Tf 10 10 Td (ocr) Tj ET"}));
  ASSERT_TRUE(backend);
  const auto page = backend->inspect(1);
  ASSERT_TRUE(page.has_value());
  ASSERT_TRUE(page->full_page_scan.has_value());
  EXPECT_EQ(page->pictures[*page->full_page_scan].coding, ImageCoding::jpeg);
  EXPECT_EQ(page->pictures[0].width_px, 400);
  EXPECT_EQ(backend->render({.dpi = 72})->path, RenderPath::jpeg_scaled);
}

TEST_F(ScanTest, AJpegThatFitsIsHandedOverUntouched) {
  const ScanPicture picture = jpeg_picture(PixelFormat::rgb24);
  const auto backend = must_open(scan_pdf(picture, {}));
  ASSERT_TRUE(backend);
  const auto handed = backend->render({.width_px_max = 1000, .height_px_max = 1000, .allow_passthrough = true});
  ASSERT_TRUE(handed.has_value());
  EXPECT_EQ(handed->path, RenderPath::passthrough);
  EXPECT_EQ(handed->jpeg, picture.bytes);
  EXPECT_EQ(handed->width_px, 400);
  EXPECT_EQ(handed->px_per_pt, 2);
  const auto smaller = backend->render({.width_px_max = 200, .height_px_max = 200, .allow_passthrough = true});
  EXPECT_EQ(smaller->path, RenderPath::jpeg_scaled);
  EXPECT_EQ(smaller->height_px, 200);
}

TEST_F(ScanTest, AColouredJpegMayComeAsGrayAndChroma) {
  const auto backend = must_open(scan_pdf(jpeg_picture(PixelFormat::rgb24), {}));
  ASSERT_TRUE(backend);
  RenderRequest request{
      .width_px_max = 96, .height_px_max = 144, .exact = true, .format = PixelFormat::rgb24, .allow_chroma = true};
  const auto apart = backend->render(request);
  ASSERT_TRUE(apart.has_value());
  EXPECT_EQ(apart->path, RenderPath::jpeg_scaled);
  ASSERT_TRUE(apart->chroma);
  EXPECT_EQ(apart->image.format, PixelFormat::gray8);
  EXPECT_EQ(apart->image.width_px, 96);
  EXPECT_EQ(apart->image.height_px, 144);
  EXPECT_EQ(apart->chroma->red.width_px, 48);
  EXPECT_EQ(apart->chroma->blue.height_px, 72);
  EXPECT_GT(apart->image.dpi, 0);
  const auto has_chroma = [&](auto change) {
    RenderRequest other = request;
    change(other);
    return backend->render(other)->chroma.has_value();
  };
  EXPECT_FALSE(has_chroma([](auto& r) { r.allow_chroma = false; }));
  EXPECT_FALSE(has_chroma([](auto& r) { r.format = PixelFormat::gray8; }));
  EXPECT_FALSE(has_chroma([](auto& r) { r.width_px_max = 97; })) << "half a pixel of colour";
  EXPECT_FALSE(has_chroma([](auto& r) { r.clip = RectPt{0, 0, 100, 150}; })) << "a part";
  EXPECT_FALSE(has_chroma([](auto& r) { r.width_px_max = 800; })) << "enlarged";
  const auto turned = must_open(scan_pdf(jpeg_picture(PixelFormat::rgb24), {.matrix = "-200 0 0 -300 200 300"}));
  EXPECT_FALSE(turned->render(request)->chroma) << "upside down";
  const auto inverted = must_open(scan_pdf(jpeg_picture(PixelFormat::rgb24, "/Decode [1 0 1 0 1 0]"), {}));
  EXPECT_FALSE(inverted->render(request)->chroma) << "dark is light";
  const auto gray = must_open(scan_pdf(jpeg_picture(PixelFormat::gray8), {}));
  EXPECT_FALSE(gray->render(request)->chroma) << "there are none";
}

TEST_F(ScanTest, OwnPixelsOnRequest) {
  const auto backend = must_open(scan_pdf(plain_picture(), {}));
  ASSERT_TRUE(backend);
  const auto native = backend->render({.dpi = 100, .format = PixelFormat::rgb24, .native_dpi_max = 50});
  ASSERT_TRUE(native.has_value());
  EXPECT_EQ(native->width_px, 400);  // 144 dpi
  EXPECT_EQ(native->image.pixels, image::sample_picture(400, 600, PixelFormat::rgb24).pixels);
}

TEST_F(ScanTest, FaxesOfEveryPolarityLookAsDrawn) {
  const FileBytes fax = group4_bytes(400, 600);
  ASSERT_FALSE(fax.empty());
  FileBytes in_hex;
  for (const std::uint8_t byte : fax) image::put(in_hex, fmt::format("{:02x}", byte));
  for (const std::string& black_is_one : {"", "/BlackIs1 true"}) {
    for (const std::string& decode : {"", "/Decode [1 0]"}) {
      for (const std::string& color : {"/ColorSpace /DeviceGray", "/ImageMask true"}) {
        SCOPED_TRACE(fmt::format("{} {} {}", black_is_one, decode, color));
        const std::string look = fmt::format("/BitsPerComponent 1 {} {}", color, decode);
        const std::string parameters = fmt::format("<< /K -1 /Columns 400 /Rows 600 {} >>", black_is_one);
        const std::string plain = fmt::format("/Filter /CCITTFaxDecode {} /DecodeParms {}", look, parameters);
        compare({plain, fax, 400, 600}, {}, RenderPath::bilevel, PixelFormat::gray8);
        // What is wrapped once more is left to PDFium.
        const std::string wrapped =
            fmt::format("/Filter [/ASCIIHexDecode /CCITTFaxDecode] {} /DecodeParms [null {}]", look, parameters);
        compare({wrapped, in_hex, 400, 600}, {}, RenderPath::bilevel, PixelFormat::gray8);
      }
    }
  }
}

}  // namespace
}  // namespace lectern::document
