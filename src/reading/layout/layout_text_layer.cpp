// The whole chain for a digital page: glyphs → words → segments → order → groups → blocks.
#include <algorithm>

#include "reading/layout/block_kinds.h"
#include "reading/layout/figures.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/inline_text.h"
#include "reading/layout/layout.h"
#include "reading/layout/lines.h"
#include "reading/layout/markers.h"
#include "reading/layout/paragraphs.h"
#include "reading/layout/reading_order.h"
#include "reading/layout/rows.h"
#include "reading/layout/rule_grid.h"
#include "reading/layout/ruled_tables.h"
#include "reading/layout/table_text.h"
#include "reading/layout/unruled_tables.h"
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

std::vector<Line> picked(const std::vector<std::size_t>& items, std::vector<Line>& segments) {
  std::vector<Line> out;
  out.reserve(items.size());
  for (const std::size_t i : items) out.push_back(std::move(segments[i]));
  return out;
}

// Tables between horizontal rules: their segments leave the flow.
void take_zone_tables(std::vector<Line>& segments, const Edges& edges, const BlockContext& context,
                      std::vector<Block>& atoms) {
  for (const RectPt& zone : rule_zones(edges.horizontal, segments)) {
    UnruledInput input{{}, edges.horizontal, true};
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const Line& s = segments[i];
      const float x = s.box.center_x();
      if (s.baseline > zone.y0 && s.baseline < zone.y1 + 1 && x > zone.x0 - 4 && x < zone.x1 + 4) members.push_back(i);
    }
    if (members.size() < 4) continue;
    for (const std::size_t i : members) input.segments.push_back(segments[i]);
    const auto cells = build_unruled_table(input);
    if (!cells) continue;
    atoms.push_back(table_block(*cells, zone, context));
    std::size_t next = 0;
    std::size_t at = 0;
    std::erase_if(segments,
                  [&](const Line&) { return next < members.size() && members[next] == at++ ? (++next, true) : false; });
  }
}

Item item_of(const Block& atom) {
  Item item;
  item.box = atom.bbox;
  item.atom = true;
  return item;
}

}  // namespace

std::vector<Block> layout_text_layer(const document::PageContent& content) {
  Glyphs glyphs = clean_glyphs(content);
  std::vector<Word> words = make_words(glyphs.upright, content.fonts);
  attach_links(words, content.links, glyphs.frame);
  const float words_size = usual_size(words);
  const Edges edges = collect_edges(content, glyphs.frame);
  const SizePt page = glyphs.frame.size();
  std::vector<FoundTable> tables = take_ruled_tables(words, find_grids(edges), page);

  std::vector<RectPt> table_boxes;
  for (const FoundTable& t : tables) table_boxes.push_back(t.box);

  std::vector<Line> segments = make_segments(std::move(words));
  std::vector<Block> atoms = take_figures(segments, content, glyphs.frame, table_boxes, words_size);
  const PageStyle style = page_style(segments, page, words_size);
  Vocabulary vocabulary;
  vocabulary.add(segments);
  const BlockContext context{style, vocabulary, content.links};

  for (FoundTable& t : tables) atoms.push_back(table_block(std::move(t.cells), t.box, context));
  take_zone_tables(segments, edges, context, atoms);

  std::vector<Item> items;
  items.reserve(segments.size() + atoms.size());
  for (const Line& s : segments) items.push_back(item_of(s));
  for (const Block& a : atoms) items.push_back(item_of(a));
  const auto rtl_lines = std::ranges::count_if(segments, &Line::rtl);
  const OrderOptions order{.right_to_left = rtl_lines * 2 > std::ssize(segments)};

  std::vector<Block> blocks;
  for (Piece& piece : find_reading_order(items, order)) {
    const std::size_t start = blocks.size();
    if (piece.kind == Piece::Kind::atom) {
      blocks.push_back(std::move(atoms[piece.items.front() - segments.size()]));
      continue;
    }
    std::vector<Line> lines = picked(piece.items, segments);
    if (piece.kind == Piece::Kind::table) {
      UnruledInput input{std::move(lines), edges.horizontal, false};
      RectPt box = input.segments.front().box;
      for (const Line& l : input.segments) box = union_of(box, l.box);
      if (auto cells = build_unruled_table(input)) {
        blocks.push_back(table_block(std::move(*cells), box, context));
        continue;
      }
      lines = std::move(input.segments);
    }
    for (Block& b : make_blocks(group_lines(join_rows(std::move(lines)), style), context))
      blocks.push_back(std::move(b));
    mark_continuations(blocks, start);
  }
  for (Block& b : blocks) b.bbox = glyphs.frame.back(b.bbox);
  return blocks;
}

}  // namespace lectern::reading
