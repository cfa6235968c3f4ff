#include "reading/layout/figures.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "reading/layout/rows.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

constexpr float side_min_pt = 24;  // smaller pictures are bullets, rules and icons
constexpr float area_min_pt2 = 1600;
constexpr std::size_t areas_max = 1000;   // a page of more pictures is one picture in tiles
constexpr std::size_t labels_few = 30;    // words; a diagram alone on its page may have as many and stay a figure
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

// Bars of a chart: three fills or more of one width that stand on one line, or of one height that begin at one.
std::vector<Area> bar_charts(const document::PageContent& content) {
  constexpr std::size_t fills_max = 400;
  std::vector<Area> charts;
  if (content.fills.size() < 3 || content.fills.size() > fills_max) return charts;
  std::map<std::pair<int, int>, std::vector<RectPt>>
      families;  // width and foot, or height and start (negative), in points
  for (const document::Fill& f : content.fills) {
    const RectPt b = f.box;
    if (b.width() < 3 || b.height() < 3) continue;
    families[{static_cast<int>(std::lround(b.width())), static_cast<int>(std::lround(b.y1))}].push_back(b);
    families[{-static_cast<int>(std::lround(b.height())), static_cast<int>(std::lround(b.x0))}].push_back(b);
  }
  for (const auto& [key, bars] : families) {
    if (bars.size() < 3) continue;
    RectPt box = bars.front();
    bool differ = false;  // bars of one length are stripes or cells
    const bool upright = key.first > 0;
    for (const RectPt& b : bars) {
      box = union_of(box, b);
      differ = differ || std::abs(upright ? b.height() - bars.front().height() : b.width() - bars.front().width()) > 2;
    }
    if (differ) charts.push_back({box, true, static_cast<int>(bars.size())});
  }
  return charts;
}

// Numbers and short names around a drawing: its axes. The box grows to hold them.
std::vector<std::size_t> axis_labels(const std::vector<Line>& segments, const std::vector<bool>& taken, RectPt& box,
                                     float body_size) {
  std::vector<std::size_t> found;
  for (int round = 0; round < 2; ++round) {
    const RectPt core = box;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const Line& s = segments[i];
      if (taken[i] || s.size > 0.85F * body_size || s.chars > 14 || s.words.size() > 3) continue;
      const float reach = 2.2F * s.size;
      const bool near = s.box.x1 > core.x0 - reach && s.box.x0 < core.x1 + reach && s.box.y1 > core.y0 - reach &&
                        s.box.y0 < core.y1 + reach;
      if (!near || std::ranges::find(found, i) != found.end()) continue;
      found.push_back(i);
      box = union_of(box, s.box);
    }
  }
  std::ranges::sort(found);
  return found;
}

// Segments that lie in the box, most of them: a line that merely begins over a drawing is no label of it.
std::vector<std::size_t> inside(const std::vector<Line>& segments, const std::vector<bool>& taken, const RectPt& box) {
  std::vector<std::size_t> in;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const RectPt& b = segments[i].box;
    const float y = (segments[i].core_top() + segments[i].core_bottom()) / 2;
    if (taken[i] || y < box.y0 - 1 || y > box.y1 + 1) continue;
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

// What a figure takes out of the flow.
struct Candidate {
  Area area;
  RectPt whole;                     // with the labels around it
  std::vector<std::size_t> labels;  // indices of segments, ascending
  std::size_t words = 0;
  std::size_t chars = 0;
};

void count(Candidate& c, const std::vector<Line>& segments) {
  for (const std::size_t i : c.labels) {
    c.words += segments[i].words.size();
    c.chars += static_cast<std::size_t>(segments[i].chars);
  }
}

// A page's words must not vanish into its figures: those with the most give theirs back until most of the page's
// characters are in the flow, or the labels are few.
std::vector<bool> keeping_labels(const std::vector<Candidate>& candidates, std::size_t page_chars) {
  std::vector<bool> keeps(candidates.size(), true);
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return std::pair(candidates[i].chars, i); });
  std::size_t words = 0;
  std::size_t chars = 0;
  for (const Candidate& c : candidates) words += c.words, chars += c.chars;
  for (const std::size_t i : order) {
    if (words <= labels_few || chars * 2 <= page_chars) break;
    keeps[i] = false;
    words -= candidates[i].words;
    chars -= candidates[i].chars;
  }
  return keeps;
}

std::string labels_text(const Candidate& c, const std::vector<Line>& segments) {
  std::vector<Line> lines;
  lines.reserve(c.labels.size());
  for (const std::size_t i : c.labels) lines.push_back(segments[i]);
  std::string text;
  for (const Line& l : join_rows(std::move(lines))) text += (text.empty() ? "" : "\n") + to_utf8(text_of(l));
  return text;
}

}  // namespace

FoundFigures take_figures(std::vector<Line>& segments, const document::PageContent& content,
                          const std::vector<RectPt>& tables, float body_size, std::size_t page_chars) {
  const SizePt page = content.size;
  const float page_area = std::max(1.0F, page.width * page.height);
  const bool any_text = !segments.empty();
  std::vector<Area> areas;
  const auto in_table = [&](const RectPt& box) {
    return std::ranges::any_of(tables, [&](const RectPt& t) { return shared(t, box) > 0.5F * box.area(); });
  };
  const auto background = [&](const RectPt& box) { return any_text && box.area() > background_share * page_area; };
  const auto add = [&](const RectPt& on_page, bool drawing, int paths) {
    const RectPt box = clipped(on_page, page);
    if (areas.size() < areas_max && !box.empty() && !in_table(box) && !background(box))
      areas.push_back({box, drawing, paths});
  };
  for (const auto& p : content.pictures) add(p.box, false, 0);
  for (const auto& d : content.drawings) {
    if (worth_keeping(d.box)) add(d.box, true, d.paths);
  }
  for (const Area& chart : bar_charts(content)) {
    if (areas.size() < areas_max && !in_table(chart.box) && !background(chart.box)) areas.push_back(chart);
  }
  std::vector<bool> taken(segments.size(), false);
  std::vector<Candidate> candidates;
  for (const Area& area : merged(std::move(areas))) {
    if (!worth_keeping(area.box) || background(area.box)) continue;
    Candidate c{.area = area, .whole = area.box, .labels = inside(segments, taken, area.box)};
    if (holds_prose(segments, c.labels, area)) continue;
    if (area.drawing) {
      for (const std::size_t i : axis_labels(segments, taken, c.whole, body_size)) c.labels.push_back(i);
      std::ranges::sort(c.labels);
      c.labels.erase(std::ranges::unique(c.labels).begin(), c.labels.end());
    }
    // Labels of a drawing mean nothing without it. Titles set over it, and text over a picture that is as large as the
    // page's own, are there to be read.
    const float label_size_max = (area.drawing ? 1.15F : 0.93F) * body_size;
    std::erase_if(c.labels, [&](std::size_t i) { return segments[i].size > label_size_max; });
    for (const std::size_t i : c.labels) taken[i] = true;
    count(c, segments);
    candidates.push_back(std::move(c));
  }
  const std::vector<bool> keeps = keeping_labels(candidates, page_chars);
  FoundFigures found;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Block figure;
    figure.kind = BlockKind::figure;
    if (keeps[i]) {
      figure.bbox = candidates[i].whole;
      figure.text = labels_text(candidates[i], segments);
      found.apart.push_back(std::move(figure));
    } else {
      figure.bbox = candidates[i].area.box;
      for (const std::size_t label : candidates[i].labels) taken[label] = false;
      found.behind.push_back(std::move(figure));
    }
  }
  std::size_t at = 0;
  std::erase_if(segments, [&](const Line&) { return taken[at++]; });
  return found;
}

void place_behind(std::vector<Block>& blocks, std::vector<Block> behind) {
  for (Block& figure : behind) {
    const auto fills_it = [&](const Block& b) {
      return b.kind == BlockKind::table && shared(b.bbox, figure.bbox) > 0.6F * figure.bbox.area();
    };
    if (std::ranges::any_of(blocks, fills_it)) continue;
    const auto first = std::ranges::find_if(
        blocks, [&](const Block& b) { return shared(b.bbox, figure.bbox) > 0.5F * b.bbox.area(); });
    blocks.insert(first, std::move(figure));
  }
}

}  // namespace lectern::reading::layout
