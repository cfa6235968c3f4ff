// The ink of a page: pixels that differ from the paper around them, whatever the polarity, and the glyph-sized pieces
// it falls into. What orientation, skew and content class look at. OpenCV stays inside vision/.
#pragma once

#include <opencv2/core/mat.hpp>

#include <vector>

#include "image/image.h"

namespace lectern::vision {

// A view of the image's pixels where it is gray, else a gray copy.
cv::Mat gray_of(const image::Image& image);

// Reduced so that the longer side is at most `side_px_max`; never enlarged. Sets `scale` (result / source).
cv::Mat reduced(const cv::Mat& gray, int side_px_max, double& scale);

// How closely the paper is looked at, which is most of the work.
enum class InkCare {
  full,
  glance,  // from a quarter of the samples: for those who look at the page as a whole
};

// 255 where there is ink: dark on light and light on dark alike.
cv::Mat find_ink(const cv::Mat& gray, InkCare care = InkCare::full);

struct Glyph {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;  // exclusive
  int y1 = 0;
  int width() const { return x1 - x0; }
  int height() const { return y1 - y0; }
};

// Connected pieces of ink that may be letters or short words: not specks, rulings or pictures.
std::vector<Glyph> find_glyphs(const cv::Mat& ink);

}  // namespace lectern::vision
