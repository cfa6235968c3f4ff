#include "reading/layout/askew.h"

#include <cmath>
#include <map>

#include "reading/layout/rows.h"
#include "reading/layout/unicode.h"
#include "reading/upright.h"

namespace lectern::reading::layout {
namespace {

constexpr float margin_share = 0.1F;
constexpr std::size_t slanted_chars_max = 2000;  // more is a map or a chart, not text to read

// Slanted text cannot be turned upright by quarters: it is kept as it was drawn, one block a direction.
Block slanted_block(const std::vector<document::Char>& chars) {
  Block b;
  b.kind = BlockKind::page_header;
  for (const document::Char& c : chars) {
    if (!is_control(c.code) && !is_private_use(c.code)) append_utf8(b.text, c.code);
    b.bbox = b.bbox == RectPt{} ? c.box : union_of(b.bbox, c.box);
    b.font_size_pt = std::max(b.font_size_pt, c.size_pt);
  }
  return b;
}

bool in_margin(const RectPt& box, SizePt page) {
  return box.x1 < margin_share * page.width || box.x0 > (1 - margin_share) * page.width ||
         box.y1 < margin_share * page.height || box.y0 > (1 - margin_share) * page.height;
}

}  // namespace

std::vector<Block> askew_blocks(const std::vector<document::Char>& chars, const std::vector<document::Font>& fonts,
                                SizePt page) {
  std::map<int, std::vector<document::Char>> by_direction;  // whole degrees
  for (const document::Char& c : chars) by_direction[static_cast<int>(std::lround(c.angle_deg))].push_back(c);
  std::map<int, std::vector<document::Char>> by_quarter;
  std::vector<Block> blocks;
  for (auto& [degrees, members] : by_direction) {
    const int turn = ((degrees % 360) + 360) % 360;
    const int off = std::abs(turn - 90 * static_cast<int>(std::lround(turn / 90.0)));
    if (off <= 8) {
      auto& quarter = by_quarter[90 * static_cast<int>(std::lround(turn / 90.0)) % 360];
      quarter.insert(quarter.end(), members.begin(), members.end());
    } else if (members.size() <= slanted_chars_max) {
      blocks.push_back(slanted_block(members));
    }
  }
  for (auto& [turn, members] : by_quarter) {
    // The same chain, on the page turned so that this text is upright.
    document::PageContent sideways;
    sideways.size = page;
    sideways.chars = std::move(members);
    const Glyphs glyphs = clean_glyphs(turned(std::move(sideways), 360 - turn));
    for (const Line& line : make_segments(make_words(glyphs.upright, fonts))) {
      Block b;
      b.text = to_utf8(text_of(line));
      b.bbox = turned_box(line.box, turned_size(page, 360 - turn), turn);
      b.font_size_pt = line.size;
      if (in_margin(b.bbox, page)) b.kind = BlockKind::page_header;
      blocks.push_back(std::move(b));
    }
  }
  return blocks;
}

}  // namespace lectern::reading::layout
