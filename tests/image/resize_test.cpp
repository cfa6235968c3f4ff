#include "image/resize.h"

#include <gtest/gtest.h>

#include <span>

#include "base/random.h"
#include "image/resize_rows.h"
#include "image/row_resizer.h"
#include "image/row_sink.h"
#include "image/test_pictures.h"
#include "image/transform.h"

namespace lectern::image {
namespace {

// Rough on purpose: ringing and rounding show at once.
Image rough_picture() {
  Image image(9, 7, PixelFormat::gray8);
  for (int y = 0; y < 7; ++y) {
    for (int x = 0; x < 9; ++x) image.row(y)[x] = static_cast<std::uint8_t>((x * 37 + y * 53 + x * y * 11) % 256);
  }
  return image;
}

// Pillow rounds between the two directions and takes them in the other order, so a pixel may differ by one level.
void expect_pillows(std::span<const std::uint8_t> ours, const std::vector<std::uint8_t>& pillows) {
  ASSERT_EQ(ours.size(), pillows.size());
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], pillows[i], 1) << "pixel " << i;
}

TEST(Resize, GivesPillowsPixels) {
  // Made by Pillow 13: Image.resize(size, LANCZOS or BOX) of rough_picture().
  expect_pillows(resize(rough_picture(), 4, 3).pixels, {74, 147, 144, 91, 155, 120, 139, 113, 88, 114, 126, 113});
  expect_pillows(resize(rough_picture(), 4, 3, Filter::box).pixels,
                 {48, 154, 133, 90, 152, 113, 160, 87, 85, 115, 124, 127});
  const Image larger = resize(rough_picture(), 13, 10);
  expect_pillows({larger.row(0), 13}, {0, 11, 44, 68, 89, 107, 136, 173, 243, 224, 34, 0, 35});
  expect_pillows({larger.row(9), 13}, {59, 141, 140, 2, 45, 188, 224, 83, 92, 179, 31, 32, 119});
}

TEST(ResizeRows, EveryMachineGivesTheSamePixels) {
  SeededRandom random(7);
  for (const int taps : {16, 32, 64}) {
    ResizeKernel kernel{.taps = taps, .bits = 14, .first = {}, .count = {}, .weights = {}};
    for (int i = 0; i < 50; ++i) {
      kernel.first.push_back(static_cast<std::int32_t>(random.below(200)));
      const int used = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(taps)));
      kernel.count.push_back(used);
      for (int t = 0; t < taps; ++t) {
        const int weight = static_cast<int>(random.below(4000)) - 1000;
        kernel.weights.push_back(static_cast<std::int16_t>(t < used ? weight : 0));
      }
    }
    std::vector<std::uint8_t> row(static_cast<std::size_t>((200 + taps) * 3 + 4));
    for (std::uint8_t& value : row) value = static_cast<std::uint8_t>(random.below(256));
    std::vector<std::uint8_t> quick(150);
    std::vector<std::uint8_t> plain(150);
    resize_gray_row(row.data(), quick.data(), kernel);
    resize_gray_row_plain(row.data(), plain.data(), kernel);
    EXPECT_EQ(quick, plain) << taps;
    resize_rgb_row(row.data(), quick.data(), kernel);
    resize_rgb_row_plain(row.data(), plain.data(), kernel);
    EXPECT_EQ(quick, plain) << taps;
  }
}

TEST(ResizeRows, MixingRowsGivesTheSameOnEveryMachine) {
  SeededRandom random(11);
  std::vector<std::vector<std::uint8_t>> rows(9, std::vector<std::uint8_t>(131));
  for (auto& row : rows) {
    for (std::uint8_t& value : row) value = static_cast<std::uint8_t>(random.below(256));
  }
  std::vector<const std::uint8_t*> starts;
  std::vector<std::int16_t> weights;
  for (const auto& row : rows) {
    starts.push_back(row.data());
    weights.push_back(static_cast<std::int16_t>(static_cast<int>(random.below(6000)) - 1000));
    std::vector<std::int16_t> padded = weights;
    padded.push_back(0);
    const RowMix mix{
        .rows = starts.data(), .weights = padded.data(), .count = static_cast<int>(starts.size()), .bits = 14};
    std::vector<std::uint8_t> quick(row.size());
    std::vector<std::uint8_t> plain(row.size());
    mix_rows(mix, quick.data(), quick.size());
    mix_rows_plain(mix, plain.data(), plain.size());
    EXPECT_EQ(quick, plain) << starts.size() << " rows";
  }
}

TEST(Resize, ColoursAreResizedEachAlone) {
  const Image gray = rough_picture();
  const Image color = resize(to_rgb(gray), 5, 4);
  EXPECT_EQ(to_gray(color), resize(gray, 5, 4));
}

TEST(Resize, AnEvenPictureStaysEven) {
  Image even(50, 40, PixelFormat::rgb24);
  std::ranges::fill(even.pixels, std::uint8_t{137});
  for (const auto [width, height] : {std::pair{7, 9}, {1, 1}, {120, 3}, {50, 90}, {99, 40}}) {
    const Image out = resize(even, width, height);
    ASSERT_EQ(out.width_px, width);
    ASSERT_EQ(out.height_px, height);
    EXPECT_TRUE(std::ranges::all_of(out.pixels, [](std::uint8_t v) { return v == 137; })) << width << "x" << height;
  }
}

TEST(Resize, TheSameSizeIsTheSamePictureAndNoSizeIsNone) {
  const Image picture = rough_picture();
  EXPECT_EQ(resize(picture, 9, 7), picture);
  EXPECT_TRUE(resize(picture, 0, 5).empty());
  EXPECT_TRUE(resize(Image{}, 5, 5).empty());
  EXPECT_TRUE(resize_fast(Image{}, 5, 5).empty());
}

TEST(Resize, ScalesTheResolution) {
  Image picture = rough_picture();
  picture.dpi = 300;
  EXPECT_FLOAT_EQ(resize(picture, 3, 2).dpi, 100);
}

TEST(RowResizer, GivesTheSamePixelsWhileTheRowsComeIn) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgb24}) {
    const Image picture = sample_picture(203, 157, format);
    for (const auto [width, height] : {std::pair{64, 48}, {100, 156}, {203, 20}, {1, 1}, {300, 90}}) {
      RowResizer resizer({picture.width_px, picture.height_px, width, height, format});
      for (int y = 0; y < picture.height_px; ++y) resizer.put(picture.row(y));
      EXPECT_EQ(resizer.take().pixels, resize(picture, width, height).pixels) << width << "x" << height;
    }
  }
}

TEST(RowSink, ResizesWhatItHasShrunk) {
  const Image picture = sample_picture(400, 600, PixelFormat::rgb24);
  RowSink sink({.width_px = 400,
                .height_px = 600,
                .format = PixelFormat::gray8,
                .shrink = 2,
                .width_px_out = 70,
                .height_px_out = 90});
  for (int y = 0; y < 600; ++y) sink.put(y, RowFormat::rgb, picture.row(y));
  EXPECT_EQ(sink.take().pixels, resize(shrink_by(to_gray(picture), 2), 70, 90).pixels);
}

TEST(ResizeFast, IsCloseToTheSlowWay) {
  const Image picture = sample_picture(1000, 1200, PixelFormat::gray8);
  EXPECT_LT(mean_difference(resize_fast(picture, 120, 150), resize(picture, 120, 150)), 1.0);
}

TEST(ShrinkBy, TakesTheMeanOfSquaresAndOfWhatIsLeftAtTheEdges) {
  Image picture(3, 3, PixelFormat::gray8);
  picture.pixels = {0,  10, 200,  //
                    20, 30, 100, 50, 70, 9};
  EXPECT_EQ(shrink_by(picture, 2).pixels, (Pixels{15, 150, 60, 9}));
  EXPECT_EQ(shrink_by(picture, 1), picture);
}

TEST(ShrinkFactor, KeepsThePixelLimitAndLeavesRoomForTheFilter) {
  EXPECT_EQ(shrink_factor(100, 100, 10'000), 1);
  EXPECT_EQ(shrink_factor(101, 100, 10'000), 2);
  EXPECT_EQ(shrink_factor(200'000, 200'000, 40'000'000), 32);
  EXPECT_EQ(shrink_factor_for(4000, 4000, 1000, 1000), 2);
  EXPECT_EQ(shrink_factor_for(4000, 4000, 1001, 1001), 2) << "a margin of a pixel must not halve the speed";
  EXPECT_EQ(shrink_factor_for(3000, 3000, 1000, 1000), 1);
  EXPECT_EQ(shrink_factor_for(3000, 3000, 0, 0), 1);
}

}  // namespace
}  // namespace lectern::image
