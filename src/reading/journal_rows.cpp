#include "reading/journal_rows.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "reading/document_type.h"
#include "reading/output_format.h"

namespace lectern::reading {
namespace {

using Json = nlohmann::ordered_json;
using Object = simdjson::dom::object;

// Raised when the meaning of rows changes: journals of another version are read anew.
constexpr std::int64_t version = 1;

// A page row is put together from two JSON texts and taken apart again by these marks. Quotes inside JSON strings are
// escaped, so neither can occur earlier than where it is looked for.
constexpr std::string_view record_mark = R"({"record":)";
constexpr std::string_view result_mark = R"(,"result":)";

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text(Object object, const char* key) {
  std::string_view value;
  if (object[key].get_string().get(value) != simdjson::SUCCESS) return {};
  return std::string(value);
}

std::int64_t number(Object object, const char* key) {
  std::int64_t value = 0;
  if (object[key].get_int64().get(value) != simdjson::SUCCESS) return -1;
  return value;
}

Result<JournalHeader> parse_header(Object object) {
  JournalHeader header;
  header.document = text(object, "document");
  header.identity = {text(object, "sha256"), text(object, "fingerprint")};
  const auto kind = type_from_name(text(object, "type"));
  const std::int64_t pages = number(object, "pages");
  if (number(object, "journal") != version || !kind || !std::in_range<int>(pages) || pages < 0) {
    return fail(ErrorKind::corrupt, "not the first row of a journal of version {}", version);
  }
  header.info.kind = *kind;
  header.info.pages = static_cast<int>(pages);
  header.info.title = text(object, "title");
  simdjson::dom::array outline;
  if (object["outline"].get_array().get(outline) != simdjson::SUCCESS) return header;
  for (const auto item : outline) {
    Object entry;
    if (item.get_object().get(entry) != simdjson::SUCCESS) return fail(ErrorKind::corrupt, "wrong outline");
    header.info.outline.push_back({.level = static_cast<int>(number(entry, "level")),
                                   .title = text(entry, "title"),
                                   .page_number = static_cast<int>(number(entry, "page"))});
  }
  return header;
}

Result<Assembled> parse_assembled(Object object) {
  const auto format = format_from_name(text(object, "format"));
  if (!format) return fail(ErrorKind::corrupt, "an output row without a format");
  return Assembled{*format, text(object, "output"), text(object, "pages")};
}

}  // namespace

std::string header_row(const JournalHeader& header) {
  Json json{{"journal", version},
            {"document", header.document},
            {"sha256", header.identity.sha256},
            {"fingerprint", header.identity.fingerprint},
            {"type", type_name(header.info.kind)},
            {"pages", header.info.pages}};
  if (!header.info.title.empty()) json["title"] = header.info.title;
  for (const document::OutlineEntry& entry : header.info.outline) {
    json["outline"].push_back({{"level", entry.level}, {"title", entry.title}, {"page", entry.page_number}});
  }
  return dump(json);
}

std::string page_row(const PageRecord& record, std::string_view result_json) {
  return fmt::format("{}{}{}{}}}", record_mark, to_json(record, {}), result_mark, result_json);
}

std::string assembled_row(const Assembled& assembled) {
  return dump({{"output", assembled.output}, {"format", format_name(assembled.format)}, {"pages", assembled.pages}});
}

Result<Row> parse_row(std::string_view payload) {
  if (payload.starts_with(record_mark)) {
    const std::string_view rest = payload.substr(record_mark.size());
    auto named = record_from_json(rest.substr(0, rest.find(result_mark)));
    if (!named) return std::unexpected(named.error());
    if (named->record.page < 1) return fail(ErrorKind::corrupt, "a page row without a page number");
    return std::move(named->record);
  }
  thread_local simdjson::dom::parser parser;
  Object object;
  if (parser.parse(payload.data(), payload.size()).get_object().get(object) != simdjson::SUCCESS) {
    return fail(ErrorKind::corrupt, "a journal row is not a JSON object");
  }
  if (object["journal"].error() == simdjson::SUCCESS) return parse_header(object);
  return parse_assembled(object);
}

std::string_view result_in_row(std::string_view payload) {
  const auto mark = payload.find(result_mark);
  if (mark == std::string_view::npos) return {};
  std::string_view rest = payload.substr(mark + result_mark.size());
  rest.remove_suffix(1);  // the row's closing brace
  return rest;
}

}  // namespace lectern::reading
