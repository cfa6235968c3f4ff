// Finds which way is up: the axis of the lines from where glyphs stand to one another, then the direction along it from
// short trial reads of the longest lines, and from the shapes of the characters where reading fails (other scripts).
#include "vision/orientation.h"

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "vision/ink.h"
#include "vision/text_lines.h"
#include "vision/turn_tally.h"

namespace lectern::vision {
namespace {

constexpr int working_side_px = 1600;
constexpr std::size_t glyphs_min = 3;
constexpr std::size_t lines_max = 5;  // a trial read costs 10 to 40 ms a line
constexpr int line_glyphs_min = 3;
constexpr int line_aspect_max = 30;  // longer lines say nothing more
constexpr int line_height_px = 44;   // what the recogniser scales lines to, and a margin
constexpr double axis_sure = 0.7;    // share of neighbours along one axis

constexpr float reading_suffices = 0.8F;  // surer than this, the shapes of characters are not asked

enum class Axis { horizontal, vertical };

std::array<int, 2> turns_of(Axis axis) {
  return axis == Axis::horizontal ? std::array{0, 180} : std::array{90, 270};
}

std::vector<TextLine> lines_along(std::span<const Glyph> glyphs, Axis axis) {
  if (axis == Axis::horizontal) return find_lines(glyphs);
  std::vector<Glyph> swapped(glyphs.size());
  std::ranges::transform(glyphs, swapped.begin(), transposed);
  return find_lines(swapped);
}

int glyphs_in_longest(const std::vector<TextLine>& lines) {
  int sum = 0;
  for (std::size_t i = 0; i < std::min(lines.size(), lines_max); ++i) sum += lines[i].glyphs;
  return sum;
}

// The axes that the lines may run along, the likelier first. Where neighbours do not tell (the parts of a Chinese or
// Korean character stand above one another), the longer lines do.
std::vector<Axis> likely_axes(std::span<const Glyph> glyphs) {
  const double share = vote_on_axis(glyphs).horizontal_share();
  if (share >= axis_sure) return {Axis::horizontal};
  if (share <= 1 - axis_sure) return {Axis::vertical};
  constexpr int enough = 64;  // glyphs in the longest lines; a chart's labels have fewer
  const int across = glyphs_in_longest(lines_along(glyphs, Axis::horizontal));
  const int down = glyphs_in_longest(lines_along(glyphs, Axis::vertical));
  if (across >= enough && 2 * across >= 3 * down) return {Axis::horizontal};
  if (down >= enough && 2 * down >= 3 * across) return {Axis::vertical};
  return share >= 0.5 ? std::vector{Axis::horizontal, Axis::vertical} : std::vector{Axis::vertical, Axis::horizontal};
}

// Boxes in the page's own axes, those with most glyphs first.
std::vector<Glyph> lines_to_try(std::span<const Glyph> glyphs, Axis axis) {
  std::vector<Glyph> boxes;
  for (const TextLine& line : lines_along(glyphs, axis)) {
    if (boxes.size() == lines_max || line.glyphs < line_glyphs_min) break;
    Glyph box = line.box;
    const int height = box.height();
    if (box.width() < height) continue;
    const int margin = height / 4 + 2;
    box = {box.x0 - margin, box.y0 - margin, std::min(box.x1, box.x0 + line_aspect_max * height) + margin,
           box.y1 + margin};
    boxes.push_back(axis == Axis::vertical ? transposed(box) : box);
  }
  return boxes;
}

image::Image to_image(const cv::Mat& gray, float dpi) {
  image::Image image(gray.cols, gray.rows, image::PixelFormat::gray8);
  image.dpi = dpi;
  for (int y = 0; y < gray.rows; ++y) std::memcpy(image.row(y), gray.ptr(y), image.stride());
  return image;
}

// The area of the page, turned, as a line of the height that the recogniser likes.
image::Image cut_line(const cv::Mat& page, const cv::Rect& area, int clockwise_degrees) {
  cv::Mat line;  // never the view itself: turning that would turn the caller's pixels
  switch (clockwise_degrees) {
    case 90:
      cv::rotate(page(area), line, cv::ROTATE_90_CLOCKWISE);
      break;
    case 180:
      cv::rotate(page(area), line, cv::ROTATE_180);
      break;
    case 270:
      cv::rotate(page(area), line, cv::ROTATE_90_COUNTERCLOCKWISE);
      break;
    default:
      line = page(area);
  }
  const double scale = static_cast<double>(line_height_px) / line.rows;
  cv::Mat sized;
  cv::resize(line, sized, {std::max(8, static_cast<int>(std::lround(line.cols * scale))), line_height_px}, 0, 0,
             scale < 1 ? cv::INTER_AREA : cv::INTER_CUBIC);
  return to_image(sized, 300);
}

class TrialReads {
 public:
  TrialReads(const cv::Mat& page, double scale, OcrEngine& engine) : page_(page), scale_(scale), engine_(engine) {}

  Result<std::optional<Orientation>> run(std::span<const Glyph> glyphs, const std::vector<Axis>& axes) {
    std::vector<std::vector<Glyph>> lines;
    for (const Axis axis : axes) lines.push_back(lines_to_try(glyphs, axis));
    for (std::size_t i = 0; i < lines_max; ++i) {
      for (std::size_t a = 0; a < axes.size(); ++a) {
        if (i >= lines[a].size()) continue;
        for (const int turn : turns_of(axes[a])) {
          if (turn == 180 && axes.size() == 1 && tally_.likely_upright()) continue;
          if (const Status status = read(lines[a][i], turn); !status) return std::unexpected(status.error());
        }
      }
      if (const auto decided = tally_.decided()) return decided;
    }
    return tally_.best_guess();
  }

 private:
  Status read(const Glyph& box, int turn) {
    const cv::Rect area = cv::Rect(cv::Point(static_cast<int>(box.x0 / scale_), static_cast<int>(box.y0 / scale_)),
                                   cv::Point(static_cast<int>(box.x1 / scale_), static_cast<int>(box.y1 / scale_))) &
                          cv::Rect(0, 0, page_.cols, page_.rows);
    if (area.width < 4 || area.height < 4) return {};
    const auto read = engine_.read(cut_line(page_, area, turn), OcrLayout::single_line);
    if (!read) return std::unexpected(read.error());
    tally_.add(turn, read->words);
    return {};
  }

  const cv::Mat& page_;
  double scale_;
  OcrEngine& engine_;
  TurnTally tally_;
};

// What the shapes of the characters say, given the axis. They are judged with the lines level, where the search for
// characters works best; where the axis is open, in the direction the page has.
Result<Orientation> judge_shapes(const cv::Mat& page, const std::vector<Axis>& axes, OcrEngine& engine) {
  const bool on_its_side = axes.size() == 1 && axes[0] == Axis::vertical;
  cv::Mat level = page;
  if (on_its_side) cv::rotate(page, level, cv::ROTATE_90_CLOCKWISE);
  const auto scores = engine.judge_turns(to_image(level, 150));
  if (!scores) {
    if (scores.error().kind == ErrorKind::unavailable) return Orientation{};
    return std::unexpected(scores.error());
  }
  const auto score_of = [&](int turn) {
    const int from_level = (turn - (on_its_side ? 90 : 0) + 360) % 360;
    return static_cast<double>(scores->by_quarter_turn[static_cast<std::size_t>(from_level / 90)]);
  };
  std::vector<std::pair<double, int>> ranked;
  for (const Axis axis : axes) {
    for (const int turn : turns_of(axis)) ranked.emplace_back(score_of(turn), turn);
  }
  std::ranges::sort(ranked, [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  });
  constexpr double margin_sure = 10;  // log likelihood; half a unit is chance
  const double margin = std::clamp((ranked[0].first - ranked[1].first - 0.5) / margin_sure, 0.0, 1.0);
  return Orientation{ranked[0].second, static_cast<float>(0.45 + 0.5 * margin)};
}

// Two opinions into one: the surer wins, and agreement makes sure.
Orientation combined(const std::optional<Orientation>& reading, const Orientation& shapes) {
  if (!reading) return shapes;
  if (reading->clockwise_degrees == shapes.clockwise_degrees && shapes.confidence >= 0.5F) {
    return {shapes.clockwise_degrees, std::max({reading->confidence, shapes.confidence, 0.8F})};
  }
  return shapes.confidence > reading->confidence ? shapes : *reading;
}

}  // namespace

Result<Orientation> find_orientation(const image::Image& image, OcrEngine& engine) {
  if (image.empty()) return Orientation{};
  const cv::Mat page = gray_of(image);
  double scale = 1;
  const cv::Mat small = reduced(page, working_side_px, scale);
  const std::vector<Glyph> glyphs = find_glyphs(find_ink(small));
  if (glyphs.size() < glyphs_min) return Orientation{};
  const std::vector<Axis> axes = likely_axes(glyphs);
  const auto reading = TrialReads(page, scale, engine).run(glyphs, axes);
  if (!reading) return std::unexpected(reading.error());
  if (*reading && (*reading)->confidence >= reading_suffices) return **reading;
  const auto shapes = judge_shapes(small, axes, engine);
  if (!shapes) return std::unexpected(shapes.error());
  const Orientation orientation = combined(*reading, *shapes);
  return orientation.confidence < 0.5F ? Orientation{0, orientation.confidence} : orientation;
}

}  // namespace lectern::vision
