#include "reading/upright.h"

#include <array>
#include <cmath>
#include <utility>

namespace lectern::reading {
namespace {

constexpr int chars_min = 20;  // fewer say nothing about the page
constexpr double majority = 0.8;
constexpr float angle_slack_deg = 10;

int wrapped(int degrees) {
  return ((degrees % 360) + 360) % 360;
}

}  // namespace

int turn_of_text(const document::PageContent& content) {
  std::array<int, 4> quarter{};  // by baseline direction: 0, 90, 180, 270
  int counted = 0;
  for (const document::Char& c : content.chars) {
    if (c.code <= U' ' || (c.flags & document::Char::generated) != 0) continue;
    ++counted;
    const float turns = c.angle_deg / 90;
    const float nearest = std::round(turns);
    if (std::abs(turns - nearest) * 90 <= angle_slack_deg)
      ++quarter[static_cast<std::size_t>(wrapped(static_cast<int>(nearest) * 90) / 90)];
  }
  if (counted < chars_min) return 0;
  for (std::size_t i = 1; i < quarter.size(); ++i) {
    if (quarter[i] >= majority * counted) return wrapped(360 - static_cast<int>(i) * 90);
  }
  return 0;
}

SizePt turned_size(SizePt page, int clockwise_degrees) {
  return wrapped(clockwise_degrees) % 180 == 90 ? SizePt{page.height, page.width} : page;
}

RectPt turned_box(const RectPt& box, SizePt page, int clockwise_degrees) {
  switch (wrapped(clockwise_degrees)) {
    case 90:
      return {page.height - box.y1, box.x0, page.height - box.y0, box.x1};
    case 180:
      return {page.width - box.x1, page.height - box.y1, page.width - box.x0, page.height - box.y0};
    case 270:
      return {box.y0, page.width - box.x1, box.y1, page.width - box.x0};
    default:
      return box;
  }
}

document::PageContent turned(document::PageContent content, int clockwise_degrees) {
  const int turn = wrapped(clockwise_degrees);
  if (turn == 0) return content;
  const auto move = [&](RectPt& box) { box = turned_box(box, content.size, turn); };
  for (document::Char& c : content.chars) {
    move(c.box);
    move(c.loose);
    c.angle_deg = static_cast<float>(std::fmod(c.angle_deg + static_cast<float>(turn), 360.0F));
  }
  for (auto& rule : content.rules) move(rule.box);
  for (auto& fill : content.fills) move(fill.box);
  for (auto& picture : content.pictures) move(picture.box);
  for (auto& drawing : content.drawings) move(drawing.box);
  for (auto& link : content.links) move(link.box);
  content.size = turned_size(content.size, turn);
  return content;
}

}  // namespace lectern::reading
