#include "document/render/path_shapes.h"

#include <algorithm>
#include <cmath>

namespace lectern::document {
namespace {

constexpr float thin_max_pt = 3;  // a filled bar thinner than this, and much longer than thick, is a rule
constexpr float thin_ratio_min = 3;
constexpr float straight_slack_pt = 0.6F;  // hand-placed "horizontal" lines are seldom exactly so

bool along_axis(const PointPt& a, const PointPt& b) {
  return std::abs(a.x - b.x) <= straight_slack_pt || std::abs(a.y - b.y) <= straight_slack_pt;
}

RectPt bounds(std::span<const PathPoint> points) {
  RectPt box{INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (const PathPoint& p : points) {
    box = {std::min(box.x0, p.at.x), std::min(box.y0, p.at.y), std::max(box.x1, p.at.x), std::max(box.y1, p.at.y)};
  }
  return box;
}

// Four or five corners, straight sides along the axes: what `re` makes, or people make by hand. The closing side counts
// for fills even where the path does not draw it.
bool is_rectangle(std::span<const PathPoint> points) {
  if (points.size() != 4 && points.size() != 5) return false;
  if (points.size() == 5 && !(along_axis(points[4].at, points[0].at) &&
                              std::hypot(points[4].at.x - points[0].at.x, points[4].at.y - points[0].at.y) < 1)) {
    return false;
  }
  for (std::size_t i = 0; i < 4; ++i) {
    if (!along_axis(points[i].at, points[(i + 1) % 4].at)) return false;
  }
  return true;
}

// Google Sheets draws every grid line as a rectangle whose first corner comes twice. A point that stands still draws
// nothing; what it says about closing the path goes to the point before it.
std::vector<PathPoint> without_repeats(std::span<const PathPoint> points) {
  std::vector<PathPoint> out;
  out.reserve(points.size());
  for (const PathPoint& p : points) {
    if (p.kind == PathPoint::line && !out.empty() && out.back().at == p.at) {
      out.back().closes = out.back().closes || p.closes;
    } else {
      out.push_back(p);
    }
  }
  return out;
}

bool has_curve(std::span<const PathPoint> points) {
  return std::ranges::any_of(points, [](const PathPoint& p) { return p.kind == PathPoint::curve; });
}

void add_rule(const PointPt& a, const PointPt& b, const PathPaint& paint, PathSorting& to) {
  const float half = paint.stroke_width_pt / 2;
  RectPt box{std::min(a.x, b.x), std::min(a.y, b.y), std::max(a.x, b.x), std::max(a.y, b.y)};
  if (box.width() >= box.height()) {
    box = {box.x0, box.center_y() - half, box.x1, box.center_y() + half};
  } else {
    box = {box.center_x() - half, box.y0, box.center_x() + half, box.y1};
  }
  box = intersection(box, paint.clip);
  if (!box.empty()) to.rules.push_back({box, paint.stroke_rgb});
}

void sort_filled(std::span<const PathPoint> points, const PathPaint& paint, PathSorting& to) {
  const RectPt box = intersection(bounds(points), paint.clip);
  if (points.size() < 3) return;  // fills no area
  if (has_curve(points) || !is_rectangle(points)) {
    if (!box.empty()) to.shapes.push_back(box);
    return;
  }
  if (box.empty()) return;
  const float thin = std::min(box.width(), box.height());
  const float length = std::max(box.width(), box.height());
  if (thin <= thin_max_pt && length >= thin * thin_ratio_min) {
    to.rules.push_back({box, paint.fill_rgb});
  } else {
    to.fills.push_back({box, paint.fill_rgb});
  }
}

void sort_stroked(std::span<const PathPoint> points, const PathPaint& paint, PathSorting& to) {
  if (points.size() < 2) return;
  const bool closed = points.back().closes;
  bool straight = !has_curve(points);
  for (std::size_t i = 1; i < points.size() && straight; ++i) straight = along_axis(points[i - 1].at, points[i].at);
  if (straight && closed) straight = along_axis(points.back().at, points.front().at);
  if (!straight) {
    RectPt box = bounds(points);
    const float half = paint.stroke_width_pt / 2;
    box = intersection({box.x0 - half, box.y0 - half, box.x1 + half, box.y1 + half}, paint.clip);
    if (!box.empty()) to.shapes.push_back(box);
    return;
  }
  for (std::size_t i = 1; i < points.size(); ++i) add_rule(points[i - 1].at, points[i].at, paint, to);
  if (closed && points.back().at != points.front().at) add_rule(points.back().at, points.front().at, paint, to);
}

}  // namespace

void classify_path(std::span<const PathPoint> path, const PathPaint& paint, PathSorting to) {
  for (std::size_t begin = 0; begin < path.size();) {
    std::size_t end = begin + 1;
    while (end < path.size() && path[end].kind != PathPoint::move) ++end;
    const std::vector<PathPoint> subpath = without_repeats(path.subspan(begin, end - begin));
    if (paint.filled) sort_filled(subpath, paint, to);
    if (paint.stroked) sort_stroked(subpath, paint, to);
    begin = end;
  }
}

}  // namespace lectern::document
