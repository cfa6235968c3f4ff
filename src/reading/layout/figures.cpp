#include "reading/layout/figures.h"

#include <algorithm>

#include "reading/layout/rows.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

constexpr float side_min_pt = 24;  // smaller pictures are bullets, rules and icons
constexpr float area_min_pt2 = 1600;
constexpr std::size_t areas_max = 1000;   // a page of more pictures is one picture in tiles
constexpr float background_share = 0.6F;  // of the page: what covers this much lies behind the text

struct Area {
  RectPt box;
  bool drawing = false;
  int paths = 0;
};

float shared(const RectPt& a, const RectPt& b) {
  return intersection(a, b).area();
}

bool worth_keeping(const RectPt& box) {
  return box.width() >= side_min_pt && box.height() >= side_min_pt && box.area() >= area_min_pt2;
}

RectPt clipped(const RectPt& box, SizePt page) {
  return intersection(box, {0, 0, page.width, page.height});
}

// Pictures come in tiles, charts in pieces: areas that overlap or touch are one figure.
std::vector<Area> merged(std::vector<Area> areas) {
  std::ranges::sort(areas, [](const Area& a, const Area& b) {
    return a.box.y0 != b.box.y0 ? a.box.y0 < b.box.y0 : a.box.x0 < b.box.x0;
  });
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Area> out;
    for (const Area& a : areas) {
      const auto near = std::ranges::find_if(out, [&](const Area& b) {
        return a.box.x0 < b.box.x1 + 3 && a.box.x1 > b.box.x0 - 3 && a.box.y0 < b.box.y1 + 3 && a.box.y1 > b.box.y0 - 3;
      });
      if (near == out.end()) {
        out.push_back(a);
        continue;
      }
      near->box = union_of(near->box, a.box);
      near->drawing = near->drawing && a.drawing;
      near->paths += a.paths;
      changed = true;
    }
    areas = std::move(out);
  }
  return areas;
}

// Segments that lie in the box, most of them: a line that merely begins over a drawing is no label of it.
std::vector<std::size_t> inside(const std::vector<Line>& segments, const RectPt& box) {
  std::vector<std::size_t> in;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const RectPt& b = segments[i].box;
    const float y = (segments[i].core_top() + segments[i].core_bottom()) / 2;
    if (y < box.y0 - 1 || y > box.y1 + 1) continue;
    const float shared_x = std::min(b.x1, box.x1) - std::max(b.x0, box.x0);
    if (shared_x >= 0.75F * std::max(b.width(), 0.1F)) in.push_back(i);
  }
  return in;
}

// Running text that merely has a frame or a tinted box around it stays in the flow.
bool holds_prose(const std::vector<Line>& segments, const std::vector<std::size_t>& in, const Area& area) {
  float text_area = 0;
  std::size_t long_lines = 0;
  for (const std::size_t i : in) {
    const Line& l = segments[i];
    text_area += l.box.width() * (l.core_bottom() - l.core_top());
    if (l.words.size() >= 7 && l.chars > 35) ++long_lines;
  }
  if (text_area > 0.3F * std::max(area.box.area(), 1.0F)) return true;
  return long_lines >= 3 && long_lines * 3 >= in.size();
}

}  // namespace

std::vector<Block> take_figures(std::vector<Line>& segments, const document::PageContent& content, const Frame& frame,
                                const std::vector<RectPt>& tables, float body_size) {
  const SizePt page = frame.size();
  const float page_area = std::max(1.0F, page.width * page.height);
  const bool any_text = !segments.empty();
  std::vector<Area> areas;
  const auto in_table = [&](const RectPt& box) {
    return std::ranges::any_of(tables, [&](const RectPt& t) { return shared(t, box) > 0.5F * box.area(); });
  };
  const auto background = [&](const RectPt& box) { return any_text && box.area() > background_share * page_area; };
  const auto add = [&](const RectPt& on_page, bool drawing, int paths) {
    const RectPt box = clipped(frame.into(on_page), page);
    if (areas.size() < areas_max && !box.empty() && !in_table(box) && !background(box))
      areas.push_back({box, drawing, paths});
  };
  for (const auto& p : content.pictures) add(p.box, false, 0);
  for (const auto& d : content.drawings) {
    if (worth_keeping(frame.into(d.box))) add(d.box, true, d.paths);
  }
  std::vector<Block> figures;
  for (const Area& area : merged(std::move(areas))) {
    if (!worth_keeping(area.box) || background(area.box)) continue;
    std::vector<std::size_t> labels = inside(segments, area.box);
    if (holds_prose(segments, labels, area)) continue;
    // Labels of a drawing mean nothing without it. Titles set over it, and text over a picture that is as large as the
    // page's own, are there to be read.
    const float label_size_max = (area.drawing ? 1.15F : 0.93F) * body_size;
    std::erase_if(labels, [&](std::size_t i) { return segments[i].size > label_size_max; });
    Block figure;
    figure.kind = BlockKind::figure;
    figure.bbox = area.box;
    std::vector<Line> taken;
    for (const std::size_t i : labels) taken.push_back(segments[i]);
    for (const Line& l : join_rows(std::move(taken)))
      figure.text += (figure.text.empty() ? "" : "\n") + to_utf8(text_of(l));
    std::size_t next = 0;
    std::size_t at = 0;
    std::erase_if(segments,
                  [&](const Line&) { return next < labels.size() && labels[next] == at++ ? (++next, true) : false; });
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace lectern::reading::layout
