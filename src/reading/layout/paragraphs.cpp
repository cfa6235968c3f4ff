#include "reading/layout/paragraphs.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

// Where a line starts and ends in its own direction, so that right-to-left text is judged by the same rules.
float start_of(const Line& line, bool rtl) {
  return rtl ? -line.box.x1 : line.box.x0;
}
float end_of(const Line& line, bool rtl) {
  return rtl ? -line.box.x0 : line.box.x1;
}

bool ends_sentence(const Line& line) {
  for (auto w = line.words.rbegin(); w != line.words.rend(); ++w) {
    if (w->script != 0) continue;
    for (auto c = w->text.rbegin(); c != w->text.rend(); ++c) {
      if (is_closing(*c)) continue;
      return is_sentence_end(*c);
    }
  }
  return false;
}

float first_word_width(const Line& line) {
  float width = 0;
  for (std::size_t i = 0; i < line.words.size() && (i == 0 || !line.words[i].space_before); ++i)
    width += line.words[i].box.width();
  return width;
}

char32_t head_of(const Line& line) {
  return line.words.empty() || line.words.front().text.empty() ? U' ' : line.words.front().text.front();
}

struct Edges {
  float start = 0;
  float end = 0;
};

// The edges that most lines of the column keep to.
Edges edges_of(const std::vector<Line>& lines, bool rtl) {
  Edges e{1e9F, -1e9F};
  std::vector<float> ends;
  for (const Line& l : lines) {
    e.start = std::min(e.start, start_of(l, rtl));
    ends.push_back(end_of(l, rtl));
  }
  std::ranges::sort(ends);
  e.end = ends.empty() ? 0 : ends[ends.size() * 9 / 10];
  return e;
}

bool any_bold(const Line& l) {
  return std::ranges::any_of(l.words, [](const Word& w) { return w.bold; });
}
// Signs without letters look alike in both weights, so they do not count.
bool all_bold(const Line& l) {
  return any_bold(l) && std::ranges::all_of(l.words, [](const Word& w) {
           return w.bold || w.script != 0 || !std::ranges::any_of(w.text, is_letter);
         });
}

class Grouper {
 public:
  Grouper(const PageStyle& style, Edges edges, bool rtl) : style_(style), edges_(edges), rtl_(rtl) {}

  void add(Line line) {
    std::optional<ListMarker> marker = list_marker(line);
    if (marker && !plausible_marker(*marker, line)) marker.reset();
    const bool toc = has_leaders(text_of(line));
    if (groups_.empty() || toc || breaks(groups_.back(), line, marker)) {
      groups_.push_back({{}, marker, toc});
    }
    groups_.back().lines.push_back(std::move(line));
  }

  std::vector<Group> take() { return std::move(groups_); }

 private:
  // A paragraph's line may begin with "2." or "-" by accident, in the middle of a sentence.
  bool plausible_marker(const ListMarker& marker, const Line& line) const {
    // "J. Calloway" is a name; a list begins with A and goes on with B.
    if (marker.text.size() == 2 && marker.text[0] >= 'B' && marker.text[0] <= 'Z' && marker.text[1] == '.') {
      const bool goes_on = std::ranges::any_of(groups_, [&](const Group& g) {
        return g.marker && g.marker->text.size() == 2 && g.marker->text[0] == marker.text[0] - 1 &&
               g.marker->text[1] == '.';
      });
      if (!goes_on && marker.text[0] != 'I') return false;
    }
    if (groups_.empty()) return true;
    const Group& last = groups_.back();
    const Line& prev = last.lines.back();
    const float pitch = line.baseline - prev.baseline;
    if (pitch > 1.3F * style_.pitch * line.size) return true;
    const char32_t sign = line.words.front().text.front();
    // A middle dot also parts keywords; the other bullets do nothing else.
    if (marker.bullet && is_bullet(sign) && sign != 0xB7 && sign != 0x30FB) return true;
    const bool mid_sentence = !ends_sentence(prev) && !last.marker && end_of(prev, rtl_) > edges_.end - 3 * line.size;
    return !mid_sentence || start_of(line, rtl_) > start_of(prev, rtl_) + 0.8F * line.size;
  }

  bool breaks(const Group& group, const Line& line, const std::optional<ListMarker>& marker) const {
    const Line& prev = group.lines.back();
    const float size = std::max(prev.size, line.size);
    if (group.toc || marker) return true;
    if (std::abs(prev.size - line.size) > 0.07F * size && !(line.chars <= 3 || prev.chars <= 3)) return true;
    if (prev.mono != line.mono && !style_.body_mono) return true;
    if (!style_.body_bold && ((all_bold(prev) && !any_bold(line)) || (!any_bold(prev) && all_bold(line)))) return true;

    // Another typeface begins where a line ends early: a heading and its text.
    if (prev.one_font && line.one_font && prev.font != line.font && edges_.end - end_of(prev, rtl_) > 2.5F * line.size)
      return true;

    const float pitch = line.baseline - prev.baseline;
    const std::size_t n = group.lines.size();
    const float usual = n >= 2 ? prev.baseline - group.lines[n - 2].baseline : style_.pitch * line.size;
    if (pitch < 0 || pitch > 1.28F * std::max(usual, 1.05F * line.size) + 0.6F) return true;
    if (line.mono) return false;
    if (n == 1 && pitch > 1.6F * line.size && is_short(prev) && is_short(line) && is_upper(head_of(line))) return true;

    const float em = line.size;
    const bool centred = std::abs(line.box.center_x() - prev.box.center_x()) < 0.6F * em &&
                         std::abs(start_of(line, rtl_) - start_of(prev, rtl_)) > 0.8F * em;
    const float shift = start_of(line, rtl_) - start_of(prev, rtl_);
    if (!centred) {
      const Line& first = group.lines.front();
      if (group.marker) {
        // Text that returns to the left of the marker's text no longer belongs to the item.
        const float content = rtl_ ? start_of(first, true) : group.marker->content_x;
        if (n == 1 && start_of(line, rtl_) < start_of(first, rtl_) - 0.5F * em) return true;
        if (n >= 2 && start_of(line, rtl_) < std::min(content, start_of(prev, rtl_)) - 0.6F * em) return true;
      } else if (n >= 2) {
        if (shift > 0.7F * em && shift < 6 * em) return true;  // a new first-line indent
        const float hang = start_of(prev, rtl_) - start_of(first, rtl_);
        if (hang > 0.7F * em && std::abs(start_of(line, rtl_) - start_of(first, rtl_)) < 0.3F * em) return true;
      } else if (std::abs(shift) > 10 * em) {
        return true;
      }
    }
    return previous_ended_early(prev, line, centred, size);
  }

  // Short lines far apart that each begin with a capital are entries of a form, not prose set with wide spacing.
  bool is_short(const Line& line) const { return line.box.width() < 0.6F * style_.page.width; }

  // The next word would have fitted on the line above: somebody ended it on purpose.
  bool previous_ended_early(const Line& prev, const Line& line, bool centred, float size) const {
    if (centred || size > 1.25F * style_.body_size) return false;
    const float slack = edges_.end - end_of(prev, rtl_);
    const float wanted = first_word_width(line) + 0.8F * line.size;
    if (slack < wanted) return false;
    if (ends_sentence(prev)) return slack > wanted + 1.2F * line.size;
    const float width = std::max(edges_.end - edges_.start, 1.0F);
    return slack > 0.5F * width && !is_lower(head_of(line)) && slack > 8 * line.size;
  }

  const PageStyle& style_;
  const Edges edges_;
  const bool rtl_;
  std::vector<Group> groups_;
};

}  // namespace

float usual_size(const std::vector<Word>& words) {
  std::map<int, std::size_t> sizes;  // halves of a point
  for (const Word& w : words) sizes[static_cast<int>(std::lround(w.size * 2))] += w.text.size();
  std::size_t most = 0;
  float size = 10;
  for (const auto& [half_points, n] : sizes) {
    if (n > most) most = n, size = std::max(static_cast<float>(half_points) / 2, 0.5F);
  }
  return size;
}

PageStyle page_style(const std::vector<Line>& segments, SizePt page, float words_size) {
  PageStyle style;
  style.page = page;
  std::map<int, int> sizes;  // halves of a point
  int chars = 0;
  int bold = 0;
  int mono = 0;
  for (const Line& s : segments) {
    sizes[static_cast<int>(std::lround(s.size * 2))] += s.chars;
    chars += s.chars;
    bold += s.bold ? s.chars : 0;
    mono += s.mono ? s.chars : 0;
  }
  int most = 0;
  for (const auto& [size, n] : sizes) {
    if (n > most) most = n, style.body_size = std::max(static_cast<float>(size) / 2, 0.5F);
  }
  constexpr int enough_chars = 300;
  if (most < enough_chars) style.body_size = words_size;
  std::map<std::uint16_t, int> fonts;
  for (const Line& s : segments) fonts[s.font] += s.chars;
  int most_font = 0;
  for (const auto& [font, n] : fonts) {
    if (n > most_font) most_font = n, style.body_font = font;
  }
  style.body_bold = bold * 10 > chars * 6;
  style.body_mono = mono * 10 > chars * 7;

  // The usual distance from one line to the next below it, among lines of body size that start alike.
  std::map<int, int> pitches;  // twentieths of a size
  const std::size_t reach = 12;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Line& a = segments[i];
    if (std::abs(a.size - style.body_size) > 0.3F) continue;
    for (std::size_t k = i + 1; k < std::min(segments.size(), i + reach); ++k) {
      const Line& b = segments[k];
      if (std::abs(b.size - a.size) > 0.3F || b.baseline - a.baseline < 0.7F * a.size) continue;
      if (std::min(a.box.x1, b.box.x1) - std::max(a.box.x0, b.box.x0) <= 0) continue;
      const float pitch = (b.baseline - a.baseline) / a.size;
      if (pitch < 2.6F) pitches[static_cast<int>(std::lround(pitch * 20))] += a.chars;
      break;
    }
  }
  most = 0;
  for (const auto& [p, n] : pitches) {
    if (n > most) most = n, style.pitch = static_cast<float>(p) / 20;
  }
  style.pitch = std::clamp(style.pitch, 0.9F, 2.6F);
  return style;
}

RectPt Group::box() const {
  RectPt b = lines.empty() ? RectPt{} : lines.front().box;
  for (const Line& l : lines) b = union_of(b, l.box);
  return b;
}

int Group::chars() const {
  int n = 0;
  for (const Line& l : lines) n += l.chars;
  return n;
}

float Group::size() const {
  const Line* longest = nullptr;
  for (const Line& l : lines) {
    if (longest == nullptr || l.chars > longest->chars) longest = &l;
  }
  return longest != nullptr ? longest->size : 0;
}

bool Group::bold() const {
  return !lines.empty() && std::ranges::all_of(lines, all_bold);
}
bool Group::mono() const {
  return std::ranges::all_of(lines, &Line::mono);
}
bool Group::rtl() const {
  return std::ranges::count_if(lines, &Line::rtl) * 2 > std::ssize(lines);
}

std::vector<Group> group_lines(std::vector<Line> lines, const PageStyle& style) {
  const bool rtl = std::ranges::count_if(lines, &Line::rtl) * 2 > std::ssize(lines);
  Grouper grouper(style, edges_of(lines, rtl), rtl);
  for (Line& line : lines) grouper.add(std::move(line));
  return grouper.take();
}

}  // namespace lectern::reading::layout
