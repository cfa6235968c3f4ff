#include "reading/layout/block_kinds.h"

#include <algorithm>
#include <cmath>

#include "reading/layout/contents_table.h"
#include "reading/layout/unicode.h"

namespace lectern::reading::layout {
namespace {

std::u32string plain(const Group& group) {
  std::u32string out;
  for (const Line& l : group.lines) {
    if (!out.empty()) out += U' ';
    out += text_of(l);
    if (out.size() > 400) break;  // enough to judge by
  }
  return out;
}

bool has_letters(std::u32string_view text) {
  return std::ranges::count_if(text, is_letter) >= 2;
}

bool ends_like_prose(std::u32string_view text) {
  while (!text.empty() && (is_closing(text.back()) || text.back() == ' ')) text.remove_suffix(1);
  if (text.empty()) return false;
  const char32_t c = text.back();
  return c == '.' || c == ',' || c == ';' || c == ':' || c == 0x3002;
}

int tentative_level(float ratio) {
  return ratio >= 1.7F ? 1 : ratio >= 1.25F ? 2 : 3;
}

// 0 when the group is no heading, else its level as far as one page can tell.
int heading_level(const Group& group, std::u32string_view text, const PageStyle& style) {
  if (!has_letters(text) || group.lines.size() > 4 || text.size() > 220 || group.toc || group.mono()) return 0;
  const float ratio = group.size() / style.body_size;
  const bool numbered = numbering_depth(to_utf8(text.substr(0, 24))) > 0;
  if (ratio >= 1.18F || (ratio >= 1.08F && group.bold())) {
    // Large running text (a pull quote, an abstract) is longer than a heading and ends as sentences do.
    const bool prose = ends_like_prose(text) && !numbered && (group.lines.size() > 2 || text.size() > 90);
    return prose ? 0 : tentative_level(ratio);
  }
  // A little larger, in a face of its own, numbered: "(1) Scope".
  const Line& line = group.lines.front();
  const bool own_face = line.one_font && line.font != style.body_font;
  const bool opens = numbered || (group.marker && !group.marker->bullet);
  if (ratio >= 1.04F && own_face && opens && group.lines.size() <= 2 && text.size() < 100 && !ends_like_prose(text))
    return 3;
  if (ratio < 0.93F || style.body_bold || !group.bold() || group.lines.size() > 2 || text.size() > 140) return 0;
  if (ends_like_prose(text) && !(numbered && text.size() < 60)) return 0;
  return 3;
}

// A short line in italics right over a paragraph that is not: the lowest kind of heading that books have.
bool titles_what_follows(const std::vector<Group>& groups, std::size_t at, std::u32string_view text,
                         const PageStyle& style) {
  const Group& group = groups[at];
  if (at + 1 >= groups.size() || group.marker || group.lines.size() != 1 || text.size() > 70 || text.size() < 3)
    return false;
  const Line& line = group.lines.front();
  const Line& below = groups[at + 1].lines.front();
  const auto slanted = [](const Line& l) {
    return std::ranges::all_of(l.words, [](const Word& w) { return w.italic; });
  };
  if (!slanted(line) || below.italic || ends_like_prose(text) || !is_upper(text.front())) return false;
  const bool close = below.baseline - line.baseline < 1.8F * style.pitch * style.body_size;
  return close && std::abs(line.size - style.body_size) < 0.1F * style.body_size &&
         groups[at + 1].chars() > line.chars && std::abs(below.box.x0 - line.box.x0) < 2.5F * line.size;
}

// The number of an ordered marker: "3." → 3; 0 for letters and the like.
int marker_number(const Group& group) {
  if (!group.marker || group.marker->bullet) return 0;
  int n = 0;
  for (const char c : group.marker->text) {
    if (c >= '0' && c <= '9') n = std::min(n * 10 + (c - '0'), 10'000);
  }
  return n;
}

// "1. Introduction" in large or bold type is a heading; when "2." stands right below or above it, it is a list.
bool is_list_item(const std::vector<Group>& groups, std::size_t at, const PageStyle& style) {
  const Group& group = groups[at];
  if (!group.marker) return false;
  if (group.marker->bullet) return true;
  const auto like = [&](std::size_t i) {
    return i < groups.size() && groups[i].marker && groups[i].bold() == group.bold() &&
           std::abs(groups[i].size() - group.size()) < 0.3F;
  };
  const int number = marker_number(group);
  if (number > 0 && like(at + 1) && marker_number(groups[at + 1]) == number + 1) return true;
  if (number > 1 && at > 0 && like(at - 1) && marker_number(groups[at - 1]) == number - 1) return true;
  // Items below an item ("1." over bullets) make it one, too.
  if (at + 1 < groups.size() && groups[at + 1].marker && groups[at + 1].marker->bullet &&
      groups[at + 1].lines.front().box.x0 > group.lines.front().box.x0 + 0.5F * group.size()) {
    return true;
  }
  return group.size() < 1.12F * style.body_size && (like(at + 1) || (at > 0 && like(at - 1)));
}

bool is_formula(const Group& group, std::u32string_view text) {
  int math = 0;
  int all = 0;
  int long_words = 0;
  for (const Line& l : group.lines) {
    for (const Word& w : l.words) {
      const int n = static_cast<int>(w.text.size());
      all += n;
      if (w.math || std::ranges::any_of(w.text, [](char32_t c) {
            return c == '=' || c == '+' || (c >= 0x2190 && c <= 0x22FF) || (c >= 0x1D400 && c <= 0x1D7FF);
          }))
        math += n;
      else if (std::ranges::all_of(w.text, is_letter) && n >= 4)
        ++long_words;
    }
  }
  return text.size() >= 3 && math * 2 > all && long_words <= 2 && group.lines.size() <= 6;
}

bool is_footnote(const Group& group, std::u32string_view text, const PageStyle& style) {
  if (group.size() > 0.93F * style.body_size || group.box().y0 < 0.45F * style.page.height) return false;
  return note_mark(text) > 0 && text.size() > 5 && has_letters(text);
}

bool code_like(const std::vector<Group>& groups, std::size_t at, std::u32string_view text, const PageStyle& style) {
  const Group& group = groups[at];
  if (!group.mono() || style.body_mono) return false;
  if (group.lines.size() > 1) return true;
  // One line of fixed pitch is as likely an address as a command, unless it stands by more of its kind.
  const auto more = [&](std::size_t i) {
    return i < groups.size() && groups[i].mono() && groups[i].lines.size() > 1 &&
           std::abs(groups[i].size() - group.size()) < 0.3F;
  };
  const auto near = [&](std::size_t above, std::size_t below) {
    return groups[below].lines.front().baseline - groups[above].lines.back().baseline < 2.6F * group.size();
  };
  if ((more(at + 1) && near(at, at + 1)) || (at > 0 && more(at - 1) && near(at - 1, at))) return true;
  if (group.chars() < 4) return false;
  return text.find_first_of(U"{}();=<>[]$#") != std::u32string_view::npos &&
         text.find(U'@') == std::u32string_view::npos;
}

// Code keeps its lines and their indents, counted in the width of its own characters.
std::string code_text(const Group& group) {
  float left = 1e9F;
  float width = 0;
  int chars = 0;
  for (const Line& l : group.lines) {
    left = std::min(left, l.box.x0);
    for (const Word& w : l.words) width += w.box.width(), chars += static_cast<int>(w.text.size());
  }
  const float cell = chars > 0 ? std::max(width / static_cast<float>(chars), 0.5F) : 1;
  std::string out;
  for (const Line& l : group.lines) {
    if (!out.empty()) out += '\n';
    float at = left;
    for (const Word& w : l.words) {
      const long blanks = std::clamp(std::lround((w.box.x0 - at) / cell), w.space_before ? 1L : 0L, 80L);
      out.append(static_cast<std::size_t>(blanks), ' ');
      out += to_utf8(w.text);
      at = w.box.x1;
    }
  }
  return out;
}

Block base_block(const Group& group) {
  Block b;
  b.bbox = group.box();
  b.font_size_pt = group.size();
  b.bold = group.bold();
  return b;
}

void set_text(Block& block, InlineText text) {
  block.text = std::move(text.text);
  block.markdown = std::move(text.markdown);
}

// Nesting of list items in one column, by where their markers stand.
class Nesting {
 public:
  int level(float x, float em) {
    while (!stack_.empty() && x < stack_.back() - 0.6F * em) stack_.pop_back();
    if (stack_.empty() || x > stack_.back() + 0.9F * em) stack_.push_back(x);
    return std::min(static_cast<int>(stack_.size()) - 1, 8);
  }
  void leave() { stack_.clear(); }

 private:
  std::vector<float> stack_;
};

}  // namespace

std::vector<Block> make_blocks(const std::vector<Group>& groups, const BlockContext& context) {
  std::vector<Block> blocks;
  Nesting nesting;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Group& group = groups[g];
    const std::u32string text = plain(group);
    if (text.empty()) continue;
    if (group.toc) {
      std::size_t end = g;
      while (end < groups.size() && groups[end].toc) ++end;
      if (end - g >= 3) {
        blocks.push_back(contents_table(std::span(groups).subspan(g, end - g)));
        nesting.leave();
        g = end - 1;
        continue;
      }
    }
    Block b = base_block(group);
    const PageStyle& style = context.style;
    int level = heading_level(group, text, style);
    if (level == 0 && titles_what_follows(groups, g, text, style)) level = 4;
    if (level > 0 && is_list_item(groups, g, style)) level = 0;
    const auto inline_of = [&](InlineOptions options) {
      options.code = options.emphasis && !style.body_mono && !group.mono();
      return inline_text(group.lines, context.links, context.vocabulary, options);
    };
    if (code_like(groups, g, text, style)) {
      b.kind = BlockKind::code;
      b.text = code_text(group);
      // Neighbouring code is one listing; a blank line between its parts stays.
      if (!blocks.empty() && blocks.back().kind == BlockKind::code &&
          b.bbox.y0 - blocks.back().bbox.y1 < 2.2F * group.size()) {
        blocks.back().text += (b.bbox.y0 - blocks.back().bbox.y1 > 0.6F * group.size() ? "\n\n" : "\n") + b.text;
        blocks.back().bbox = union_of(blocks.back().bbox, b.bbox);
        continue;
      }
    } else if (opens_caption_surely(text) && level != 1 && text.size() < 1200 && !group.toc) {
      b.kind = BlockKind::caption;
      set_text(b, inline_of({}));
    } else if (is_footnote(group, text, style)) {
      b.kind = BlockKind::footnote;
      b.marker = to_utf8(text.substr(0, note_mark(text)));
      set_text(b, inline_of({}));
    } else if (level > 0) {
      b.kind = BlockKind::heading;
      b.level = level;
      set_text(b, inline_of({.emphasis = false}));
    } else if (group.marker) {
      b.kind = BlockKind::list_item;
      b.marker = group.marker->text;
      const float x = group.rtl() ? -group.box().x1 : group.lines.front().box.x0;
      b.level = nesting.level(x, group.size());
      set_text(b, inline_of({.skip_words = group.marker->words}));
    } else if (is_formula(group, text)) {
      b.kind = BlockKind::formula;
      set_text(b, inline_of({.emphasis = false}));
      b.markdown.clear();
    } else {
      set_text(b, inline_of({}));
    }
    if (b.kind != BlockKind::list_item) nesting.leave();
    blocks.push_back(std::move(b));
  }
  return blocks;
}

void mark_continuations(std::vector<Block>& blocks, std::size_t column_start) {
  if (column_start == 0 || column_start >= blocks.size()) return;
  // The first running text of the new column and the last of the old one.
  std::size_t next = column_start;
  while (next < blocks.size() && blocks[next].kind != BlockKind::paragraph) {
    if (blocks[next].kind == BlockKind::heading || blocks[next].kind == BlockKind::list_item) return;
    ++next;
  }
  std::size_t last = column_start;
  while (last > 0 && blocks[last - 1].kind != BlockKind::paragraph && blocks[last - 1].kind != BlockKind::list_item) {
    if (blocks[last - 1].kind == BlockKind::heading) return;
    --last;
  }
  if (next >= blocks.size() || last == 0) return;
  Block& a = blocks[last - 1];
  const Block& b = blocks[next];
  if (a.kind != BlockKind::paragraph || std::abs(a.font_size_pt - b.font_size_pt) > 0.08F * a.font_size_pt ||
      a.bold != b.bold)
    return;
  const std::u32string end = from_utf8(std::string_view(a.text).substr(a.text.size() > 40 ? a.text.size() - 40 : 0));
  const std::u32string start = from_utf8(std::string_view(b.text).substr(0, 16));
  if (end.empty() || start.empty() || ends_like_prose(end) || is_sentence_end(end.back())) return;
  const bool goes_on = is_lower(start.front()) || is_dash(end.back()) || end.back() == ',' ||
                       (is_letter(start.front()) && !is_upper(start.front()));
  if (goes_on) a.continues = true;
}

}  // namespace lectern::reading::layout
