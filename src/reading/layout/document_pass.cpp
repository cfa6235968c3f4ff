#include "reading/layout/document_pass.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "reading/layout/heading_levels.h"
#include "reading/layout/running_lines.h"
#include "reading/layout/unicode.h"

namespace lectern::reading {
namespace {

using namespace layout;

bool flows(BlockKind kind) {
  return kind == BlockKind::paragraph || kind == BlockKind::list_item;
}

bool starts_within_sentence(const Block& b) {
  const std::u32string text = from_utf8(std::string_view(b.text).substr(0, 8));
  return b.kind == BlockKind::paragraph && !text.empty() && is_lower(text.front());
}

bool breaks_off(const Block& b) {
  const std::u32string text = from_utf8(std::string_view(b.text).substr(b.text.size() > 16 ? b.text.size() - 16 : 0));
  if (b.kind != BlockKind::paragraph || text.empty()) return false;
  std::size_t at = text.size();
  while (at > 1 && is_closing(text[at - 1])) --at;
  return !is_sentence_end(text[at - 1]);
}

}  // namespace

struct DocumentPass::State {
  HeadingStatistics headings;
  std::vector<std::vector<MarginLine>> margins;  // by order of observation
  std::vector<bool> starts_within;               // the page begins in the middle of a sentence
  std::map<int, std::size_t> index;              // page number → order of observation
  // Worked out at the first finish().
  mutable std::optional<std::vector<std::vector<bool>>> running;

  const std::vector<std::vector<bool>>& run() const {
    if (!running) running = find_running(margins, headings.body_size());
    return *running;
  }
};

DocumentPass::DocumentPass() : state_(std::make_unique<State>()) {}
DocumentPass::~DocumentPass() = default;

void DocumentPass::outline(const std::vector<document::OutlineEntry>& entries) {
  state_->headings.outline(entries);
}

void DocumentPass::observe(const PageResult& page) {
  State& s = *state_;
  s.running.reset();
  s.index[page.page] = s.margins.size();
  s.margins.push_back(margin_lines(page));
  s.headings.observe(page);
  // Lines in the margins do not count as the beginning or end of the text.
  const auto in_margin = [&](std::size_t i) {
    return std::ranges::any_of(s.margins.back(), [&](const MarginLine& m) { return m.block == static_cast<int>(i); });
  };
  bool within = false;
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    if (!flows(page.blocks[i].kind) || (in_margin(i) && !starts_within_sentence(page.blocks[i]))) continue;
    within = starts_within_sentence(page.blocks[i]);
    break;
  }
  s.starts_within.push_back(within);
}

void DocumentPass::finish(PageResult& page) const {
  const State& s = *state_;
  const auto found = s.index.find(page.page);
  if (found == s.index.end()) return;
  const std::size_t at = found->second;
  const std::vector<bool>& running = s.run()[at];
  for (std::size_t i = 0; i < running.size(); ++i) {
    const MarginLine& line = s.margins[at][i];
    if (!running[i] || static_cast<std::size_t>(line.block) >= page.blocks.size()) continue;
    Block& block = page.blocks[static_cast<std::size_t>(line.block)];
    block.kind = line.top ? BlockKind::page_header : BlockKind::page_footer;
    block.level = 0;
    block.continues = false;
  }
  s.headings.finish(page);
  // The last paragraph goes on when it breaks off and the next page begins in the middle of a sentence.
  if (at + 1 >= s.starts_within.size() || !s.starts_within[at + 1]) return;
  for (auto b = page.blocks.rbegin(); b != page.blocks.rend(); ++b) {
    if (b->kind == BlockKind::heading || b->kind == BlockKind::list_item) return;
    if (b->kind != BlockKind::paragraph) continue;
    b->continues = breaks_off(*b);
    return;
  }
}

}  // namespace lectern::reading
