#include "vision/orientation.h"

#include <gtest/gtest.h>

#include <random>

#include "vision/test_images.h"

namespace lectern::vision {
namespace {

OcrEngine& shared_engine() {
  static const std::unique_ptr<OcrEngine> engine = [] {
    auto made = OcrEngine::create({});
    if (!made) throw std::runtime_error(made.error().for_log);
    return std::move(*made);
  }();
  return *engine;
}

Orientation orientation_of(const image::Image& image) {
  const auto orientation = find_orientation(image, shared_engine());
  if (!orientation) throw std::runtime_error(orientation.error().for_log);
  return *orientation;
}

// Every picture in every direction; `turned` clockwise by q quarters is upright again after 4 - q.
void expect_found_in_all_directions(const image::Image& upright) {
  for (int quarters = 0; quarters < 4; ++quarters) {
    SCOPED_TRACE(testing::Message() << "turned by " << quarters * 90);
    const Orientation found = orientation_of(turned_clockwise(upright, quarters));
    EXPECT_EQ(found.clockwise_degrees, (4 - quarters) % 4 * 90);
    EXPECT_GE(found.confidence, 0.5F);
    EXPECT_LE(found.confidence, 1.0F);
  }
}

TEST(Orientation, OfAPageOfText) {
  expect_found_in_all_directions(load_picture("story.png"));
}
TEST(Orientation, OfALetter) {
  expect_found_in_all_directions(load_picture("letter.png"));
}
TEST(Orientation, OfTwoWords) {
  expect_found_in_all_directions(load_picture("label.png"));
}
TEST(Orientation, OfWhiteOnBlack) {
  expect_found_in_all_directions(inverted(load_picture("letter.png")));
}
TEST(Orientation, OfACrookedScan) {
  expect_found_in_all_directions(turned_by(load_picture("story.png"), 2.0F));
}

TEST(Orientation, OfALittleTextOnALargePage) {
  image::Image page = filled(1240, 1754, 255);
  const image::Image label = load_picture("label.png");
  for (int y = 0; y < label.height_px; ++y) std::copy_n(label.row(y), label.width_px, page.row(y + 900) + 300);
  expect_found_in_all_directions(page);
}

TEST(Orientation, LeavesThePictureAsItWas) {
  for (int quarters = 0; quarters < 4; ++quarters) {
    const image::Image page = turned_clockwise(load_picture("letter.png"), quarters);
    const image::Image copy = page;
    orientation_of(page);
    EXPECT_EQ(page, copy);
  }
}

TEST(Orientation, NothingToGoByMeansNoTurn) {
  struct Case {
    const char* name;
    image::Image image;
  };
  std::mt19937 random(7);
  image::Image noise = filled(400, 300, 0);
  for (std::uint8_t& pixel : noise.pixels) pixel = static_cast<std::uint8_t>(random());
  image::Image gradient = filled(500, 400, 0);
  for (int y = 0; y < 400; ++y) fill_box(gradient, 0, y, 500, y + 1, static_cast<std::uint8_t>(y / 2));
  const Case cases[] = {{"no pixels", {}},
                        {"one pixel", filled(1, 1, 0)},
                        {"a strip", filled(3, 2000, 255)},
                        {"white", filled(800, 600, 255)},
                        {"black", filled(800, 600, 0)},
                        {"noise", noise},
                        {"a gradient", gradient}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Orientation found = orientation_of(c.image);
    EXPECT_EQ(found.clockwise_degrees, 0);
    EXPECT_LT(found.confidence, 0.5F);
  }
}

}  // namespace
}  // namespace lectern::vision
