// Straight lines of ink along the axes: what tables and forms are drawn with.
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "vision/ink.h"
#include "vision/orientation.h"

namespace lectern::vision {
namespace {

constexpr int working_side_px = 1600;
constexpr int contrast_min = 20;  // rulings are often printed pale

int thickness_max(const cv::Mat& page) {
  return std::max(6, std::max(page.cols, page.rows) / 200);
}

// A page as the search sees it: lines are dark on light (a page of light lines on dark is inverted first) and
// horizontal (for vertical ones it is transposed).
struct View {
  cv::Mat gray;
  int length_min = 0;
};

// What is dark and thin from top to bottom. Filled areas, pictures and bold capitals are not, however long they are.
cv::Mat thin_and_dark(const View& view) {
  cv::Mat thin;
  const cv::Mat column = cv::getStructuringElement(cv::MORPH_RECT, {1, 2 * thickness_max(view.gray) + 1});
  cv::morphologyEx(view.gray, thin, cv::MORPH_BLACKHAT, column);
  cv::threshold(thin, thin, contrast_min, 255, cv::THRESH_BINARY);
  return thin;
}

// The tops and feet of letters make long dark rows too, but the letters stand on them or hang from them; a ruling has
// paper on both sides nearly everywhere.
bool has_paper_around(const View& view, const cv::Rect& line) {
  constexpr int clearance = 2;
  constexpr double share_min = 0.75;
  const int top = std::max(0, line.y - clearance - 1);
  const int bottom = std::min(view.gray.rows - 1, line.y + line.height + clearance);
  cv::Mat darkest;
  cv::reduce(view.gray(line), darkest, 0, cv::REDUCE_MIN);
  const auto* above = view.gray.ptr<std::uint8_t>(top);
  const auto* below = view.gray.ptr<std::uint8_t>(bottom);
  int clear = 0;
  for (int x = 0; x < line.width; ++x) {
    const int ink = darkest.at<std::uint8_t>(x) + contrast_min;
    clear += above[line.x + x] >= ink && below[line.x + x] >= ink ? 1 : 0;
  }
  return clear >= share_min * line.width;
}

// Where a line meets one that crosses it nothing is thin, so the ends are found by their darkness.
cv::Rect with_ends(const View& view, cv::Rect line) {
  const int reach = 2 * thickness_max(view.gray);
  cv::Mat darkest;
  cv::reduce(view.gray(line), darkest, 0, cv::REDUCE_MIN);
  const double limit = cv::mean(darkest)[0] + contrast_min;
  const auto dark_at = [&](int x) {
    if (x < 0 || x >= view.gray.cols) return false;
    double low = 0;
    cv::minMaxLoc(view.gray(cv::Rect(x, line.y, 1, line.height)), &low);
    return low <= limit;
  };
  for (int i = 0; i < reach && dark_at(line.x - 1); ++i, --line.x) ++line.width;
  for (int i = 0; i < reach && dark_at(line.x + line.width); ++i) ++line.width;
  return line;
}

// A ruling is as thick at its start as at its end; a word that is no taller than a ruling is thick, or absent, changes
// from column to column.
bool is_even(const cv::Mat& thin, const cv::Rect& line) {
  constexpr double share_min = 0.8;
  cv::Mat sums;
  cv::reduce(thin(line), sums, 0, cv::REDUCE_SUM, CV_32S);
  std::vector<int> thickness(static_cast<std::size_t>(line.width));
  for (int x = 0; x < line.width; ++x) thickness[static_cast<std::size_t>(x)] = sums.at<int>(x) / 255;
  std::vector<int> sorted = thickness;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  const int tolerance = std::max(1, *middle / 4);
  const auto even =
      std::ranges::count_if(thickness, [&](int t) { return t > 0 && std::abs(t - *middle) <= tolerance; });
  return *middle > 0 && static_cast<double>(even) >= share_min * line.width;
}

std::vector<cv::Rect> horizontal_lines(const View& view) {
  const int break_max = std::max(3, view.length_min / 8);  // a scan drops a pixel here and there
  const cv::Mat thin = thin_and_dark(view);
  cv::Mat bridged, runs;
  cv::morphologyEx(thin, bridged, cv::MORPH_CLOSE, cv::getStructuringElement(cv::MORPH_RECT, {break_max, 1}));
  cv::morphologyEx(bridged, runs, cv::MORPH_OPEN, cv::getStructuringElement(cv::MORPH_RECT, {view.length_min / 2, 1}));
  std::vector<cv::Rect> lines;
  const cv::Rect inked = cv::boundingRect(runs);  // labelling is costly, and most pages have few rulings or none
  if (inked.empty()) return lines;
  cv::Mat labels, stats, centers;
  const int count = cv::connectedComponentsWithStats(runs(inked), labels, stats, centers, 8, CV_32S);
  for (int i = 1; i < count; ++i) {
    const int* stat = stats.ptr<int>(i);
    const cv::Rect box(inked.x + stat[cv::CC_STAT_LEFT], inked.y + stat[cv::CC_STAT_TOP], stat[cv::CC_STAT_WIDTH],
                       stat[cv::CC_STAT_HEIGHT]);
    // The area, not the box, tells the thickness: a slightly slanted line has a tall box.
    const int thickness = std::max(1, stat[cv::CC_STAT_AREA] / box.width);
    if (box.width < view.length_min || box.width < 6 * thickness) continue;
    if (box.height > thickness_max(view.gray) + box.width / 20) continue;
    if (is_even(thin, box) && has_paper_around(view, box)) lines.push_back(with_ends(view, box));
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
  const int top = std::max(0, line.y - reach);
  if (top >= line.y) return false;
  cv::Mat columns;
  cv::reduce(ink(cv::Rect(line.x, top, line.width, line.y - top)), columns, 0, cv::REDUCE_MAX);
  return cv::countNonZero(columns) * 5 > line.width * 2;
}

int usual_height(const std::vector<Glyph>& glyphs) {
  if (glyphs.empty()) return 0;
  std::vector<int> heights;
  for (const Glyph& glyph : glyphs) heights.push_back(glyph.height());
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::ranges::nth_element(heights, middle);
  return *middle;
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
  cv::Mat gray = reduced(gray_of(image), working_side_px, scale);
  const cv::Mat ink = find_ink(gray);
  constexpr double dark_page = 100;
  if (cv::mean(gray)[0] < dark_page) gray = 255 - gray;
  const int glyph_height = usual_height(find_glyphs(ink));
  // Longer than any stroke of a letter, which reaches about twice the height of the usual one; and where no other line
  // backs it, longer than what the letters of a word can line up to.
  const int length_min = std::max({32, std::max(gray.cols, gray.rows) / 50, 5 * glyph_height / 2});
  const int alone_min = std::max(length_min, 9 * glyph_height);
  std::vector<cv::Rect> horizontal = joined(horizontal_lines({gray, length_min}));
  std::vector<cv::Rect> vertical;
  for (const cv::Rect& r : joined(horizontal_lines({gray.t(), length_min}))) vertical.push_back(transposed(r));
  std::erase_if(vertical, [&](const cv::Rect& r) { return r.height < alone_min && !touches(r, horizontal); });
  std::erase_if(horizontal, [&](const cv::Rect& r) {
    return !touches(r, vertical) && (r.width < alone_min || is_underline(r, ink));
  });
  const auto by_place = [](const cv::Rect& a, const cv::Rect& b) { return std::pair(a.y, a.x) < std::pair(b.y, b.x); };
  std::ranges::sort(horizontal, by_place);
  std::ranges::sort(vertical, by_place);
  return {scaled(horizontal, scale, image), scaled(vertical, scale, image)};
}

}  // namespace lectern::vision
