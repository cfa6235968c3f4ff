#include "reading/output/json.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include <array>
#include <cmath>
#include <limits>

#include "reading/output/escape.h"
#include "reading/output/inline_markdown.h"

namespace lectern::reading {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of docs/page-result.md

constexpr std::array<std::string_view, 11> kind_names = {"heading",  "paragraph",   "list_item",  "table",
                                                         "figure",   "caption",     "code",       "formula",
                                                         "footnote", "page_header", "page_footer"};
static_assert(static_cast<std::size_t>(BlockKind::page_footer) + 1 == kind_names.size());

std::string_view kind_name(BlockKind kind) {
  return kind_names.at(static_cast<std::size_t>(kind));
}

// Text from a document may hold broken UTF-8; a reader of our JSON must never meet it.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// JSON has no NaN or infinity, and a page must not become unreadable for one wild coordinate.
double finite(double value) {
  return std::isfinite(value) ? value : 0.0;
}

// Outward coordinates carry two decimals: a hundredth of a point is finer than any glyph is placed.
double hundredths(double value) {
  return std::round(finite(value) * 100.0) / 100.0;
}

Json outward_box(const RectPt& box) {
  return Json::array({hundredths(box.x0), hundredths(box.y0), hundredths(box.x1), hundredths(box.y1)});
}

Json exact_box(const RectPt& box) {
  return Json::array({finite(box.x0), finite(box.y0), finite(box.x1), finite(box.y1)});
}

void put_text(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

// The journal keeps the markdown of a cell; outward, `text` and `markdown` are what they are for blocks.
enum class Form { outward, journal };

Json cell_json(const TableCell& cell, Form form) {
  Json json{{"row", cell.row}, {"column", cell.column}};
  if (cell.row_span != 1) json["row_span"] = cell.row_span;
  if (cell.column_span != 1) json["column_span"] = cell.column_span;
  if (cell.header) json["header"] = true;
  if (form == Form::journal) {
    json["text"] = cell.text;
    return json;
  }
  const std::string plain = inline_plain(cell.text);
  json["text"] = plain;
  if (cell.text != escape_markdown(plain)) json["markdown"] = cell.text;
  return json;
}

Json table_json(const Table& table, Form form) {
  Json cells = Json::array();
  for (const TableCell& cell : table.cells) cells.push_back(cell_json(cell, form));
  return Json{{"rows", table.rows}, {"columns", table.columns}, {"cells", std::move(cells)}};
}

// What both forms say about a block, after its kind and box.
void put_block_fields(Json& json, const Block& block, Form form) {
  json["text"] = block.text;
  put_text(json, "markdown", block.markdown);
  if (block.kind == BlockKind::heading || block.kind == BlockKind::list_item || block.level != 0) {
    json["level"] = block.level;
  }
  put_text(json, "marker", block.marker);
  if (block.table != Table{}) json["table"] = table_json(block.table, form);
  put_text(json, "file", block.file);
  put_text(json, "language", block.language);
}

Json outward_block(const Block& block) {
  Json json{{"kind", kind_name(block.kind)}};
  // Models that do not say where things stand leave blocks without a box.
  if (block.bbox != RectPt{}) json["bbox"] = outward_box(block.bbox);
  put_block_fields(json, block, Form::outward);
  return json;
}

Json journal_block(const Block& block) {
  Json json{{"kind", kind_name(block.kind)}, {"bbox", exact_box(block.bbox)}};
  put_block_fields(json, block, Form::journal);
  if (block.font_size_pt != 0) json["font_size_pt"] = finite(block.font_size_pt);
  if (block.bold) json["bold"] = true;
  if (block.continues) json["continues"] = true;
  return json;
}

Json attempts_json(const std::vector<Attempt>& attempts) {
  Json json = Json::array();
  for (const Attempt& attempt : attempts) {
    Json one{{"reader", attempt.reader}, {"outcome", attempt.outcome}};
    put_text(one, "how", attempt.how);
    put_text(one, "reason", attempt.reason);
    one["ms"] = attempt.ms;
    json.push_back(std::move(one));
  }
  return json;
}

// Everything after `blocks`, the same in both forms.
void put_page_fields(Json& json, const PageResult& page) {
  put_text(json, "content_class", page.content_class);
  json["rotation"] = page.rotation;
  put_text(json, "reader", page.reader);
  put_text(json, "model", page.model);
  if (page.confidence) json["confidence"] = finite(*page.confidence);
  put_text(json, "confidence_why", page.confidence_why);
  if (page.agreement) json["agreement"] = finite(*page.agreement);
  if (!page.attempts.empty()) json["attempts"] = attempts_json(page.attempts);
  if (page.tokens) json["tokens"] = {{"prompt", page.tokens->prompt}, {"completion", page.tokens->completion}};
  json["ms"] = {{"render", page.ms.render},
                {"prepare", page.ms.prepare},
                {"queue", page.ms.queue},
                {"infer", page.ms.infer},
                {"total", page.ms.total}};
  put_text(json, "error", page.error);
}

// Reading back: a field that is absent keeps its default; one that is there must have the right type.
using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

struct WrongField {
  const char* key;
};

template <class T>
T number(Element element, const char* key) {
  if constexpr (std::is_same_v<T, bool>) {
    bool value = false;
    if (element.get_bool().get(value) != simdjson::SUCCESS) throw WrongField{key};
    return value;
  } else if constexpr (std::is_floating_point_v<T>) {
    double value = 0;
    const bool is_number = element.get_double().get(value) == simdjson::SUCCESS;
    if (!is_number || std::abs(value) > std::numeric_limits<T>::max()) throw WrongField{key};
    return static_cast<T>(value);
  } else {
    std::int64_t value = 0;
    if (element.get_int64().get(value) != simdjson::SUCCESS || !std::in_range<T>(value)) throw WrongField{key};
    return static_cast<T>(value);
  }
}

void take(Object object, const char* key, std::string& to) {
  Element element;
  if (object[key].get(element) != simdjson::SUCCESS) return;
  std::string_view text;
  if (element.get_string().get(text) != simdjson::SUCCESS) throw WrongField{key};
  to.assign(text);
}

template <class T>
  requires std::is_arithmetic_v<T>
void take(Object object, const char* key, T& to) {
  Element element;
  if (object[key].get(element) == simdjson::SUCCESS) to = number<T>(element, key);
}

template <class T>
void take(Object object, const char* key, std::optional<T>& to) {
  Element element;
  if (object[key].get(element) == simdjson::SUCCESS) to = number<T>(element, key);
}

// Calls `use(object)` for each object of the array `key`, if it is there.
template <class Use>
void for_each_object(Object object, const char* key, Use use) {
  Element element;
  if (object[key].get(element) != simdjson::SUCCESS) return;
  simdjson::dom::array array;
  if (element.get_array().get(array) != simdjson::SUCCESS) throw WrongField{key};
  for (const Element item : array) {
    Object one;
    if (item.get_object().get(one) != simdjson::SUCCESS) throw WrongField{key};
    use(one);
  }
}

template <std::size_t N>
std::array<float, N> numbers(Object object, const char* key) {
  std::array<float, N> values{};
  simdjson::dom::array array;
  if (object[key].get_array().get(array) != simdjson::SUCCESS || array.size() != N) throw WrongField{key};
  std::size_t i = 0;
  for (const Element item : array) values.at(i++) = number<float>(item, key);
  return values;
}

TableCell read_cell(Object object) {
  TableCell cell;
  take(object, "row", cell.row);
  take(object, "column", cell.column);
  take(object, "row_span", cell.row_span);
  take(object, "column_span", cell.column_span);
  take(object, "header", cell.header);
  take(object, "text", cell.text);
  return cell;
}

Block read_block(Object object) {
  Block block;
  std::string kind;
  take(object, "kind", kind);
  const auto found = std::ranges::find(kind_names, kind);
  if (found == kind_names.end()) throw WrongField{"kind"};
  block.kind = static_cast<BlockKind>(found - kind_names.begin());
  const auto box = numbers<4>(object, "bbox");
  block.bbox = {box[0], box[1], box[2], box[3]};
  take(object, "text", block.text);
  take(object, "markdown", block.markdown);
  take(object, "level", block.level);
  take(object, "marker", block.marker);
  Object table;
  if (object["table"].get_object().get(table) == simdjson::SUCCESS) {
    take(table, "rows", block.table.rows);
    take(table, "columns", block.table.columns);
    for_each_object(table, "cells", [&](Object cell) { block.table.cells.push_back(read_cell(cell)); });
  }
  take(object, "file", block.file);
  take(object, "language", block.language);
  take(object, "font_size_pt", block.font_size_pt);
  take(object, "bold", block.bold);
  take(object, "continues", block.continues);
  return block;
}

PageResult read_page(Object object) {
  PageResult page;
  take(object, "page", page.page);
  if (page.page < 1) throw WrongField{"page"};
  const auto size = numbers<2>(object, "size");
  page.size = {size[0], size[1]};
  take(object, "markdown", page.markdown);
  for_each_object(object, "blocks", [&](Object block) { page.blocks.push_back(read_block(block)); });
  take(object, "content_class", page.content_class);
  take(object, "rotation", page.rotation);
  take(object, "reader", page.reader);
  take(object, "model", page.model);
  take(object, "confidence", page.confidence);
  take(object, "confidence_why", page.confidence_why);
  take(object, "agreement", page.agreement);
  for_each_object(object, "attempts", [&](Object one) {
    Attempt& attempt = page.attempts.emplace_back();
    take(one, "reader", attempt.reader);
    take(one, "outcome", attempt.outcome);
    take(one, "how", attempt.how);
    take(one, "reason", attempt.reason);
    take(one, "ms", attempt.ms);
  });
  Object tokens;
  if (object["tokens"].get_object().get(tokens) == simdjson::SUCCESS) {
    page.tokens.emplace();
    take(tokens, "prompt", page.tokens->prompt);
    take(tokens, "completion", page.tokens->completion);
  }
  Object ms;
  if (object["ms"].get_object().get(ms) == simdjson::SUCCESS) {
    take(ms, "render", page.ms.render);
    take(ms, "prepare", page.ms.prepare);
    take(ms, "queue", page.ms.queue);
    take(ms, "infer", page.ms.infer);
    take(ms, "total", page.ms.total);
  }
  take(object, "error", page.error);
  return page;
}

}  // namespace

std::string to_json(const PageResult& page) {
  Json json{{"page", page.page}};
  if (page.size != SizePt{}) {
    json["size"] = {{"width", hundredths(page.size.width)}, {"height", hundredths(page.size.height)}};
  }
  json["markdown"] = page.markdown;
  Json blocks = Json::array();
  for (const Block& block : page.blocks) blocks.push_back(outward_block(block));
  json["blocks"] = std::move(blocks);
  put_page_fields(json, page);
  return dump(json);
}

std::string to_journal_json(const PageResult& page) {
  Json json{{"page", page.page}, {"size", Json::array({finite(page.size.width), finite(page.size.height)})}};
  put_text(json, "markdown", page.markdown);
  Json blocks = Json::array();
  for (const Block& block : page.blocks) blocks.push_back(journal_block(block));
  json["blocks"] = std::move(blocks);
  put_page_fields(json, page);
  return dump(json);
}

Result<PageResult> from_journal_json(std::string_view json) {
  thread_local simdjson::dom::parser parser;
  Object object;
  if (const auto error = parser.parse(json.data(), json.size()).get_object().get(object); error != simdjson::SUCCESS) {
    return fail(ErrorKind::corrupt, "a journalled page is not a JSON object: {}", simdjson::error_message(error));
  }
  try {
    return read_page(object);
  } catch (const WrongField& wrong) {  // thrown above only; keeps the field list readable
    return fail(ErrorKind::corrupt, "a journalled page has a wrong field '{}'", wrong.key);
  }
}

}  // namespace lectern::reading
