// How crooked a scan is: the angle at which the feet of the letters fall into the fewest rows.
#include <cmath>
#include <numbers>
#include <vector>

#include "vision/ink.h"
#include "vision/orientation.h"

namespace lectern::vision {
namespace {

constexpr float angle_max_deg = 15;
constexpr int working_side_px = 1200;
constexpr std::size_t glyphs_min = 24;

struct Point {
  double x = 0;
  double y = 0;
};

// How strongly the points gather in rows when the page is turned by `degrees`: the sum of squares of a histogram whose
// bins are `row_px` high. A point is shared between its two nearest bins, so the measure has no steps.
class RowMeasure {
 public:
  explicit RowMeasure(std::vector<Point> points) : points_(std::move(points)) {
    for (const Point& p : points_) radius_ = std::max(radius_, std::hypot(p.x, p.y));
  }

  double at(double degrees, double row_px) {
    const double sine = std::sin(degrees * std::numbers::pi / 180);
    const double cosine = std::cos(degrees * std::numbers::pi / 180);
    bins_.assign(static_cast<std::size_t>(2 * radius_ / row_px) + 3, 0.0F);
    for (const Point& p : points_) {
      const double row = (p.x * sine + p.y * cosine + radius_) / row_px;
      const auto bin = static_cast<std::size_t>(row);
      const auto share = static_cast<float>(row - static_cast<double>(bin));
      bins_[bin] += 1 - share;
      bins_[bin + 1] += share;
    }
    double sum = 0;
    for (const float count : bins_) sum += static_cast<double>(count) * static_cast<double>(count);
    return sum;
  }

 private:
  std::vector<Point> points_;
  double radius_ = 1;
  std::vector<float> bins_;
};

struct Peak {
  double degrees = 0;
  double height = 0;
};

Peak highest(RowMeasure& measure, double from, double to, double step, double row_px) {
  Peak peak;
  for (double angle = from; angle <= to + step / 2; angle += step) {
    const double height = measure.at(angle, row_px);
    // Of equals the smallest turn: a page without evidence stays as it is.
    if (height > peak.height || (height == peak.height && std::abs(angle) < std::abs(peak.degrees)))
      peak = {angle, height};
  }
  return peak;
}

// Turning the page clockwise by θ (y grows down) moves (x, y) to the row x sin θ + y cos θ.
double find_angle(RowMeasure& measure) {
  constexpr double coarse_step = 0.25;
  constexpr double fine_step = 0.05;
  const Peak coarse = highest(measure, -angle_max_deg, angle_max_deg, coarse_step, 4.0);
  // Rows must stand out from what other angles give, else the glyphs are not set in lines.
  double sum = 0;
  int count = 0;
  for (double angle = -angle_max_deg; angle <= angle_max_deg; angle += 2.5, ++count) sum += measure.at(angle, 4.0);
  constexpr double clear_of_average = 1.25;
  if (coarse.height < clear_of_average * sum / count) return 0;
  const Peak fine =
      highest(measure, coarse.degrees - 2 * coarse_step, coarse.degrees + 2 * coarse_step, fine_step, 1.5);
  // The top of the parabola through the peak and its two neighbours.
  const double before = measure.at(fine.degrees - fine_step, 1.5);
  const double after = measure.at(fine.degrees + fine_step, 1.5);
  const double bend = before - 2 * fine.height + after;
  const double shift = bend < 0 ? std::clamp((before - after) / (2 * bend), -1.0, 1.0) : 0.0;
  return fine.degrees + shift * fine_step;
}

}  // namespace

float find_skew(const image::Image& image) {
  if (image.empty()) return 0;
  double scale = 1;
  const cv::Mat small = reduced(gray_of(image), working_side_px, scale);
  const std::vector<Glyph> glyphs = find_glyphs(find_ink(small));
  if (glyphs.size() < glyphs_min) return 0;
  std::vector<Point> feet;
  feet.reserve(glyphs.size());
  for (const Glyph& g : glyphs) {
    feet.push_back({(g.x0 + g.x1) / 2.0 - small.cols / 2.0, static_cast<double>(g.y1) - small.rows / 2.0});
  }
  RowMeasure measure(std::move(feet));
  const auto angle = static_cast<float>(find_angle(measure));
  return std::abs(angle) >= angle_max_deg ? 0.0F : angle;  // at the border the true peak lies outside
}

}  // namespace lectern::vision
