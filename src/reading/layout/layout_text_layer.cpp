// The whole chain for a digital page: glyphs → words → segments → order → groups → blocks.
#include <algorithm>

#include "reading/layout/block_kinds.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/inline_text.h"
#include "reading/layout/layout.h"
#include "reading/layout/lines.h"
#include "reading/layout/markers.h"
#include "reading/layout/paragraphs.h"
#include "reading/layout/reading_order.h"
#include "reading/layout/words.h"

namespace lectern::reading {
namespace {

using namespace layout;

Item item_of(const Line& segment) {
  const std::u32string text = text_of(segment);
  Item item;
  item.box = {segment.box.x0, segment.core_top(), segment.box.x1, segment.core_bottom()};
  item.size = segment.size;
  item.baseline = segment.baseline;
  item.chars = segment.chars;
  item.marker = is_marker_text(text);
  item.numeric = is_numeric_text(text);
  return item;
}

// Segments of one column → lines: those that share a baseline are one line.
std::vector<Line> rows_of(const std::vector<std::size_t>& items, std::vector<Line>& segments) {
  std::vector<Line> rows;
  std::vector<Line> row;
  const auto finish = [&] {
    if (!row.empty()) rows.push_back(join_segments(std::move(row)));
    row.clear();
  };
  for (const std::size_t i : items) {
    Line& s = segments[i];
    if (!row.empty() && std::abs(s.baseline - row.back().baseline) > 0.3F * std::min(s.size, row.back().size)) finish();
    row.push_back(std::move(s));
  }
  finish();
  return rows;
}

}  // namespace

std::vector<Block> layout_text_layer(const document::PageContent& content) {
  Glyphs glyphs = clean_glyphs(content);
  std::vector<Word> words = make_words(glyphs.upright, content.fonts);
  attach_links(words, content.links, glyphs.frame);
  std::vector<Line> segments = make_segments(std::move(words));
  const PageStyle style = page_style(segments, glyphs.frame.size());
  Vocabulary vocabulary;
  vocabulary.add(segments);

  std::vector<Item> items;
  items.reserve(segments.size());
  for (const Line& s : segments) items.push_back(item_of(s));
  const auto rtl_chars = std::ranges::count_if(segments, &Line::rtl);
  const OrderOptions order{.right_to_left = rtl_chars * 2 > std::ssize(segments)};

  std::vector<Block> blocks;
  const BlockContext context{style, vocabulary, content.links};
  for (Piece& piece : find_reading_order(items, order)) {
    const std::size_t start = blocks.size();
    for (Block& b : make_blocks(group_lines(rows_of(piece.items, segments), style), context))
      blocks.push_back(std::move(b));
    mark_continuations(blocks, start);
  }
  for (Block& b : blocks) b.bbox = glyphs.frame.back(b.bbox);
  return blocks;
}

}  // namespace lectern::reading
