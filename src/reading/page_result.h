// What reading a page gives: the outward contract of the page result (docs/page-result.md), as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/geometry.h"

namespace lectern::reading {

enum class BlockKind : std::uint8_t {
  heading,
  paragraph,
  list_item,
  table,
  figure,
  caption,
  code,
  formula,
  footnote,
  page_header,  // running header: kept in the JSON, dropped from the markdown
  page_footer,  // running footer or page number: likewise
};

struct TableCell {
  int row = 0;  // from 0
  int column = 0;
  int row_span = 1;
  int column_span = 1;
  bool header = false;
  std::string text;  // markdown inline text, line breaks as '\n'
  bool operator==(const TableCell&) const = default;
};

struct Table {
  int rows = 0;
  int columns = 0;
  std::vector<TableCell> cells;  // row-major; a covered cell is absent
  bool operator==(const Table&) const = default;
};

struct Block {
  BlockKind kind = BlockKind::paragraph;
  RectPt bbox;
  std::string text;      // plain text, paragraphs joined and hyphens mended
  std::string markdown;  // inline markdown of the same (emphasis, links); empty = `text`, escaped
  int level = 0;         // heading 1..6; list item nesting from 0
  std::string marker;    // list items: "-" or "1."; footnotes: their mark
  Table table;           // kind table
  std::string file;      // kind figure: where the picture was saved, relative to the output; empty = not saved
  std::string language;  // kind code: the language of the fence, if known
  // Typographic evidence that the document-wide pass needs; journalled, not part of the outward JSON.
  float font_size_pt = 0;
  bool bold = false;
  bool continues = false;  // the text goes on in the next block of its kind (column or page break)
  bool operator==(const Block&) const = default;
};

struct Attempt {
  std::string
      reader;  // a model's name (PageResult::model where it was the one), or "builtin", "figure", "render", "blank"
  std::string outcome;  // "ok" or an error kind
  std::string reason;
  std::int64_t ms = 0;
  std::string how;  // of a model, where it was not asked as usual: "penalty", "smaller picture" or "halves"
  bool operator==(const Attempt&) const = default;
};

struct Tokens {
  std::int64_t prompt = 0;
  std::int64_t completion = 0;
  bool operator==(const Tokens&) const = default;
};

struct StageTimes {  // milliseconds
  std::int64_t render = 0;
  std::int64_t prepare = 0;
  std::int64_t queue = 0;
  std::int64_t infer = 0;
  std::int64_t total = 0;
  bool operator==(const StageTimes&) const = default;
};

struct PageResult {
  int page = 0;  // from 1
  std::string markdown;
  std::vector<Block> blocks;
  std::string content_class;
  int rotation = 0;  // clockwise turn in degrees that made the page upright
  std::string reader;
  std::string model;
  std::optional<double> confidence;  // 0..1
  std::string confidence_why;
  std::optional<double> agreement;
  std::vector<Attempt> attempts;
  std::optional<Tokens> tokens;
  StageTimes ms;
  std::string error;  // empty = the page was read
  SizePt size;        // of the upright page, points
  bool operator==(const PageResult&) const = default;
};

}  // namespace lectern::reading
