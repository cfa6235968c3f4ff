#include "image/exif.h"

#include <gtest/gtest.h>

#include "image/riff.h"
#include "image/test_pictures.h"

namespace lectern::image {
namespace {

TEST(Exif, ReadsTheOrientationInEitherByteOrder) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(read_exif(exif_block(orientation, true)).orientation, orientation);
    EXPECT_EQ(read_exif(exif_block(orientation, false)).orientation, orientation);
  }
}

TEST(Exif, SkipsThePrefixOfJpeg) {
  FileBytes block;
  put(block, std::string("Exif\0\0", 6));
  const FileBytes body = exif_block(6, true);
  block.insert(block.end(), body.begin(), body.end());
  EXPECT_EQ(read_exif(block).orientation, 6);
}

TEST(Exif, NonsenseGivesTheDefaults) {
  EXPECT_EQ(read_exif({}), ExifFacts{});
  EXPECT_EQ(read_exif(exif_block(9, true)), ExifFacts{});
  EXPECT_EQ(read_exif(exif_block(0, true)), ExifFacts{});
  FileBytes far_away = exif_block(6, true);
  far_away[4] = far_away[5] = far_away[6] = far_away[7] = 0xFF;  // the directory lies outside
  EXPECT_EQ(read_exif(far_away), ExifFacts{});
  FileBytes endless = exif_block(6, true);
  endless[8] = endless[9] = 0xFF;  // says that it has 65,535 entries
  EXPECT_EQ(read_exif(endless).orientation, 6);
}

TEST(Exif, SurvivesDamage) {
  for_each_damage(exif_block(6, false), [](const FileBytes& damaged) {
    const ExifFacts facts = read_exif(damaged);
    EXPECT_GE(facts.orientation, 1);
    EXPECT_LE(facts.orientation, 8);
  });
}

TEST(Exif, EachOrientationUndoesItself) {
  // How a camera stores a scene under each orientation, written as the turn that it took; upright again it is the
  // scene.
  const Image scene = sample_picture(8, 5, PixelFormat::gray8);
  const auto flipped = [](const Image& image) { return rotate_quarter(mirror_left_right(image), 180); };
  const Image stored[] = {scene,
                          mirror_left_right(scene),
                          rotate_quarter(scene, 180),
                          flipped(scene),
                          mirror_left_right(rotate_quarter(scene, 90)),
                          rotate_quarter(scene, 270),
                          mirror_left_right(rotate_quarter(scene, 270)),
                          rotate_quarter(scene, 90)};
  for (int orientation = 1; orientation <= 8; ++orientation) {
    EXPECT_EQ(turned(stored[orientation - 1], turn_for_orientation(orientation)), scene) << orientation;
  }
}

TEST(Riff, FindsAChunkAndStaysInside) {
  FileBytes file;
  put(file, "RIFF");
  put(file, 0, 4);
  put(file, "WEBP");
  put(file, "ABCD");
  put(file, 3, 4);
  put(file, "xyz");
  put(file, 0, 1);  // padding
  put(file, "EXIF");
  put(file, 1000, 4);  // more than there is
  put(file, "body");
  const auto chunk = find_riff_chunk(file, "EXIF");
  EXPECT_EQ(std::string(chunk.begin(), chunk.end()), "body");
  EXPECT_TRUE(find_riff_chunk(file, "NONE").empty());
  for_each_damage(file,
                  [](const FileBytes& damaged) { EXPECT_LE(find_riff_chunk(damaged, "EXIF").size(), damaged.size()); });
}

}  // namespace
}  // namespace lectern::image
