#include "vision/ink_pieces.h"

#include <gtest/gtest.h>
#include <opencv2/core.hpp>

#include <string_view>
#include <vector>

namespace lectern::vision {
namespace {

cv::Mat ink_of(const std::vector<std::string_view>& rows) {
  cv::Mat ink(static_cast<int>(rows.size()), static_cast<int>(rows.front().size()), CV_8UC1, cv::Scalar(0));
  for (int y = 0; y < ink.rows; ++y) {
    for (int x = 0; x < ink.cols; ++x) {
      if (rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] == '#') ink.at<std::uint8_t>(y, x) = 255;
    }
  }
  return ink;
}

TEST(InkPieces, HangTogetherBySidesAndCorners) {
  const std::vector<InkPiece> pieces = find_pieces(ink_of({"#....#",  //
                                                           ".#...#",  //
                                                           "..#...",  //
                                                           ".....#"}));
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0], (InkPiece{0, 0, 3, 3, 3})) << "a diagonal is one piece";
  EXPECT_EQ(pieces[1], (InkPiece{5, 0, 6, 2, 2}));
  EXPECT_EQ(pieces[2], (InkPiece{5, 3, 6, 4, 1}));
}

TEST(InkPieces, ArmsThatMeetFurtherDownAreOne) {
  const std::vector<InkPiece> pieces = find_pieces(ink_of({"#.#.#..#",  //
                                                           "#.#.#...",  //
                                                           "#.###..#",  //
                                                           "###....#"}));
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0], (InkPiece{0, 0, 5, 4, 13}));
  EXPECT_EQ(pieces[1], (InkPiece{7, 0, 8, 1, 1}));
  EXPECT_EQ(pieces[2], (InkPiece{7, 2, 8, 4, 2}));
}

TEST(InkPieces, AnIslandInARingIsAPieceOfItsOwn) {
  const std::vector<InkPiece> pieces = find_pieces(ink_of({"#####",  //
                                                           "#...#",  //
                                                           "#.#.#",  //
                                                           "#...#",  //
                                                           "#####"}));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0], (InkPiece{0, 0, 5, 5, 16}));
  EXPECT_EQ(pieces[1], (InkPiece{2, 2, 3, 3, 1}));
}

TEST(InkPieces, ComeFromTheTopAndThenFromTheLeftByPairsOfRows) {
  const std::vector<InkPiece> pieces = find_pieces(ink_of({"....#",  //
                                                           "#....",  //
                                                           ".....",  //
                                                           "..#.."}));
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0].x0, 0);
  EXPECT_EQ(pieces[1].x0, 4);
  EXPECT_EQ(pieces[2].x0, 2);
}

TEST(InkPieces, PaperHasNone) {
  EXPECT_TRUE(find_pieces(ink_of({"....", "...."})).empty());
}

}  // namespace
}  // namespace lectern::vision
