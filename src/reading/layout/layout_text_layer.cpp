// The whole chain for a digital page: glyphs → words → segments → order → groups → blocks.
#include <algorithm>

#include "reading/layout/askew.h"
#include "reading/layout/block_kinds.h"
#include "reading/layout/drop_caps.h"
#include "reading/layout/figures.h"
#include "reading/layout/glyphs.h"
#include "reading/layout/grid_choice.h"
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

// The segments of a zone leave the flow when they make a table.
bool take_zone_table(std::vector<Line>& segments, const RectPt& zone, const std::vector<Edge>& rules,
                     const BlockContext& context, std::vector<Block>& atoms) {
  UnruledInput input{{}, rules, true};
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Line& s = segments[i];
    const float x = s.box.center_x();
    if (s.baseline > zone.y0 && s.baseline < zone.y1 + 1 && x > zone.x0 - 4 && x < zone.x1 + 4) members.push_back(i);
  }
  if (members.size() < 4) return false;
  for (const std::size_t i : members) input.segments.push_back(segments[i]);
  const auto cells = build_unruled_table(input);
  if (!cells) return false;
  atoms.push_back(table_block(*cells, zone, context));
  std::size_t next = 0;
  std::size_t at = 0;
  std::erase_if(segments,
                [&](const Line&) { return next < members.size() && members[next] == at++ ? (++next, true) : false; });
  return true;
}

bool overlaps_any(const RectPt& box, const std::vector<Block>& atoms) {
  return std::ranges::any_of(atoms, [&](const Block& a) {
    return a.kind == BlockKind::table && intersection(a.bbox, box).area() > 0.2F * std::min(a.bbox.area(), box.area());
  });
}

// Tables without a ruled grid that something still marks: horizontal rules over and under them, or tinted rows and
// cells.
void take_zone_tables(std::vector<Line>& segments, const Edges& rules, const Edges& tinted, const BlockContext& context,
                      std::vector<Block>& atoms) {
  for (const RectPt& zone : rule_zones(rules.horizontal, segments)) {
    if (!overlaps_any(zone, atoms)) take_zone_table(segments, zone, rules.horizontal, context, atoms);
  }
  for (const Grid& grid : find_grids(tinted)) {
    if (grid.rows() < 2 || overlaps_any(grid.box(), atoms)) continue;
    take_zone_table(segments, grid.box(), tinted.horizontal, context, atoms);
  }
}

bool goes_on_below(const std::vector<Line>& above, const std::vector<Line>& below) {
  if (above.empty() || below.empty()) return false;
  const Line& last = above.back();
  const Line& first = below.front();
  return first.baseline >= last.baseline && first.box.x0 < last.box.x1 && first.box.x1 > last.box.x0;
}

RectPt box_of(const std::vector<CellLines>& cells) {
  RectPt box;
  for (const CellLines& c : cells) {
    for (const Line& l : c.lines) box = box == RectPt{} ? l.box : union_of(box, l.box);
  }
  return box;
}

// Sideways text inside a figure is one of its labels; the rest follows the text.
void place_askew(std::vector<Block>& blocks, std::vector<Block> askew) {
  for (Block& a : askew) {
    const auto figure = std::ranges::find_if(blocks, [&](const Block& b) {
      return b.kind == BlockKind::figure && intersection(b.bbox, a.bbox).area() > 0.6F * a.bbox.area();
    });
    if (figure != blocks.end())
      figure->text += (figure->text.empty() ? "" : "\n") + a.text;
    else
      blocks.push_back(std::move(a));
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
  attach_links(words, content.links);
  const float words_size = usual_size(words);
  join_drop_caps(words, words_size);
  const Edges edges = collect_edges(content, EdgeSource::rules);
  const SizePt page = content.size;
  const Edges tinted = collect_edges(content, EdgeSource::rules_and_fills);
  std::size_t page_chars = 0;
  for (const Word& w : words) page_chars += w.text.size();
  std::vector<FoundTable> tables = take_ruled_tables(words, choose_grids(edges, tinted, content), page);
  std::vector<RectPt> table_boxes;
  for (const FoundTable& t : tables) table_boxes.push_back(t.box);

  std::vector<Line> segments = make_segments(std::move(words));
  FoundFigures figures = take_figures(segments, content, table_boxes, words_size, page_chars);
  std::vector<Block> atoms = std::move(figures.apart);
  const PageStyle style = page_style(segments, page, words_size);
  Vocabulary vocabulary;
  vocabulary.add(segments);
  const BlockContext context{style, vocabulary, content.links};

  for (FoundTable& t : tables) atoms.push_back(table_block(std::move(t.cells), t.box, context));
  take_zone_tables(segments, edges, tinted, context, atoms);

  std::vector<Item> items;
  items.reserve(segments.size() + atoms.size());
  for (const Line& s : segments) items.push_back(item_of(s));
  for (const Block& a : atoms) items.push_back(item_of(a));
  const auto rtl_lines = std::ranges::count_if(segments, &Line::rtl);
  const OrderOptions order{.right_to_left = rtl_lines * 2 > std::ssize(segments)};

  std::vector<Block> blocks;
  std::vector<Line> pending;  // lines of one column that are not yet grouped
  bool pending_open = false;  // they end in what was taken for a table: the next lines may go on
  const auto flush = [&] {
    const std::size_t start = blocks.size();
    for (Block& b : make_blocks(group_lines(join_rows(std::move(pending)), style), context))
      blocks.push_back(std::move(b));
    mark_continuations(blocks, start);
    pending = {};
  };
  const auto flow = [&](std::vector<Line> lines, bool was_table) {
    if (lines.empty()) return;
    if (!((pending_open || was_table) && goes_on_below(pending, lines))) flush();
    std::ranges::move(lines, std::back_inserter(pending));
    pending_open = was_table;
  };
  for (Piece& piece : find_reading_order(items, order)) {
    if (piece.kind == Piece::Kind::atom) {
      flush();
      blocks.push_back(std::move(atoms[piece.items.front() - segments.size()]));
      continue;
    }
    std::vector<Line> lines = picked(piece.items, segments);
    if (piece.kind == Piece::Kind::lines) {
      flow(std::move(lines), false);
      continue;
    }
    TableParts parts = peel_table(std::move(lines));
    flow(std::move(parts.before), true);
    UnruledInput input{std::move(parts.table), edges.horizontal, false};
    if (auto cells = build_unruled_table(input)) {
      flush();
      const RectPt box = box_of(*cells);
      blocks.push_back(table_block(std::move(*cells), box, context));
    } else {
      flow(std::move(input.segments), true);
    }
    flow(std::move(parts.after), true);
  }
  flush();
  place_behind(blocks, std::move(figures.behind));
  place_askew(blocks, askew_blocks(glyphs.askew, content.fonts, content.size));
  return blocks;
}

}  // namespace lectern::reading
