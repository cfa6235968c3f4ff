// Blocks from recognised words. The engine's own order of lines and paragraphs is kept: it saw the pixels. What is
// added: tables along the rulings, headings by height, lists, paragraphs joined and hyphens mended.
#include <algorithm>
#include <cmath>
#include <map>

#include "reading/layout/bands.h"
#include "reading/layout/block_kinds.h"
#include "reading/layout/layout.h"
#include "reading/layout/ocr_lines.h"
#include "reading/layout/rule_grid.h"
#include "reading/layout/ruled_tables.h"
#include "reading/layout/table_text.h"
#include "reading/layout/unicode.h"

namespace lectern::reading {
namespace {

using namespace layout;

Edges edges_of(const vision::Rulings& rulings, float px_per_pt) {
  document::PageContent page;
  const auto add = [&](const vision::BoxPx& b) {
    const auto pt = [&](int px) { return static_cast<float>(px) / px_per_pt; };
    page.rules.push_back({{pt(b.x0), pt(b.y0), pt(b.x1), pt(b.y1)}, 0});
  };
  for (const vision::BoxPx& b : rulings.horizontal) add(b);
  for (const vision::BoxPx& b : rulings.vertical) add(b);
  return collect_edges(page, {0, {1e6F, 1e6F}}, EdgeSource::rules);
}

// Where the lines of one block of the engine break into groups: at its paragraphs, at list markers, at changes of size.
std::vector<Group> group_ocr_lines(std::vector<OcrLine> lines, const PageStyle& style) {
  std::vector<Group> groups;
  int block = -1;
  int paragraph = -1;
  for (OcrLine& l : lines) {
    std::optional<ListMarker> marker = list_marker(l.line);
    bool fresh = groups.empty() || block != l.block || marker.has_value();
    if (!fresh) {
      const Line& prev = groups.back().lines.back();
      const float ratio = std::max(prev.size, l.line.size) / std::max(std::min(prev.size, l.line.size), 0.1F);
      const float pitch = l.line.baseline - prev.baseline;
      fresh = ratio > 1.4F || pitch > 2.2F * style.pitch * style.body_size || pitch < 0;
      if (!fresh && paragraph != l.paragraph) {
        // The engine starts paragraphs too often; a sentence that runs on is one.
        const std::u32string end = text_of(prev);
        const std::u32string start = text_of(l.line);
        const bool runs_on = !end.empty() && !start.empty() && !is_sentence_end(end.back()) && is_lower(start.front());
        fresh = !runs_on;
      }
    }
    if (fresh) groups.push_back({{}, std::move(marker), false});
    groups.back().lines.push_back(std::move(l.line));
    block = l.block;
    paragraph = l.paragraph;
  }
  return groups;
}

}  // namespace

std::vector<Block> layout_ocr(const OcrLayoutInput& input) {
  const float scale = input.px_per_pt > 0 ? input.px_per_pt : 1;
  const Edges edges = edges_of(input.rulings, scale);
  std::vector<Word> words = ocr_words(input.words, scale, !edges.horizontal.empty() || !edges.vertical.empty());

  const std::vector<Word> all = words;
  std::vector<FoundTable> tables = take_ruled_tables(words, find_grids(edges), input.page_size);
  std::vector<OcrLine> lines = ocr_lines(words, input.words);
  const PageStyle style = ocr_style(lines, input.page_size);
  Vocabulary vocabulary;
  std::vector<Line> plain;
  for (const OcrLine& l : lines) plain.push_back(l.line);
  vocabulary.add(plain);
  const std::vector<document::Link> no_links;
  const BlockContext context{style, vocabulary, no_links};

  // A table takes the place of its first word in the engine's order.
  std::map<std::int32_t, Block> table_at;
  for (FoundTable& t : tables) {
    std::int32_t first = static_cast<std::int32_t>(all.size());
    for (const CellLines& c : t.cells) {
      for (const Line& l : c.lines) {
        for (const Word& w : l.words) first = std::min(first, w.order);
      }
    }
    table_at.emplace(first, table_block(std::move(t.cells), t.box, context));
  }

  std::vector<Block> blocks;
  const auto tables_before = [&](std::int32_t order) {
    while (!table_at.empty() && table_at.begin()->first < order) {
      blocks.push_back(std::move(table_at.begin()->second));
      table_at.erase(table_at.begin());
    }
  };
  std::vector<Group> run;
  const auto flush = [&] {
    for (Block& b : make_blocks(run, context)) blocks.push_back(std::move(b));
    run.clear();
  };
  for (Group& group : group_ocr_lines(std::move(lines), style)) {
    const std::int32_t order = group.lines.front().words.front().order;
    if (!table_at.empty() && table_at.begin()->first < order) {
      flush();
      tables_before(order);
    }
    run.push_back(std::move(group));
  }
  flush();
  tables_before(static_cast<std::int32_t>(all.size()) + 1);
  return blocks;
}

}  // namespace lectern::reading
