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
  page.size = {1e6F, 1e6F};  // rulings were found on the page; none is cut off
  return collect_edges(page, EdgeSource::rules);
}

// The engine's blocks keep columns apart; inside one, lines are grouped as on any page. Its paragraphs are not used: it
// starts a new one after every line that is full.
std::vector<Group> group_ocr_lines(std::vector<OcrLine> lines, const PageStyle& style) {
  std::vector<Group> groups;
  for (std::size_t from = 0; from < lines.size();) {
    std::vector<Line> column;
    std::size_t to = from;
    for (; to < lines.size() && lines[to].block == lines[from].block; ++to) column.push_back(std::move(lines[to].line));
    for (Group& g : group_lines(std::move(column), style)) groups.push_back(std::move(g));
    from = to;
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
