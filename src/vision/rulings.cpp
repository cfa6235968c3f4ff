// Straight lines of ink along the axes: what tables and forms are drawn with.
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>

#include "vision/ink.h"
#include "vision/orientation.h"

namespace lectern::vision {
namespace {

constexpr int working_side_px = 2000;

int thickness_max(const cv::Mat& page) {
  return std::max(6, std::max(page.cols, page.rows) / 200);
}

// Ink that is thin from top to bottom. Filled areas, pictures and bold capitals have none, however long they are.
cv::Mat thin_ink(const cv::Mat& gray, const cv::Mat& ink) {
  constexpr double contrast_min = 24;
  const cv::Mat column = cv::getStructuringElement(cv::MORPH_RECT, {1, 2 * thickness_max(gray) + 1});
  cv::Mat dark_lines, light_lines, thin;
  cv::morphologyEx(gray, dark_lines, cv::MORPH_BLACKHAT, column);
  cv::morphologyEx(gray, light_lines, cv::MORPH_TOPHAT, column);
  cv::max(dark_lines, light_lines, thin);
  // The white between two rows of text is a light line as well, but it is paper, not ink.
  cv::threshold(thin, thin, contrast_min, 255, cv::THRESH_BINARY);
  cv::bitwise_and(thin, ink, thin);
  return thin;
}

// The share of the columns of `line` that have ink in the rows from `top` to `bottom`.
double covered(const cv::Mat& ink, const cv::Rect& line, int top, int bottom) {
  top = std::clamp(top, 0, ink.rows);
  bottom = std::clamp(bottom, 0, ink.rows);
  if (top >= bottom) return 0;
  cv::Mat columns;
  cv::reduce(ink(cv::Rect(line.x, top, line.width, bottom - top)), columns, 0, cv::REDUCE_MAX);
  return static_cast<double>(cv::countNonZero(columns)) / line.width;
}

// The serifs of a line of text make a run of ink too, but it has gaps, and letters stand on it and hang from it.
bool is_text_row(const cv::Mat& ink, const cv::Rect& line) {
  constexpr int clearance = 2;
  const double inside = covered(ink, line, line.y, line.y + line.height);
  const double above = covered(ink, line, line.y - clearance - 1, line.y - clearance);
  const double below = covered(ink, line, line.y + line.height + clearance, line.y + line.height + clearance + 1);
  return inside < 0.85 || above + below > 0.6;
}

// Where a line meets one that crosses it the ink is not thin, so the ends are taken from the ink itself.
cv::Rect with_ends(const cv::Mat& ink, cv::Rect line) {
  const int reach = 2 * thickness_max(ink);
  const auto has_ink = [&](int x) {
    return x >= 0 && x < ink.cols && cv::countNonZero(ink(cv::Rect(x, line.y, 1, line.height))) > 0;
  };
  for (int i = 0; i < reach && has_ink(line.x - 1); ++i, --line.x) ++line.width;
  for (int i = 0; i < reach && has_ink(line.x + line.width); ++i) ++line.width;
  return line;
}

// Boxes of horizontal lines.
std::vector<cv::Rect> horizontal_lines(const cv::Mat& gray, const cv::Mat& ink) {
  const int length_min = std::max(32, std::max(ink.cols, ink.rows) / 40);
  const int break_max = std::max(3, length_min / 8);  // a scan drops a pixel here and there
  cv::Mat bridged, runs;
  cv::morphologyEx(thin_ink(gray, ink), bridged, cv::MORPH_CLOSE,
                   cv::getStructuringElement(cv::MORPH_RECT, {break_max, 1}));
  cv::morphologyEx(bridged, runs, cv::MORPH_OPEN, cv::getStructuringElement(cv::MORPH_RECT, {length_min, 1}));
  cv::Mat labels, stats, centers;
  const int count = cv::connectedComponentsWithStats(runs, labels, stats, centers, 8, CV_32S);
  std::vector<cv::Rect> lines;
  for (int i = 1; i < count; ++i) {
    const int* stat = stats.ptr<int>(i);
    const cv::Rect box(stat[cv::CC_STAT_LEFT], stat[cv::CC_STAT_TOP], stat[cv::CC_STAT_WIDTH],
                       stat[cv::CC_STAT_HEIGHT]);
    // The area, not the box, tells the thickness: a slightly slanted line has a tall box.
    const int thickness = std::max(1, stat[cv::CC_STAT_AREA] / box.width);
    if (box.width < 6 * thickness || box.height > thickness_max(ink) + box.width / 20) continue;
    if (!is_text_row(ink, box)) lines.push_back(with_ends(ink, box));
  }
  return lines;
}

// Pieces of one line, broken by a stain or a punched hole, become one.
std::vector<cv::Rect> joined(std::vector<cv::Rect> lines) {
  std::ranges::sort(lines,
                    [](const cv::Rect& a, const cv::Rect& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
  std::vector<cv::Rect> result;
  for (const cv::Rect& line : lines) {
    const auto same = std::ranges::find_if(result, [&](const cv::Rect& r) {
      const int gap = line.x - (r.x + r.width);
      const bool level = line.y <= r.y + r.height + 1 && r.y <= line.y + line.height + 1;
      return level && gap <= std::min(r.width, line.width) / 4;
    });
    if (same == result.end()) {
      result.push_back(line);
    } else {
      *same |= line;
    }
  }
  return result;
}

bool touches(const cv::Rect& line, const std::vector<cv::Rect>& others) {
  constexpr int slack = 4;
  const cv::Rect wide(line.x - slack, line.y - slack, line.width + 2 * slack, line.height + 2 * slack);
  return std::ranges::any_of(others, [&](const cv::Rect& other) { return (wide & other).area() > 0; });
}

// A line with letters standing on it along most of its length, and no line crossing it, underlines a word.
bool is_underline(const cv::Rect& line, const cv::Mat& ink) {
  const int reach = std::max(4, std::max(ink.cols, ink.rows) / 300);
  return covered(ink, line, line.y - reach, line.y) > 0.4;
}

cv::Rect transposed(const cv::Rect& r) {
  return {r.y, r.x, r.height, r.width};
}

std::vector<BoxPx> scaled(const std::vector<cv::Rect>& lines, double scale, const image::Image& image) {
  const auto to_px = [&](int value, int limit) {
    return std::clamp(static_cast<int>(std::lround(value / scale)), 0, limit);
  };
  std::vector<BoxPx> boxes;
  boxes.reserve(lines.size());
  for (const cv::Rect& r : lines) {
    boxes.push_back({to_px(r.x, image.width_px), to_px(r.y, image.height_px), to_px(r.x + r.width, image.width_px),
                     to_px(r.y + r.height, image.height_px)});
  }
  return boxes;
}

}  // namespace

Rulings find_rulings(const image::Image& image) {
  if (image.width_px < 16 || image.height_px < 16) return {};
  double scale = 1;
  const cv::Mat gray = reduced(gray_of(image), working_side_px, scale);
  const cv::Mat ink = find_ink(gray);
  std::vector<cv::Rect> horizontal = joined(horizontal_lines(gray, ink));
  std::vector<cv::Rect> vertical;
  for (const cv::Rect& r : joined(horizontal_lines(gray.t(), ink.t()))) vertical.push_back(transposed(r));
  std::erase_if(horizontal, [&](const cv::Rect& r) { return !touches(r, vertical) && is_underline(r, ink); });
  const auto by_place = [](const cv::Rect& a, const cv::Rect& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); };
  std::ranges::sort(horizontal, by_place);
  std::ranges::sort(vertical, by_place);
  return {scaled(horizontal, scale, image), scaled(vertical, scale, image)};
}

}  // namespace lectern::vision
