#include <gtest/gtest.h>

#include "vision/orientation.h"
#include "vision/test_images.h"

namespace lectern::vision {
namespace {

TEST(Skew, OfAKnownTurn) {
  const image::Image story = load_picture("story.png");
  for (const float angle : {-12.0F, -5.0F, -1.5F, -0.4F, 0.0F, 0.2F, 0.7F, 2.5F, 8.0F, 14.0F}) {
    SCOPED_TRACE(angle);
    // A page that was turned clockwise is mended by turning it back.
    EXPECT_NEAR(static_cast<double>(find_skew(turned_by(story, angle))), static_cast<double>(-angle), 0.1);
  }
}

TEST(Skew, OfColourIsThatOfGray) {
  const image::Image crooked = turned_by(load_picture("story.png"), 3.0F);
  EXPECT_NEAR(static_cast<double>(find_skew(to_rgb(crooked))), static_cast<double>(find_skew(crooked)), 0.05);
}

TEST(Skew, NothingToGoByMeansNone) {
  EXPECT_EQ(find_skew({}), 0);
  EXPECT_EQ(find_skew(filled(1, 1, 0)), 0);
  EXPECT_EQ(find_skew(filled(3, 2000, 0)), 0);
  EXPECT_EQ(find_skew(filled(900, 700, 255)), 0);
  EXPECT_EQ(find_skew(filled(900, 700, 0)), 0);
  EXPECT_EQ(find_skew(load_picture("label.png")), 0) << "eighteen letters are too few to tell";
}

}  // namespace
}  // namespace lectern::vision
