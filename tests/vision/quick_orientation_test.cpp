#include "vision/quick_orientation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "image/resize.h"
#include "vision/test_images.h"

namespace lectern::vision {
namespace {

// A page as models get it: the picture at half its size, again and again.
image::Image page_of(const std::string& name) {
  const image::Image picture = load_picture(name);
  const image::Image part = image::resize(picture, picture.width_px / 2, picture.height_px / 2);
  image::Image page = filled(736, 1024, 255);
  for (int top = 0; top + part.height_px <= page.height_px; top += part.height_px) {
    for (int left = 0; left + part.width_px <= page.width_px; left += part.width_px) {
      for (int y = 0; y < part.height_px; ++y) std::copy_n(part.row(y), part.width_px, page.row(top + y) + left);
    }
  }
  return page;
}

// Upright, sideways, upside down, sideways.
constexpr Hunch sideways_when_turned[] = {Hunch::no, Hunch::yes, Hunch::no, Hunch::yes};

TEST(QuickOrientation, APageOfTextIsSeenThrough) {
  const image::Image upright = page_of("story.png");
  for (int quarters = 0; quarters < 4; ++quarters) {
    SCOPED_TRACE(quarters * 90);
    const QuickOrientation seen = quick_orientation(turned_clockwise(upright, quarters));
    EXPECT_EQ(seen.surely_upright(), quarters == 0);
    EXPECT_EQ(seen.sideways, sideways_when_turned[quarters]);
    if (quarters == 2) EXPECT_EQ(seen.upside_down, Hunch::yes);
    if (quarters % 2 == 1) EXPECT_EQ(seen.upside_down, Hunch::unsure);
  }
}

TEST(QuickOrientation, ALittleCrookednessAndPolarityDoNotMatter) {
  const image::Image upright = page_of("story.png");
  EXPECT_TRUE(quick_orientation(turned_by(upright, 1)).surely_upright());
  EXPECT_TRUE(quick_orientation(inverted(upright)).surely_upright());
  EXPECT_FALSE(quick_orientation(turned_by(turned_clockwise(upright, 2), 1)).surely_upright());
  EXPECT_FALSE(quick_orientation(inverted(turned_clockwise(upright, 2))).surely_upright());
}

TEST(QuickOrientation, WhatItCannotJudgeIsNeverUpright) {
  for (int quarters = 1; quarters < 4; ++quarters) {
    SCOPED_TRACE(quarters * 90);
    EXPECT_FALSE(quick_orientation(turned_clockwise(page_of("hebrew.png"), quarters)).surely_upright());
    // "Shipping department" has more that hangs than rises, and a sheet of them is still one label.
    EXPECT_FALSE(quick_orientation(turned_clockwise(page_of("label.png"), quarters)).surely_upright());
  }
  std::mt19937 random(3);
  image::Image noise(736, 1024, image::PixelFormat::gray8);
  for (std::uint8_t& pixel : noise.pixels) pixel = static_cast<std::uint8_t>(random());
  image::Image bars = filled(736, 1024, 255);
  for (int y = 20; y < 1000; y += 14) fill_box(bars, 40, y, 700, y + 6, 0);
  for (const image::Image& nothing : {noise, bars, filled(736, 1024, 255), filled(736, 1024, 0), filled(1, 1, 0),
                                      filled(3000, 2, 255), image::Image()}) {
    EXPECT_EQ(quick_orientation(nothing), QuickOrientation{});
  }
}

}  // namespace
}  // namespace lectern::vision
