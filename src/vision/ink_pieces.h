// The connected pieces that ink falls into, found by runs of pixels: a page is mostly paper, and paper costs little.
#pragma once

#include <opencv2/core/mat.hpp>

#include <vector>

namespace lectern::vision {

struct InkPiece {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;  // exclusive
  int y1 = 0;
  int area_px = 0;  // pixels of ink
  bool operator==(const InkPiece&) const = default;
};

// Pieces of `ink` (0 or 255, one byte a pixel) that hang together by sides or corners, from top to bottom by where they
// begin; among those that begin in the same two rows, from left to right.
std::vector<InkPiece> find_pieces(const cv::Mat& ink);

}  // namespace lectern::vision
