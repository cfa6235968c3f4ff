#include "image/decode.h"

#include <gtest/gtest.h>

#include "image/encode.h"
#include "image/hash.h"
#include "image/test_files.h"
#include "image/test_pictures.h"

namespace lectern::image {
namespace {

Image decode_first(FileFormat format, const FileBytes& file, DecodeOptions options = {}) {
  const auto frames = probe(format, file);
  EXPECT_TRUE(frames.has_value()) << (frames ? "" : frames.error().for_log);
  if (!frames) return {};
  auto image = decode(format, file, frames->front(), options);
  EXPECT_TRUE(image.has_value()) << (image ? "" : image.error().for_log);
  return image ? std::move(*image) : Image{};
}

TEST(Png, KeepsEveryPixel) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb24}) {
    Image picture = sample_picture(37, 21, format);
    picture.dpi = 200;
    Image back = decode_first(FileFormat::png, *encode_png(picture), {.format = format});
    EXPECT_NEAR(back.dpi, 200, 0.1);
    back.dpi = picture.dpi;
    EXPECT_EQ(back, picture);
    EXPECT_EQ(content_hash(back), content_hash(picture));
  }
}

TEST(Png, TransparentPixelsLieOnWhite) {
  const FileBytes file = rgba_png({{0, 0, 0, 255}, {0, 0, 0, 0}, {0, 0, 0, 128}, {255, 0, 0, 255}});
  const Image image = decode_first(FileFormat::png, file);
  EXPECT_EQ(image.pixels, (Pixels{0, 0, 0, 255, 255, 255, 127, 127, 127, 255, 0, 0}));
}

TEST(Jpeg, IsCloseToWhatWasEncoded) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb24}) {
    Image picture = sample_picture(64, 48, format);
    picture.dpi = 150;
    const Image back = decode_first(FileFormat::jpeg, *encode_jpeg(picture), {.format = format});
    EXPECT_LT(mean_difference(back, picture), 4);
    EXPECT_EQ(back.dpi, 150);
  }
}

// What a viewer shows of a picture whose colours are apart.
Image shown(const Image& gray, const Chroma& chroma) {
  return decode_first(FileFormat::jpeg, *encode_jpeg(gray, chroma, 100), {.format = PixelFormat::rgb24});
}

TEST(JpegPlanes, ShowWhatTheDetourThroughRgbShows) {
  // Sizes whose scales differ, and whose blocks do not come out even.
  struct Case {
    int width;
    int height;
    int width_wanted;
    int height_wanted;
  };
  const Case cases[] = {{800, 600, 236, 178}, {801, 603, 236, 178}, {801, 603, 100, 80},
                        {640, 480, 600, 400}, {333, 500, 32, 48},   {64, 48, 64, 48}};
  for (const Case& c : cases) {
    SCOPED_TRACE(testing::Message() << c.width << "x" << c.height << " to " << c.width_wanted);
    const FileBytes file = *encode_jpeg(sample_picture(c.width, c.height, PixelFormat::rgb24), 95);
    const auto frames = probe(FileFormat::jpeg, file);
    ASSERT_TRUE(frames->front().gray_and_chroma);
    const DecodeOptions options{.format = PixelFormat::rgb24,
                                .width_px_wanted = c.width_wanted,
                                .height_px_wanted = c.height_wanted,
                                .exactly = true};
    const auto planes = decode_planes(file, frames->front(), options);
    ASSERT_TRUE(planes.has_value());
    ASSERT_EQ(planes->gray.width_px, c.width_wanted);
    ASSERT_EQ(planes->chroma.red.height_px, c.height_wanted / 2);
    const Image whole = decode_first(FileFormat::jpeg, file, options);
    EXPECT_LT(mean_difference(planes->gray, to_gray(whole)), 0.6) << "rounding";
    // The same detour for both: quality 100, colours at half the size.
    const Image either = decode_first(FileFormat::jpeg, *encode_jpeg(whole, 100), {.format = PixelFormat::rgb24});
    EXPECT_LT(mean_difference(shown(planes->gray, planes->chroma), either), 1);
  }
}

TEST(JpegPlanes, AreRefusedWhenTheyDoNotFitTogether) {
  const Image gray(64, 48, PixelFormat::gray8);
  const Image half(32, 24, PixelFormat::gray8, 128);
  EXPECT_TRUE(encode_jpeg(gray, {half, half}).has_value());
  EXPECT_FALSE(encode_jpeg(gray, {half, gray}).has_value());
  EXPECT_FALSE(encode_jpeg(Image(64, 48, PixelFormat::rgb24), {half, half}).has_value());
  EXPECT_FALSE(encode_jpeg(Image{}, {}).has_value());
}

TEST(JpegPlanes, OfADamagedFileAreAnErrorOrAPicture) {
  const FileBytes file = *encode_jpeg(sample_picture(200, 160, PixelFormat::rgb24));
  const FrameInfo frame = probe(FileFormat::jpeg, file)->front();
  const DecodeOptions options{.width_px_wanted = 96, .height_px_wanted = 64, .exactly = true};
  for (std::size_t cut = 2; cut < file.size(); cut += 61) {
    const auto planes = decode_planes({file.data(), cut}, frame, options);
    if (planes) EXPECT_EQ(planes->gray.height_px, 64);
  }
}

TEST(Jpeg, OfAnOddSizeKeepsItsEdges) {
  for (const int side : {1, 7, 8, 9, 15, 17}) {
    Image picture(side, side + 2, PixelFormat::gray8, 40);
    const Image back = decode_first(FileFormat::jpeg, *encode_jpeg(picture), {.format = PixelFormat::gray8});
    ASSERT_EQ(back.width_px, side);
    ASSERT_EQ(back.height_px, side + 2);
    EXPECT_LT(mean_difference(back, picture), 1) << side;
  }
}

TEST(Jpeg, DecodesAtAReducedScale) {
  const Image picture = sample_picture(800, 600, PixelFormat::gray8);
  const FileBytes file = *encode_jpeg(picture);
  const Image small = decode_first(FileFormat::jpeg, file,
                                   {.format = PixelFormat::gray8, .width_px_wanted = 190, .height_px_wanted = 150});
  EXPECT_EQ(small.width_px, 200);  // a quarter: the smallest scale that is not below the wanted size
  EXPECT_EQ(small.height_px, 150);
}

TEST(Jpeg, OverTheLimitItIsDecodedSmaller) {
  const FileBytes file = *encode_jpeg(sample_picture(800, 600, PixelFormat::gray8));
  const Image image = decode_first(FileFormat::jpeg, file, {.pixels_max = 100'000});
  EXPECT_LE(image.width_px * image.height_px, 100'000);
  EXPECT_GT(image.width_px, 200);
}

TEST(Jpeg, FourInksOfAdobeComeOutRight) {
  // White paper, then full black ink, stored inverted as Adobe does.
  const FileBytes file = cmyk_jpeg();
  const Image image = decode_first(FileFormat::jpeg, file);
  ASSERT_EQ(image.width_px, 16);
  EXPECT_GT(image.row(0)[0], 250);
  EXPECT_LT(image.row(0)[45], 5);
}

TEST(Jpeg, TellsItsExifOrientation) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const FileBytes file = with_exif(*encode_jpeg(sample_picture(20, 10, PixelFormat::rgb24)), orientation);
    const auto frames = probe(FileFormat::jpeg, file);
    ASSERT_TRUE(frames.has_value());
    EXPECT_EQ(frames->front().turn.swaps_sides(), orientation >= 5) << orientation;
  }
}

TEST(WebP, IsReadWithAndWithoutLoss) {
  const Image picture = sample_picture(60, 33, PixelFormat::rgb24);
  EXPECT_EQ(decode_first(FileFormat::webp, lossless_webp(picture)).pixels, picture.pixels);
}

struct BmpCase {
  int bits;
  bool top_down;
};

class Bmp : public testing::TestWithParam<BmpCase> {};

TEST_P(Bmp, IsRead) {
  const BmpCase& c = GetParam();
  // Black, white, red, blue over two rows, with rows padded to four bytes.
  const Image image = decode_first(FileFormat::bmp, small_bmp(c.bits, c.top_down));
  ASSERT_EQ(image.width_px, 3);
  ASSERT_EQ(image.height_px, 2);
  const Pixels color{0, 0, 0, 255, 255, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255};
  const Pixels black_white{0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 255, 255, 255};
  EXPECT_EQ(image.pixels, c.bits == 1 ? black_white : color);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Bmp,
                         testing::Values(BmpCase{1, false}, BmpCase{4, false}, BmpCase{8, false}, BmpCase{16, false},
                                         BmpCase{24, false}, BmpCase{24, true}, BmpCase{32, false}),
                         [](const auto& instance) {
                           return fmt::format("bits{}{}", instance.param.bits,
                                              instance.param.top_down ? "_top_down" : "");
                         });

TEST(BmpRuns, MoveThePenAndEndTheLine) {
  const Image image = decode_first(FileFormat::bmp, run_length_bmp(), {.format = PixelFormat::gray8});
  // Bottom row: three of index 1 (white); top row: one skipped (index 0, black), then a literal 1 0.
  EXPECT_EQ(image.pixels, (Pixels{0, 255, 0, 255, 255, 255}));
}

TEST(Tiff, HasAPageForEachFrameAndNoneForThumbnails) {
  const FileBytes file =
      tiff_of({{.width = 5, .height = 4}, {.width = 2, .height = 2, .thumbnail = true}, {.width = 3, .height = 6}});
  const auto frames = probe(FileFormat::tiff, file);
  ASSERT_TRUE(frames.has_value());
  ASSERT_EQ(frames->size(), 2U);
  EXPECT_EQ((*frames)[0].width_px, 5);
  EXPECT_EQ((*frames)[1].height_px, 6);
  EXPECT_EQ((*frames)[1].dpi_x, 300);
  for (const FrameInfo& frame : *frames) {
    const auto image = decode(FileFormat::tiff, file, frame, {.format = PixelFormat::gray8});
    ASSERT_TRUE(image.has_value()) << image.error().for_log;
    EXPECT_EQ(image->width_px, frame.width_px);
  }
}

// Where the directory of a frame of tiff_of() begins. Its entries: 12 bytes each, the third is the width.
std::size_t tiff_directory(const FileBytes& file, int frame) {
  const auto number = [&file](std::size_t at, int bytes) {
    std::size_t value = 0;
    for (int i = bytes; i-- > 0;) value = value << 8 | file[at + static_cast<std::size_t>(i)];
    return value;
  };
  std::size_t at = number(4, 4);
  for (int i = 0; i < frame; ++i) at = number(at + 2 + 12 * number(at, 2), 4);
  return at;
}

TEST(Tiff, ADamagedFrameIsAPageThatFailsAndTheRestIsRead) {
  const std::vector<TiffFrame> ten(10, {.width = 5, .height = 4});
  const FileBytes sound = tiff_of(ten);
  const std::size_t fourth = tiff_directory(sound, 3);
  FileBytes no_width = sound;
  std::fill_n(no_width.begin() + static_cast<std::ptrdiff_t>(fourth + 2 + 12 + 8), 4, 0);
  FileBytes too_wide = sound;
  std::fill_n(too_wide.begin() + static_cast<std::ptrdiff_t>(fourth + 2 + 12 + 8), 4, 0x7F);
  FileBytes nameless = sound;  // a directory without a width is none
  nameless[fourth + 2 + 12 + 1] = 0;
  for (const FileBytes& file : {no_width, too_wide, nameless}) {
    const auto frames = probe(FileFormat::tiff, file);
    ASSERT_TRUE(frames.has_value()) << frames.error().for_log;
    ASSERT_EQ(frames->size(), 10U);
    for (std::size_t i = 0; i < 10; ++i) {
      const auto image = decode(FileFormat::tiff, file, (*frames)[i], {.format = PixelFormat::gray8});
      EXPECT_EQ(image.has_value(), i != 3) << i;
      if (image) continue;
      EXPECT_EQ(image.error().kind, ErrorKind::corrupt);
      EXPECT_TRUE(image.error().for_caller.starts_with("picture 4: the TIFF ")) << image.error().for_caller;
    }
  }
}

TEST(Tiff, ABrokenLinkIsAPageThatFails) {
  const FileBytes sound = tiff_of(std::vector<TiffFrame>(5, {.width = 5, .height = 4}));
  const std::size_t link = tiff_directory(sound, 2) + 2 + std::size_t{12} * 13;
  FileBytes nowhere = sound;
  nowhere[link + 3] = 0x7F;
  FileBytes back = sound;
  const std::size_t first = tiff_directory(sound, 0);
  for (std::size_t i = 0; i < 4; ++i) back[link + i] = static_cast<std::uint8_t>(first >> (8 * i));
  FileBytes cut = sound;
  cut.resize(tiff_directory(sound, 3) + 20);
  for (const FileBytes& file : {nowhere, back, cut}) {
    const auto frames = probe(FileFormat::tiff, file);
    ASSERT_TRUE(frames.has_value()) << frames.error().for_log;
    ASSERT_EQ(frames->size(), 4U);
    EXPECT_EQ((*frames)[2].damage, "");
    EXPECT_NE((*frames)[3].damage, "");
  }
}

TEST(Tiff, TooManyFramesAreRefusedNotCutOff) {
  const auto count = [](std::size_t frames) {
    return probe(FileFormat::tiff, tiff_of(std::vector<TiffFrame>(frames, {.width = 1, .height = 1})));
  };
  EXPECT_EQ(count(10'000)->size(), 10'000U);
  const auto refused = count(10'001);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().for_caller, "the TIFF has more than 10000 pictures; split it");
}

TEST(Tiff, ReadsEachKindOfSample) {
  struct Case {
    std::string_view name;
    TiffFrame frame;
    Pixels gray;
  };
  const Case cases[] = {
      {"gray", {.width = 2, .height = 1, .data = {0x10, 0xF0}}, {0x10, 0xF0}},
      {"gray, white is zero", {.width = 2, .height = 1, .photometric = 0, .data = {0x10, 0xF0}}, {0xEF, 0x0F}},
      {"16 bits", {.width = 2, .height = 1, .bits = 16, .data = {0x34, 0x12, 0xCD, 0xAB}}, {0x12, 0xAB}},
      {"bits, white is zero",
       {.width = 3, .height = 1, .bits = 1, .photometric = 0, .data = {0b01000000}},
       {255, 0, 255}},
      {"RGB", {.width = 1, .height = 1, .samples = 3, .photometric = 2, .data = {255, 0, 0}}, {76}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(decode_first(FileFormat::tiff, tiff_of({c.frame}), {.format = PixelFormat::gray8}).pixels, c.gray);
  }
}

TEST(Decode, ALieAboutTheSizeIsRefusedBeforeMemoryIsTaken) {
  FileBytes bmp = small_bmp(24, false);
  bmp[18] = bmp[19] = bmp[20] = 0xFF;  // 16 million pixels wide
  EXPECT_EQ(probe(FileFormat::bmp, bmp).error().kind, ErrorKind::corrupt);
  bmp = small_bmp(24, false);
  bmp[20] = 1;  // 65,539 pixels wide, but the file is short
  const auto frames = probe(FileFormat::bmp, bmp);
  ASSERT_TRUE(frames.has_value());
  EXPECT_EQ(decode(FileFormat::bmp, bmp, frames->front(), {}).error().kind, ErrorKind::corrupt);
}

TEST(Decode, OverTheLimitRowsAreShrunkOnTheWayIn) {
  const FileBytes png = *encode_png(sample_picture(400, 300, PixelFormat::gray8));
  const Image image = decode_first(FileFormat::png, png, {.format = PixelFormat::gray8, .pixels_max = 40'000});
  EXPECT_EQ(image.width_px, 200);
  EXPECT_EQ(image.height_px, 150);
}

TEST(Decode, ACodingThatMustBeHeldWholeIsRefusedOverTheLimit) {
  const FileBytes webp = lossless_webp(sample_picture(100, 100, PixelFormat::rgb24));
  const auto frames = probe(FileFormat::webp, webp);
  ASSERT_TRUE(frames.has_value());
  const auto image = decode(FileFormat::webp, webp, frames->front(), {.pixels_max = 5'000});
  ASSERT_FALSE(image.has_value());
  EXPECT_EQ(image.error().kind, ErrorKind::invalid_input);
}

// Any bytes give a picture within the limit, or an error; never a crash, which the sanitizer builds would show.
class Damaged : public testing::TestWithParam<FileFormat> {};

TEST_P(Damaged, GivesAPictureOrAnError) {
  const Image picture = sample_picture(48, 40, PixelFormat::rgb24);
  std::vector<FileBytes> files;
  switch (GetParam()) {
    case FileFormat::jpeg:
      files = {with_exif(*encode_jpeg(picture), 6), cmyk_jpeg()};
      break;
    case FileFormat::png:
      files = {*encode_png(picture), rgba_png({{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {0, 0, 0, 0}})};
      break;
    case FileFormat::tiff:
      files = {tiff_of({{.width = 30, .height = 20}, {.width = 9, .height = 9, .bits = 1}})};
      break;
    case FileFormat::webp:
      files = {lossless_webp(picture)};
      break;
    case FileFormat::bmp:
      files = {small_bmp(4, false), small_bmp(32, false), run_length_bmp()};
      break;
  }
  int decoded = 0;
  int refused = 0;
  for (const FileBytes& file : files) {
    for_each_damage(file, [&](const FileBytes& damaged) {
      constexpr std::int64_t limit = 1'000'000;
      const auto frames = probe(GetParam(), damaged);
      if (!frames) {
        EXPECT_FALSE(frames.error().for_caller.empty());
        ++refused;
        return;
      }
      ASSERT_FALSE(frames->empty());
      const auto image = decode(GetParam(), damaged, frames->front(), {.pixels_max = limit});
      if (image) {
        EXPECT_LE(static_cast<std::int64_t>(image->width_px) * image->height_px, limit);
        EXPECT_EQ(image->pixels.size(), image->stride() * static_cast<std::size_t>(image->height_px));
        ++decoded;
      } else {
        EXPECT_FALSE(image.error().for_caller.empty());
        ++refused;
      }
    });
  }
  EXPECT_GT(refused, 100);
  EXPECT_GT(decoded, 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, Damaged,
                         testing::Values(FileFormat::jpeg, FileFormat::png, FileFormat::tiff, FileFormat::webp,
                                         FileFormat::bmp));

TEST(ContentHash, DependsOnPixelsSizeAndFormatAlone) {
  Image a(2, 3, PixelFormat::gray8);
  Image b(3, 2, PixelFormat::gray8);
  EXPECT_NE(content_hash(a), content_hash(b));
  Image c = a;
  c.dpi = 300;
  EXPECT_EQ(content_hash(a), content_hash(c));
  c.pixels[5] = 1;
  EXPECT_NE(content_hash(a), content_hash(c));
}

TEST(Encode, AnEmptyPictureIsAnError) {
  EXPECT_FALSE(encode_png(Image{}).has_value());
  EXPECT_FALSE(encode_jpeg(Image{}).has_value());
}

}  // namespace
}  // namespace lectern::image
