#include "vision/ink.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <mutex>

#include "vision/ink_pieces.h"

namespace lectern::vision {
namespace {

// OpenCV's own threads would compete with the pool's workers.
void keep_opencv_to_one_thread() {
  static std::once_flag once;
  std::call_once(once, [] { cv::setNumThreads(1); });
}

// The tone of the paper at each pixel: the most usual tone nearby, as ink covers less than half of a page. Taken from a
// quarter of the resolution, or an eighth, since paper changes slowly and the median filter is the costly part.
cv::Mat paper_of(const cv::Mat& gray, InkCare care) {
  // 84 or 88 pixels of a working image: more than a line of text and its spacing.
  const int reduction = care == InkCare::full ? 4 : 8;
  const int window = care == InkCare::full ? 21 : 11;
  cv::Mat small;
  cv::resize(gray, small, {std::max(1, gray.cols / reduction), std::max(1, gray.rows / reduction)}, 0, 0,
             cv::INTER_NEAREST);
  cv::medianBlur(small, small, window);
  cv::Mat paper;
  cv::resize(small, paper, gray.size(), 0, 0, cv::INTER_LINEAR);
  return paper;
}

// The contrast that separates ink from paper: Otsu's choice among pixels that differ at all, within sane bounds.
double ink_contrast(const cv::Mat& difference) {
  constexpr int noise = 12;
  constexpr double contrast_min = 24;
  constexpr double contrast_max = 90;
  std::vector<std::uint8_t> values(static_cast<std::size_t>((difference.rows + 1) / 2) *
                                   static_cast<std::size_t>((difference.cols + 1) / 2));
  std::size_t count = 0;
  for (int y = 0; y < difference.rows; y += 2) {
    const auto* row = difference.ptr<std::uint8_t>(y);
    for (int x = 0; x < difference.cols; x += 2) {
      values[count] = row[x];  // overwritten by the next one unless it counts
      count += row[x] > noise ? 1 : 0;
    }
  }
  values.resize(count);
  if (values.empty()) return contrast_min;
  cv::Mat ignored;
  const double otsu = cv::threshold(cv::Mat(values), ignored, 0, 255, cv::THRESH_BINARY | cv::THRESH_OTSU);
  return std::clamp(otsu * 0.8, contrast_min, contrast_max);
}

}  // namespace

cv::Mat gray_of(const image::Image& image) {
  keep_opencv_to_one_thread();
  auto* pixels = const_cast<std::uint8_t*>(image.pixels.data());  // cv::Mat has no view of constant data
  if (image.format == image::PixelFormat::gray8) return {image.height_px, image.width_px, CV_8UC1, pixels};
  cv::Mat gray;
  cv::cvtColor(cv::Mat(image.height_px, image.width_px, CV_8UC3, pixels), gray, cv::COLOR_RGB2GRAY);
  return gray;
}

cv::Mat reduced(const cv::Mat& gray, int side_px_max, double& scale) {
  const int side = std::max(gray.cols, gray.rows);
  scale = 1;
  if (side <= side_px_max) return gray;
  scale = static_cast<double>(side_px_max) / side;
  cv::Mat small;
  cv::resize(gray, small,
             {std::max(1, static_cast<int>(gray.cols * scale)), std::max(1, static_cast<int>(gray.rows * scale))}, 0, 0,
             cv::INTER_AREA);
  return small;
}

cv::Mat find_ink(const cv::Mat& gray, InkCare care) {
  cv::Mat difference;
  cv::absdiff(gray, paper_of(gray, care), difference);
  cv::Mat ink;
  cv::threshold(difference, ink, ink_contrast(difference), 255, cv::THRESH_BINARY);
  return ink;
}

std::vector<Glyph> find_glyphs(const cv::Mat& ink) {
  constexpr int side_px_min = 5;
  constexpr int aspect_max = 10;
  constexpr std::size_t glyphs_max = 20'000;  // a page of small print has 10,000; more is texture
  const int side_px_max = std::max(ink.cols, ink.rows) / 4;
  std::vector<Glyph> glyphs;
  for (const InkPiece& piece : find_pieces(ink)) {
    if (glyphs.size() == glyphs_max) break;
    const int width = piece.x1 - piece.x0;
    const int height = piece.y1 - piece.y0;
    const int longer = std::max(width, height);
    const int shorter = std::min(width, height);
    if (longer < side_px_min || longer > side_px_max || longer > aspect_max * shorter) continue;
    if (piece.area_px * 12 < width * height) continue;  // an outline or a diagonal line
    glyphs.push_back({piece.x0, piece.y0, piece.x1, piece.y1});
  }
  return glyphs;
}

}  // namespace lectern::vision
