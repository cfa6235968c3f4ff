#include "reading/layout/figures.h"

#include <algorithm>

#include "reading/layout/rows.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

constexpr float side_min_pt = 24;  // smaller pictures are bullets, rules and icons
constexpr float area_min_pt2 = 1600;
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

struct Inside {
  std::vector<std::size_t> words;
  std::size_t letters = 0;
  float text_area = 0;
};

Inside words_inside(const std::vector<Word>& words, const RectPt& box) {
  Inside in;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float x = words[i].box.center_x();
    const float y = words[i].box.center_y();
    if (x < box.x0 - 1 || x > box.x1 + 1 || y < box.y0 - 1 || y > box.y1 + 1) continue;
    in.words.push_back(i);
    in.letters += words[i].text.size();
    in.text_area += words[i].box.area();
  }
  return in;
}

// Running text that merely has a frame or a tinted box around it stays in the flow.
bool holds_prose(const std::vector<Word>& words, const Inside& in, const Area& area) {
  if (in.words.empty()) return false;
  const float cover = in.text_area / std::max(area.box.area(), 1.0F);
  if (cover > 0.3F) return true;
  // Labels are short lines; prose has lines of many words.
  std::vector<Word> inside;
  for (const std::size_t i : in.words) inside.push_back(words[i]);
  std::size_t long_lines = 0;
  std::size_t lines = 0;
  for (const Line& l : make_segments(std::move(inside))) {
    ++lines;
    if (l.words.size() >= 7 && l.chars > 35) ++long_lines;
  }
  return long_lines >= 3 && long_lines * 3 >= lines;
}

}  // namespace

std::vector<Block> take_figures(std::vector<Word>& words, const document::PageContent& content, const Frame& frame,
                                const std::vector<RectPt>& tables) {
  const SizePt page = frame.size();
  const float page_area = std::max(1.0F, page.width * page.height);
  std::vector<Area> areas;
  const auto in_table = [&](const RectPt& box) {
    return std::ranges::any_of(tables, [&](const RectPt& t) { return shared(t, box) > 0.5F * box.area(); });
  };
  const auto add = [&](const RectPt& on_page, bool drawing, int paths) {
    const RectPt box = clipped(frame.into(on_page), page);
    if (box.empty() || in_table(box)) return;
    if (box.area() > background_share * page_area && !words.empty()) return;
    areas.push_back({box, drawing, paths});
  };
  constexpr std::size_t areas_max = 2000;
  for (const auto& p : content.pictures) {
    if (areas.size() < areas_max) add(p.box, false, 0);
  }
  for (const auto& d : content.drawings) {
    if (areas.size() < areas_max && worth_keeping(frame.into(d.box))) add(d.box, true, d.paths);
  }
  std::vector<Block> figures;
  for (const Area& area : merged(std::move(areas))) {
    if (!worth_keeping(area.box) || (area.box.area() > background_share * page_area && !words.empty())) continue;
    const Inside in = words_inside(words, area.box);
    if (holds_prose(words, in, area)) continue;
    Block figure;
    figure.kind = BlockKind::figure;
    figure.bbox = area.box;
    // Text over a picture was set by the document's author to be read; labels of a drawing mean nothing without it.
    if (area.drawing && !in.words.empty()) {
      std::vector<Word> labels;
      for (const std::size_t i : in.words) labels.push_back(words[i]);
      for (const Line& l : lines_of(std::move(labels)))
        figure.text += (figure.text.empty() ? "" : "\n") + to_utf8(text_of(l));
      std::size_t next = 0;
      std::size_t at = 0;
      std::erase_if(words, [&](const Word&) {
        return next < in.words.size() && in.words[next] == at++ ? (++next, true) : false;
      });
    }
    figures.push_back(std::move(figure));
  }
  return figures;
}

}  // namespace lectern::reading::layout
