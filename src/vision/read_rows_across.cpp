#include <algorithm>
#include <map>

#include "vision/mend_page.h"

namespace lectern::vision {
namespace {

struct LineOnPage {
  int block = 0;
  BoxPx box;
  double baseline = 0;
  double height = 0;
  bool rtl = false;
  std::vector<OcrWord> words;
};

BoxPx around(const BoxPx& a, const BoxPx& b) {
  return {std::min(a.x0, b.x0), std::min(a.y0, b.y0), std::max(a.x1, b.x1), std::max(a.y1, b.y1)};
}

std::vector<LineOnPage> lines_of(std::vector<OcrWord>& words) {
  std::vector<LineOnPage> lines;
  int id = -1;
  for (OcrWord& word : words) {
    if (lines.empty() || word.line != id) lines.push_back({.block = word.block, .box = word.box});
    id = word.line;
    LineOnPage& line = lines.back();
    line.box = around(line.box, word.box);
    line.words.push_back(std::move(word));
  }
  for (LineOnPage& line : lines) {
    for (const OcrWord& word : line.words) {
      line.baseline += word.line_baseline_y / static_cast<double>(line.words.size());
      line.rtl = line.rtl || word.rtl;
    }
    const auto measured = static_cast<double>(line.words[0].line_height_px);
    line.height = measured > 0 ? measured : line.box.y1 - line.box.y0;
  }
  return lines;
}

// Lines that stand level become rows, from top to bottom, each in the direction of its script.
std::vector<std::vector<LineOnPage*>> rows_of(std::vector<LineOnPage*> lines) {
  std::ranges::sort(lines, [](const LineOnPage* a, const LineOnPage* b) {
    return std::pair(a->baseline, a->box.x0) < std::pair(b->baseline, b->box.x0);
  });
  std::vector<std::vector<LineOnPage*>> rows;
  for (LineOnPage* line : lines) {
    if (rows.empty() ||
        line->baseline - rows.back()[0]->baseline > 0.4 * std::max(line->height, rows.back()[0]->height)) {
      rows.emplace_back();
    }
    rows.back().push_back(line);
  }
  for (auto& row : rows) {
    const auto rtl = std::ranges::count_if(row, [](const LineOnPage* line) { return line->rtl; });
    const bool from_right = 2 * static_cast<std::size_t>(rtl) > row.size();
    std::ranges::sort(row, [&](const LineOnPage* a, const LineOnPage* b) {
      return from_right ? a->box.x1 > b->box.x1 : a->box.x0 < b->box.x0;
    });
  }
  return rows;
}

enum class RowKind {
  table,   // three entries or more, at most one of them long
  labels,  // a word or two and a text: a numbered list, a glossary, or notes in the margin
  prose,   // lines of two columns of text, side by side by chance
  other,
};

// Numbers and lone letters do not make prose.
bool has_letters(const OcrWord& word) {
  return std::ranges::count_if(word.text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
         }) >= 2;
}

constexpr std::size_t label_words_max = 2;

// A word or two and, hardly further than a word and its spaces away, what it stands for. Columns of a page, and names
// side by side in a letter, lie further apart.
bool is_label_beside_text(const LineOnPage& first, const LineOnPage& second) {
  constexpr double gap_max = 3;  // line heights
  const int gap = first.rtl ? first.box.x0 - second.box.x1 : second.box.x0 - first.box.x1;
  return first.words.size() <= label_words_max && gap >= 0 && gap <= gap_max * std::max(first.height, second.height);
}

RowKind kind_of(const std::vector<LineOnPage*>& row) {
  constexpr std::ptrdiff_t long_words_min = 4;
  const auto long_ones = std::ranges::count_if(
      row, [](const LineOnPage* line) { return std::ranges::count_if(line->words, has_letters) >= long_words_min; });
  const bool label =
      std::ranges::any_of(row, [](const LineOnPage* line) { return line->words.size() <= label_words_max; });
  // Text is set in two columns, perhaps three; of four entries or more, one that is short makes a row of a table.
  if (long_ones >= 2 && (row.size() <= 3 || long_ones == std::ssize(row))) return RowKind::prose;
  if (row.size() >= 3) return RowKind::table;
  if (row.size() != 2) return RowKind::other;
  return (long_ones == 1 && label) || is_label_beside_text(*row[0], *row[1]) ? RowKind::labels : RowKind::other;
}

// A stretch of rows [first, last) that is a table.
struct Band {
  std::size_t first = 0;
  std::size_t last = 0;
};

// Stretches without rows of prose in which rows of a table are many. Rows that were found as one line, and the second
// lines of wrapped entries, lie between them; titles and lone lines around them come along, so that they stay around.
std::vector<Band> find_bands(const std::vector<std::vector<LineOnPage*>>& rows) {
  constexpr std::size_t table_rows_min = 3;
  constexpr std::size_t label_rows_min = 5;  // they are weaker evidence
  std::vector<Band> bands;
  for (std::size_t start = 0; start < rows.size(); ++start) {
    std::size_t end = start;
    std::size_t table_rows = 0;
    std::size_t label_rows = 0;
    Band band{rows.size(), 0};
    for (; end < rows.size() && kind_of(rows[end]) != RowKind::prose; ++end) {
      if (kind_of(rows[end]) == RowKind::other) continue;
      band = {std::min(band.first, end), end + 1};
      ++(kind_of(rows[end]) == RowKind::table ? table_rows : label_rows);
    }
    const bool enough = table_rows >= table_rows_min || table_rows + label_rows >= label_rows_min;
    if (enough && 3 * (table_rows + label_rows) >= band.last - band.first) {
      while (band.first > start && rows[band.first - 1].size() == 1) --band.first;
      while (band.last < end && rows[band.last].size() == 1) ++band.last;
      bands.push_back(band);
    }
    start = end;
  }
  return bands;
}

}  // namespace

void read_rows_across(OcrPage& page) {
  std::vector<LineOnPage> lines = lines_of(page.words);
  std::vector<LineOnPage*> all;
  for (LineOnPage& line : lines) all.push_back(&line);
  const auto rows = rows_of(std::move(all));

  std::vector<OcrWord> ordered;
  int block = -1;
  int paragraph = -1;
  int line_id = -1;
  const auto take = [&](LineOnPage& line) {
    for (OcrWord& word : line.words) {
      word.block = block;
      word.paragraph = paragraph;
      word.line = line_id;
      ordered.push_back(std::move(word));
    }
    line.words.clear();
  };
  std::map<const LineOnPage*, Band> band_of;
  for (const Band& band : find_bands(rows)) {
    for (std::size_t i = band.first; i < band.last; ++i) {
      for (const LineOnPage* line : rows[i]) band_of[line] = band;
    }
  }
  // Everything keeps its place; a table takes that of its first line, wherever the others were.
  int block_before = -1;
  int paragraph_before = -1;
  for (LineOnPage& line : lines) {
    if (line.words.empty()) continue;  // taken with its table
    if (const auto found = band_of.find(&line); found != band_of.end()) {
      ++block;
      for (std::size_t i = found->second.first; i < found->second.last; ++i) {
        ++paragraph;
        ++line_id;
        for (LineOnPage* entry : rows[i]) take(*entry);
      }
      block_before = -1;
      paragraph_before = -1;
      continue;
    }
    if (line.block != block_before) ++block;
    if (line.words[0].paragraph != paragraph_before) ++paragraph;
    block_before = line.block;
    paragraph_before = line.words[0].paragraph;
    ++line_id;
    take(line);
  }
  page.words = std::move(ordered);
}

}  // namespace lectern::vision
