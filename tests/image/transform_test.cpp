#include "image/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "image/test_pictures.h"

namespace lectern::image {
namespace {

class TurningEveryFormat : public testing::TestWithParam<PixelFormat> {};

TEST_P(TurningEveryFormat, FourQuarterTurnsAreNone) {
  const Image picture = sample_picture(67, 130, GetParam());  // sides that fill no whole tile
  for (const int degrees : {90, 270, -90}) {
    Image image = picture;
    for (int i = 0; i < 4; ++i) image = rotate_quarter(image, degrees);
    EXPECT_EQ(image, picture) << degrees;
  }
  EXPECT_EQ(rotate_quarter(rotate_quarter(picture, 180), 180), picture);
}

TEST_P(TurningEveryFormat, ThreeQuartersOneWayAreOneTheOtherWay) {
  const Image picture = sample_picture(40, 23, GetParam());
  EXPECT_EQ(rotate_quarter(picture, 270), rotate_quarter(picture, -90));
  EXPECT_EQ(rotate_quarter(picture, 450), rotate_quarter(picture, 90));
  EXPECT_EQ(rotate_quarter(rotate_quarter(picture, 90), 90), rotate_quarter(picture, 180));
}

TEST_P(TurningEveryFormat, MirroringTwiceIsNothing) {
  const Image picture = sample_picture(31, 9, GetParam());
  EXPECT_EQ(mirror_left_right(mirror_left_right(picture)), picture);
  EXPECT_NE(mirror_left_right(picture), picture);
}

INSTANTIATE_TEST_SUITE_P(Formats, TurningEveryFormat, testing::Values(PixelFormat::gray8, PixelFormat::rgb24));

TEST(RotateQuarter, ClockwiseMovesTheTopLeftToTheTopRight) {
  Image picture(3, 2, PixelFormat::gray8);
  picture.pixels = {1, 2, 3,  //
                    4, 5, 6};
  const Image turned_right = rotate_quarter(picture, 90);
  EXPECT_EQ(turned_right.width_px, 2);
  EXPECT_EQ(turned_right.height_px, 3);
  EXPECT_EQ(turned_right.pixels, (Pixels{4, 1, 5, 2, 6, 3}));
}

TEST(Turned, MirrorsFirstAndTurnsThen) {
  Image picture(2, 1, PixelFormat::gray8);
  picture.pixels = {1, 2};
  EXPECT_EQ(turned(picture, {90, true}).pixels, (Pixels{2, 1}));
  EXPECT_EQ(turned(picture, {90, false}).pixels, (Pixels{1, 2}));
  EXPECT_EQ(turned(picture, {}), picture);
}

TEST(Crop, KeepsWhatLiesInside) {
  const Image picture = sample_picture(10, 8, PixelFormat::rgb24);
  const Image part = crop(picture, {2, 3, 5, 7});
  ASSERT_EQ(part.width_px, 3);
  ASSERT_EQ(part.height_px, 4);
  EXPECT_EQ(part.row(0)[0], picture.row(3)[6]);
  EXPECT_EQ(crop(picture, {-5, -5, 100, 100}), picture);
  EXPECT_TRUE(crop(picture, {10, 0, 20, 8}).empty());
  EXPECT_TRUE(crop(picture, {5, 5, 2, 2}).empty());
}

TEST(RotateSmall, BringsACrookedLineBack) {
  Image line(201, 101, PixelFormat::gray8);
  std::ranges::fill(line.pixels, std::uint8_t{255});
  for (int y = 48; y <= 52; ++y) std::fill_n(line.row(y) + 40, 120, std::uint8_t{0});
  const Image crooked = rotate_small(line, 3);
  // Clockwise: the left end rises and the right end sinks.
  EXPECT_LT(crooked.row(47)[45], 128);
  EXPECT_LT(crooked.row(53)[155], 128);
  EXPECT_LT(mean_difference(rotate_small(crooked, -3), line), 1.5);
  EXPECT_EQ(crooked.row(0)[0], 255) << "corners are white";
  EXPECT_EQ(rotate_small(line, 0), line);
}

// One pixel by the definition, in floating point.
double turned_pixel(const Image& image, double degrees, int x, int y, int channel) {
  const double angle = degrees * std::numbers::pi / 180;
  const double cx = (image.width_px - 1) / 2.0;
  const double cy = (image.height_px - 1) / 2.0;
  const double sx = cx + (x - cx) * std::cos(angle) + (y - cy) * std::sin(angle);
  const double sy = cy - (x - cx) * std::sin(angle) + (y - cy) * std::cos(angle);
  const auto at = [&](double px, double py) {
    const int ix = static_cast<int>(px);
    const int iy = static_cast<int>(py);
    if (px < 0 || py < 0 || ix >= image.width_px || iy >= image.height_px) return 255.0;
    return static_cast<double>(image.row(iy)[ix * channels(image.format) + channel]);
  };
  const double wx = sx - std::floor(sx);
  const double wy = sy - std::floor(sy);
  const double top = std::lerp(at(std::floor(sx), std::floor(sy)), at(std::floor(sx) + 1, std::floor(sy)), wx);
  const double bottom =
      std::lerp(at(std::floor(sx), std::floor(sy) + 1), at(std::floor(sx) + 1, std::floor(sy) + 1), wx);
  return std::lerp(top, bottom, wy);
}

TEST(RotateSmall, EveryPixelIsBlendedFromItsPlace) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb24}) {
    const Image picture = sample_picture(161, 90, format);
    for (const float degrees : {-15.0F, -0.4F, 0.01F, 0.7F, 8.0F}) {
      SCOPED_TRACE(degrees);
      const Image out = rotate_small(picture, degrees);
      double worst = 0;
      for (int y = 0; y < out.height_px; ++y) {
        for (int x = 0; x < out.width_px; ++x) {
          for (int c = 0; c < channels(format); ++c) {
            const double expected = turned_pixel(picture, static_cast<double>(degrees), x, y, c);
            worst = std::max(worst, std::abs(out.row(y)[x * channels(format) + c] - expected));
          }
        }
      }
      EXPECT_LT(worst, 3) << "weights have eight bits";
    }
  }
}

TEST(Gray, FollowsTheEyesWeights) {
  Image picture(3, 1, PixelFormat::rgb24);
  picture.pixels = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  EXPECT_EQ(to_gray(picture).pixels, (Pixels{76, 150, 29}));
  EXPECT_EQ(to_gray(to_rgb(to_gray(picture))), to_gray(picture));
}

}  // namespace
}  // namespace lectern::image
