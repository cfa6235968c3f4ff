#include "reading/layout/heading_levels.h"

#include <algorithm>
#include <cmath>

#include "reading/layout/markers.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

bool ends_as_prose(std::string_view text) {
  return !text.empty() && std::string_view(".,;:").find(text.back()) != std::string_view::npos;
}

}  // namespace

std::string bare_title(std::string_view text) {
  std::string out;
  for (const char32_t c : from_utf8(text)) {
    if (is_letter(c) || is_digit(c)) append_utf8(out, c < 0x80 && is_upper(c) ? c + 0x20 : c);
    if (out.size() > 160) break;
  }
  return out;
}

HeadingStatistics::Style HeadingStatistics::style_of(const Block& block) {
  return {static_cast<int>(std::lround(block.font_size_pt * 2)), block.bold};
}

void HeadingStatistics::outline(const std::vector<document::OutlineEntry>& entries) {
  for (const auto& e : entries) {
    std::string title = bare_title(e.title);
    if (title.size() < 3) continue;
    outline_.emplace(std::move(title), std::clamp(e.level, 1, 6));
    if (e.level == 1) ++outline_top_;
  }
}

void HeadingStatistics::observe(const PageResult& page) {
  levels_known_ = false;
  for (const Block& b : page.blocks) {
    ++blocks_;
    if (b.kind == BlockKind::paragraph || b.kind == BlockKind::list_item) {
      body_[static_cast<int>(std::lround(b.font_size_pt * 2))] += static_cast<long>(b.text.size());
    }
    if (b.kind == BlockKind::table)
      tables_[static_cast<int>(std::lround(b.font_size_pt * 2))] += static_cast<long>(b.text.size());
    if (b.kind != BlockKind::heading) continue;
    Seen& seen = headings_[style_of(b)];
    if (seen.headings++ == 0) seen.first_page = page.page, seen.first_length = b.text.size();
    if (const int depth = numbering_depth(b.text); depth > 0) ++seen.depths[depth];
  }
}

float HeadingStatistics::body_size() const {
  long most = 0;
  int best = 0;
  const auto look = [&](const std::map<int, long>& sizes) {
    for (const auto& [size, n] : sizes) {
      if (n > most) most = n, best = size;
    }
  };
  look(body_);
  constexpr long enough_chars = 300;
  if (most < enough_chars) look(tables_);
  return static_cast<float>(best) / 2;
}

std::map<HeadingStatistics::Style, int> HeadingStatistics::levels() const {
  std::map<Style, int> out;
  const float body = body_size();
  // Largest first; at one size bold counts more. Sizes within 7% are one style badly measured.
  std::vector<Style> styles;
  for (const auto& [style, seen] : headings_) {
    const float size = static_cast<float>(style.half_points) / 2;
    if (size < 1.08F * body && !style.bold) continue;
    styles.push_back(style);
  }
  std::ranges::sort(styles, [](const Style& a, const Style& b) {
    return a.half_points != b.half_points ? a.half_points > b.half_points : a.bold > b.bold;
  });
  int level = 0;
  int first = 0;  // the size that the current level began with
  bool last_bold = false;
  for (const Style& s : styles) {
    const bool same = level > 0 && s.half_points * 100 >= first * 93 && s.bold == last_bold;
    if (!same) ++level, first = s.half_points;
    last_bold = s.bold;
    out[s] = std::min(level, 4);  // deeper ranks by size alone are noise
  }
  // A document has one title. When the largest style comes again and again it is a chapter's, one below the title,
  // unless the outline itself has many entries at the top.
  int titles = 0;
  for (const auto& [style, l] : out) {
    if (l == 1) titles += headings_.at(style).headings;
  }
  if (titles > 1 && outline_top_ < 2) {
    for (auto& [style, l] : out) l = std::min(l + 1, 6);
  }
  // Numbers say the depth outright: "2.1" is one below "2", whatever the sizes.
  int shallowest = 7;
  int offset = 7;
  int numbered = 0;
  for (const auto& [style, seen] : headings_) {
    const auto found = out.find(style);
    if (found == out.end() || seen.depths.empty()) continue;
    for (const auto& [depth, n] : seen.depths) numbered += n;
    const int depth = seen.depths.begin()->first;
    if (depth < shallowest) shallowest = depth, offset = 7;
    if (depth == shallowest) offset = std::min(offset, found->second - depth);
  }
  numbered_offset_ = numbered >= 2 ? std::optional(std::max(offset, 0)) : std::nullopt;
  if (numbered_offset_) {
    for (auto& [style, l] : out) {
      const Seen& seen = headings_.at(style);
      if (seen.depths.empty()) continue;
      const auto usual = std::ranges::max_element(seen.depths, {}, [](const auto& d) { return d.second; });
      if (usual->second * 2 > seen.headings) l = std::clamp(usual->first + *numbered_offset_, 1, 6);
    }
  }
  // What is larger than a numbered heading stands above it.
  const int top = titles > 1 && outline_top_ < 2 ? 2 : 1;
  for (auto& [style, l] : out) {
    if (!headings_.at(style).depths.empty()) continue;
    for (const auto& [other, other_level] : out) {
      if (headings_.at(other).depths.empty() || style.half_points * 100 < other.half_points * 107) continue;
      l = std::max(std::min(l, other_level - 1), top);
    }
  }
  keep_one_title(out);
  return out;
}

// Of several styles at the top, the title's is the one that comes first and says most; a logo or a motto says less.
void HeadingStatistics::keep_one_title(std::map<Style, int>& out) const {
  if (outline_top_ > 1) return;
  const Style* title = nullptr;
  for (const auto& [style, level] : out) {
    if (level != 1) continue;
    const Seen& seen = headings_.at(style);
    const Seen* best = title != nullptr ? &headings_.at(*title) : nullptr;
    if (best == nullptr || seen.first_page < best->first_page ||
        (seen.first_page == best->first_page && seen.first_length > best->first_length)) {
      title = &style;
    }
  }
  for (auto& [style, level] : out) {
    if (level == 1 && (&style != title || headings_.at(style).headings > 1)) level = 2;
  }
}

int HeadingStatistics::level_of(const Block& block) const {
  if (!levels_known_) levels_ = levels(), levels_known_ = true;
  if (const auto known = outline_.find(bare_title(block.text)); known != outline_.end()) {
    return outline_top_ == 1 || outline_top_ > 1 ? known->second : std::min(known->second + 1, 6);
  }
  const auto found = levels_.find(style_of(block));
  if (found == levels_.end()) return 0;
  if (const int depth = numbering_depth(block.text); depth > 0 && numbered_offset_)
    return std::clamp(depth + *numbered_offset_, 1, 6);
  return found->second;
}

void HeadingStatistics::finish(PageResult& page) const {
  const float body = body_size();
  for (Block& b : page.blocks) {
    if (b.kind == BlockKind::heading) {
      const int level = level_of(b);
      if (level > 0) {
        b.level = level;
      } else if (body > 0 && b.font_size_pt < 1.08F * body && !b.bold && b.level < 4) {
        // Large for its page, but not for the document.
        b.kind = BlockKind::paragraph;
        b.level = 0;
      }
      continue;
    }
    if (b.kind != BlockKind::paragraph || b.text.size() > 140 || b.text.size() < 3) continue;
    const bool one_line = b.bbox.height() < 2.8F * std::max(b.font_size_pt, 1.0F);
    const bool listed = one_line && outline_.contains(bare_title(b.text));
    const bool large = one_line && body > 0 && b.font_size_pt >= 1.2F * body && !ends_as_prose(b.text) &&
                       bare_title(b.text).size() >= 3;
    if (!listed && !large) continue;
    b.kind = BlockKind::heading;
    const int level = level_of(b);
    b.level = level > 0 ? level : b.font_size_pt >= 1.6F * body ? 2 : 3;
    b.markdown.clear();
  }
}

}  // namespace lectern::reading::layout
